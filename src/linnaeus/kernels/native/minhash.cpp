// Which texts are the same, and which are nearly the same? Fingerprints answer the first question, MinHash signatures
// the second. All arithmetic is on unsigned 64-bit integers, so that the twin in reference/digests.py has the same
// bits.
#include <algorithm>

#include "parallel.hpp"
#include "texts.hpp"

namespace linnaeus {
namespace {

constexpr uint64_t kSeed = 0x6C696E6E61657573;  // "linnaeus"
constexpr uint64_t kStep = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio: one round of the sketch to the next
constexpr uint64_t kBase = 0xD6E8FEB86659FD93;  // of the rolling hash
constexpr uint64_t kWord = 0xA0761D6478BD642F;  // of the fingerprint
constexpr size_t kRowsPerPiece = 256;

// The finalizer of MurmurHash3 (Appleby): a bijection in which every bit depends on every bit.
inline uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xFF51AFD7ED558CCD;
  x ^= x >> 33;
  x *= 0xC4CEB9FE1A85EC53;
  return x ^ (x >> 33);
}

inline bool is_space(uint8_t b) { return b == ' ' || (b >= '\t' && b <= '\r'); }
inline uint8_t lower(uint8_t b) { return b >= 'A' && b <= 'Z' ? b + 32 : b; }

// Calls emit(byte) for the text with ASCII letters in lower case, white space at the ends dropped and inside made one
// space.
template <class Emit>
inline void fold(const uint8_t* p, const uint8_t* end, Emit&& emit) {
  while (p < end && is_space(*p)) ++p;
  for (bool gap = false; p < end; ++p) {
    if (is_space(*p)) {
      gap = true;
      continue;
    }
    if (gap) emit(uint8_t(' '));
    gap = false;
    emit(lower(*p));
  }
}

// A hash of bytes that arrive one by one: eight at a time, little-endian, the last group filled with zeros, then the
// length.
struct Fingerprint {
  uint64_t hash = kSeed, group = 0, size = 0;

  void push(uint8_t b) {
    group |= uint64_t(b) << (8 * (size & 7));
    if ((++size & 7) == 0) absorb();
  }
  void absorb() {
    hash = (hash ^ group) * kWord;
    hash ^= hash >> 32;
    group = 0;
  }
  uint64_t done() {
    if (size & 7) absorb();
    return mix(hash ^ size);
  }
};

template <class OneText>
nb::ndarray<nb::numpy, uint64_t, nb::ndim<1>> hash_texts(In<uint8_t> data, In<int64_t> offsets, int threads,
                                                         OneText&& one) {
  Texts texts(data, offsets);
  size_t n = texts.size;
  Buffer<uint64_t> out(n);
  uint64_t* hashes = out.get();
  {
    nb::gil_scoped_release release;
    for_each_piece((n + kRowsPerPiece - 1) / kRowsPerPiece, threads, [&](size_t piece, int) {
      size_t stop = std::min(n, (piece + 1) * kRowsPerPiece);
      for (size_t i = piece * kRowsPerPiece; i < stop; ++i) hashes[i] = one(texts.begin(i), texts.end(i));
    });
  }
  return to_numpy(std::move(out));
}

// Problem: find equal texts among many.
// Given: n texts.  Returned: a 64-bit hash of the exact bytes of each; equal texts have equal hashes, and among a
// million different texts two share one with probability 3e-8.
auto fingerprint(In<uint8_t> data, In<int64_t> offsets, int threads) {
  return hash_texts(data, offsets, threads, [](const uint8_t* p, const uint8_t* end) {
    Fingerprint f;
    for (; p < end; ++p) f.push(*p);
    return f.done();
  });
}

// The same for the folded texts: those that differ in ASCII case and white space only have equal hashes.
auto fingerprint_folded(In<uint8_t> data, In<int64_t> offsets, int threads) {
  return hash_texts(data, offsets, threads, [](const uint8_t* p, const uint8_t* end) {
    Fingerprint f;
    fold(p, end, [&](uint8_t b) { f.push(b); });
    return f.done();
  });
}

// Calls emit(hash) for every shingle: k characters in a row of the folded text, or the whole text if it is shorter.
// A character is a byte that is not a UTF-8 continuation, with the continuations after it; its value is its last four
// bytes.
struct Shingles {
  size_t k;
  uint64_t power;                // kBase^k
  std::vector<uint64_t> window;  // the last k characters

  explicit Shingles(size_t size) : k(size), power(1), window(size) {
    for (size_t i = 0; i < k; ++i) power *= kBase;
  }

  template <class Emit>
  void walk(const uint8_t* p, const uint8_t* end, Emit&& emit) {
    uint64_t rolling = 0;
    size_t count = 0, slot = 0;
    uint32_t value = 0;
    bool open = false;
    auto close = [&] {
      uint64_t v = uint64_t(value) + 1;
      rolling = rolling * kBase + v - (count >= k ? window[slot] * power : 0);
      window[slot] = v;
      if (++slot == k) slot = 0;
      if (++count >= k) emit(rolling);
    };
    fold(p, end, [&](uint8_t b) {
      if ((b & 0xC0) != 0x80 && open) {
        close();
        value = 0;
      }
      value = value << 8 | b;
      open = true;
    });
    if (open) close();
    if (count > 0 && count < k) emit(rolling);
  }
};

// One sketch at a time; the scratch lives as long as the thread works, on cache lines of its own.
struct alignas(128) Sketch {
  size_t bins, empty = 0;
  Shingles shingles;
  std::vector<uint64_t> seen;  // shingles, kept only while some bin is empty; of many, each once
  std::vector<uint8_t> filled;
  size_t limit = 0;

  Sketch(size_t t, size_t k) : bins(t), shingles(k), filled(t) {}

  void put(uint32_t* row, size_t bin, uint32_t value, uint8_t round) {
    if (!filled[bin]) {
      filled[bin] = round;
      row[bin] = value;
      --empty;
    } else if (filled[bin] == round) {
      row[bin] = std::min(row[bin], value);
    }
  }

  void keep(uint64_t shingle) {
    if (empty == 0) return;
    seen.push_back(shingle);
    if (seen.size() < limit) return;
    dedupe();
    limit = std::max<size_t>(1024, 2 * seen.size());
  }
  void dedupe() {
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  }

  size_t bin_of(uint64_t x) const { return size_t(((x >> 32) * bins) >> 32); }

  void fill(const uint8_t* p, const uint8_t* end, uint32_t* row) {
    std::fill(row, row + bins, UINT32_MAX);
    std::fill(filled.begin(), filled.end(), 0);
    seen.clear();
    empty = bins;
    limit = 1024;
    shingles.walk(p, end, [&](uint64_t s) {
      uint64_t x = mix(s);
      put(row, bin_of(x), uint32_t(x), 1);
      keep(s);
    });
    if (seen.empty()) return;
    // Marks 1 and 2 in turn are enough: a bin of an earlier round is made final before the next round begins.
    for (uint64_t round = 1; empty > 0; ++round) {
      for (uint8_t& mark : filled) mark = mark ? 1 : 0;
      for (uint64_t s : seen) {
        uint64_t x = mix(s + round * kStep);
        put(row, round < bins ? bin_of(x) : size_t(round - bins), uint32_t(x), 2);
      }
    }
  }
};

// Problem: find pairs of texts whose sets of shingles A, B have a high Jaccard similarity J = |A & B| / |A | B|.
// Given: n texts, the number t of hashes and the length k of the shingles in characters.
// Returned: n*t numbers; the expected share of equal numbers in two rows is J. A text without characters has UINT32_MAX
// only. Algorithm: Dahlgaard, Knudsen, Thorup: Fast Similarity Sketching, FOCS 2017. In round r = 0, 1, ... every
// shingle falls into one of t bins, and a bin keeps its smallest value of the first round that reached it; round t + b
// throws all into bin b. It stops when no bin is empty: O(|A| + t log t), and short texts are sketched as well as long
// ones.
auto minhash(In<uint8_t> data, In<int64_t> offsets, int64_t hashes, int64_t shingle, int threads) {
  if (hashes < 1 || hashes > 65536) throw std::invalid_argument("hashes must be from 1 to 65536");
  if (shingle < 1 || shingle > 1024) throw std::invalid_argument("shingle must be from 1 to 1024");
  Texts texts(data, offsets);
  size_t n = texts.size, t = size_t(hashes);
  Buffer<uint32_t> out(n * t);
  uint32_t* rows = out.get();
  {
    nb::gil_scoped_release release;
    std::vector<Sketch> sketches(size_t(std::max(1, threads)), Sketch(t, size_t(shingle)));
    for_each_piece((n + kRowsPerPiece - 1) / kRowsPerPiece, threads, [&](size_t piece, int worker) {
      size_t stop = std::min(n, (piece + 1) * kRowsPerPiece);
      for (size_t i = piece * kRowsPerPiece; i < stop; ++i)
        sketches[worker].fill(texts.begin(i), texts.end(i), rows + i * t);
    });
  }
  return to_numpy(std::move(out));
}

}  // namespace

void bind_minhash(nb::module_& m) {
  m.def("fingerprint", &fingerprint, nb::arg("data"), nb::arg("offsets"), nb::arg("threads"));
  m.def("fingerprint_folded", &fingerprint_folded, nb::arg("data"), nb::arg("offsets"), nb::arg("threads"));
  m.def("minhash", &minhash, nb::arg("data"), nb::arg("offsets"), nb::arg("hashes"), nb::arg("shingle"),
        nb::arg("threads"));
}

}  // namespace linnaeus
