// Subwords of words, as fastText cuts and numbers them (Bojanowski, Grave, Joulin and Mikolov 2017).
//
// Problem: for each word, the buckets of the n-grams of low to high characters of <word>, in the order of their first
// character, then of their length. An n-gram's bucket is its FNV-1a hash of 32 bits modulo the number of buckets; bytes
// from 128 on count as negative, as in fastText. Single characters at either end, "<" and ">", do not count.
// Given: words in UTF-8, low, high, buckets.  Returned: offsets (n+1) and buckets.
//
// Problem: the same hash of whole words, which fastText joins to hashes of n-grams of words.
// Given: words.  Returned: hashes (n).
#include <nanobind/stl/tuple.h>

#include <stdexcept>

#include "arrays.hpp"
#include "texts.hpp"

namespace linnaeus {
namespace {

using Cut = std::tuple<int, int, int64_t>;  // low, high, buckets

bool begins(uint8_t byte) { return (byte & 0xC0) != 0x80; }

uint32_t step(uint32_t hash, uint8_t byte) { return (hash ^ uint32_t(int32_t(int8_t(byte)))) * 16777619u; }

// Adds the buckets of one word, which stands between < and >.
void cut_word(const std::vector<uint8_t>& word, size_t low, size_t high, uint32_t buckets, std::vector<int32_t>& out) {
  for (size_t i = 0; i < word.size(); ++i) {
    if (!begins(word[i])) continue;
    uint32_t hash = 2166136261u;
    for (size_t j = i, n = 1; j < word.size() && n <= high; ++n) {
      do {
        hash = step(hash, word[j++]);
      } while (j < word.size() && !begins(word[j]));
      if (n >= low && !(n == 1 && (i == 0 || j == word.size()))) out.push_back(int32_t(hash % buckets));
    }
  }
}

nb::tuple subword_buckets(In<uint8_t> data, In<int64_t> offsets, Cut cut) {
  auto [low, high, buckets] = cut;
  if (low < 1 || high < low || high > 64)
    throw std::invalid_argument("n-grams do not run from at least 1 to at most 64");
  if (buckets < 1 || buckets > INT32_MAX) throw std::invalid_argument("there are between 1 and 2^31 - 1 buckets");
  Texts texts(data, offsets);
  std::vector<int64_t> ends{0};
  std::vector<int32_t> found;
  {
    nb::gil_scoped_release release;
    std::vector<uint8_t> word;
    for (size_t i = 0; i < texts.size; ++i) {
      word.assign(1, '<');
      word.insert(word.end(), texts.begin(i), texts.end(i));
      word.push_back('>');
      cut_word(word, size_t(low), size_t(high), uint32_t(buckets), found);
      ends.push_back(int64_t(found.size()));
    }
  }
  return nb::make_tuple(to_numpy(ends), to_numpy(found));
}

auto word_hashes(In<uint8_t> data, In<int64_t> offsets) {
  Texts texts(data, offsets);
  Buffer<uint32_t> found(texts.size);
  {
    nb::gil_scoped_release release;
    for (size_t i = 0; i < texts.size; ++i) {
      uint32_t hash = 2166136261u;
      for (const uint8_t* at = texts.begin(i); at != texts.end(i); ++at) hash = step(hash, *at);
      found[i] = hash;
    }
  }
  return to_numpy(std::move(found));
}

}  // namespace

void bind_subwords(nb::module_& m) {
  using namespace nb::literals;
  m.def("subword_buckets", &subword_buckets, "data"_a, "offsets"_a, "cut"_a);
  m.def("word_hashes", &word_hashes, "data"_a, "offsets"_a);
}

}  // namespace linnaeus
