// What is in these texts? Their characters, their words, and how many different ones.
#include <algorithm>

#include "parallel.hpp"
#include "texts.hpp"
#include "unicode.hpp"

#include <nanobind/stl/tuple.h>

namespace linnaeus {
namespace {

constexpr uint32_t kCodes = 0x110000;  // also the place where bytes are counted that are no UTF-8
constexpr size_t kRowsPerPiece = 256;

// Hashes of words, each kept once: open addressing, at most half full. Zero is kept apart because it marks a free
// place.
struct Set {
  std::vector<uint64_t> places = std::vector<uint64_t>(1024);
  size_t size = 0;
  bool zero = false;

  void add(uint64_t h) {
    if (h == 0) {
      zero = true;
      return;
    }
    size_t mask = places.size() - 1;
    for (size_t i = h & mask;; i = (i + 1) & mask) {
      if (places[i] == h) return;
      if (places[i] == 0) {
        places[i] = h;
        if (2 * ++size > places.size()) grow();
        return;
      }
    }
  }
  void grow() {
    std::vector<uint64_t> old(2 * places.size());
    old.swap(places);
    size = 0;
    for (uint64_t h : old)
      if (h) add(h);
  }
};

// FNV-1a (Fowler, Noll, Vo) with the finalizer of MurmurHash3, byte by byte because case may change the length.
struct WordHash {
  uint64_t hash = 0xCBF29CE484222325;
  bool open = false;

  void push(uint8_t b) {
    hash = (hash ^ b) * 0x100000001B3;
    open = true;
  }
  uint64_t take() {
    uint64_t x = hash;
    hash = 0xCBF29CE484222325;
    open = false;
    x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCD;
    x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53;
    return x ^ (x >> 33);
  }
};

struct alignas(128) Counter {
  std::vector<uint64_t> characters = std::vector<uint64_t>(kCodes + 1);
  Set vocabulary;
  WordHash word;
  int64_t words = 0;

  void close() {
    if (!word.open) return;
    vocabulary.add(word.take());
    ++words;
  }
  void push_lower(uint32_t code, const uint8_t* p, size_t size) {
    if (uint16_t change = lower_stage2[lower_stage1[code >> 7] * 128 + (code & 127)]) {
      p = lower_text[change].bytes;
      size = lower_text[change].size;
    }
    for (size_t i = 0; i < size; ++i) word.push(p[i]);
  }
  int64_t count(const uint8_t* p, const uint8_t* end) {
    words = 0;
    for (Decoded next; p < end; p += next.size) {
      next = decode(p, size_t(end - p));
      auto [code, size] = next;
      bool damaged = code == REPLACEMENT && (size != 3 || p[0] != 0xEF);
      characters[damaged ? kCodes : code] += damaged ? size : 1;
      uint8_t bits = classify(code);
      if (!(bits & (WORD | MARK)) || (bits & UNSPACED)) close();
      if (!(bits & (WORD | MARK))) continue;
      push_lower(code, p, size);
      if (bits & UNSPACED) close();
    }
    close();
    return words;
  }
};

// Problem: which characters, how many words and how many different words do these texts have?
// Given: n texts.  Returned: how often each code point occurs (0x110000 counts, then the bytes that are no UTF-8); the
// words of each text (n); the hashes of the different words, ascending. A word is a run of letters, numbers,
// underscores and marks in lower case; in scripts written without spaces each character is one.
auto census(In<uint8_t> data, In<int64_t> offsets, int threads) {
  Texts texts(data, offsets);
  size_t n = texts.size;
  size_t pieces = (n + kRowsPerPiece - 1) / kRowsPerPiece;
  Buffer<int64_t> words(n);
  Buffer<uint64_t> characters(kCodes + 1);
  std::vector<uint64_t> vocabulary;
  {
    nb::gil_scoped_release release;
    // Sums of integers and unions of sets do not depend on who counted what: one counter for each thread is enough.
    std::vector<Counter> counters(std::max<size_t>(1, std::min<size_t>(pieces, size_t(std::max(1, threads)))));
    for_each_piece(pieces, threads, [&](size_t piece, int worker) {
      size_t stop = std::min(n, (piece + 1) * kRowsPerPiece);
      for (size_t i = piece * kRowsPerPiece; i < stop; ++i)
        words[i] = counters[worker].count(texts.begin(i), texts.end(i));
    });
    std::fill(characters.get(), characters.get() + kCodes + 1, 0);
    for (Counter& c : counters) {
      for (size_t i = 0; i <= kCodes; ++i) characters[i] += c.characters[i];
      for (uint64_t h : c.vocabulary.places)
        if (h) vocabulary.push_back(h);
      if (c.vocabulary.zero) vocabulary.push_back(0);
    }
    std::sort(vocabulary.begin(), vocabulary.end());
    vocabulary.erase(std::unique(vocabulary.begin(), vocabulary.end()), vocabulary.end());
  }
  return std::make_tuple(to_numpy(std::move(characters)), to_numpy(std::move(words)), to_numpy(vocabulary));
}

}  // namespace

void bind_census(nb::module_& m) { m.def("census", &census, nb::arg("data"), nb::arg("offsets"), nb::arg("threads")); }

}  // namespace linnaeus
