// Subwords of words, as fastText cuts and numbers them (Bojanowski, Grave, Joulin and Mikolov 2017).
//
// Problem: for each word, the buckets of the n-grams of low to high characters of <word>, in the order of their first
// character, then of their length. An n-gram's bucket is its FNV-1a hash of 32 bits modulo the number of buckets; bytes
// from 128 on count as negative, as in fastText. Single characters at either end, "<" and ">", do not count.
// Given: words in UTF-8, low, high, buckets.  Returned: offsets (n+1) and buckets.
#include <nanobind/stl/tuple.h>

#include <stdexcept>

#include "arrays.hpp"
#include "texts.hpp"

namespace linnaeus {
namespace {

using Cut = std::tuple<int, int, int64_t>;  // low, high, buckets

bool begins(uint8_t byte) { return (byte & 0xC0) != 0x80; }

// Adds the buckets of one word, which stands between < and >.
void cut_word(const std::vector<uint8_t>& word, size_t low, size_t high, uint32_t buckets, std::vector<int32_t>& out) {
  for (size_t i = 0; i < word.size(); ++i) {
    if (!begins(word[i])) continue;
    uint32_t hash = 2166136261u;
    for (size_t j = i, n = 1; j < word.size() && n <= high; ++n) {
      do {
        hash = (hash ^ uint32_t(int32_t(int8_t(word[j++])))) * 16777619u;
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

}  // namespace

void bind_subwords(nb::module_& m) {
  using namespace nb::literals;
  m.def("subword_buckets", &subword_buckets, "data"_a, "offsets"_a, "cut"_a);
}

}  // namespace linnaeus
