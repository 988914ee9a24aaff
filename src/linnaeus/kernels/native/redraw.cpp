// Resamples of the bootstrap: how often each kind of row is drawn, when n rows are drawn from n with replacement.
//
// Given the kind of each row, and a key. Round r draws from a counter: with s = mix(key + (r + 1) step), draws 2i and
// 2i + 1 are the high and the low half h of mix(s + (i + 1) step), and h draws row floor(h n / 2^32). A row's chance
// differs from 1/n by less than n / 2^32 of it. mix is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
// Rounds do not depend on each other, so the counts have the same bits for any number of threads.
#include <nanobind/stl/pair.h>

#include <stdexcept>

#include "arrays.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {

constexpr uint64_t kStep = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio

inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// One round; `counts` has room for every kind.
void draw(uint64_t state, const int32_t* kinds, size_t n, double* counts) {
  for (size_t i = 0; i < n / 2; ++i) {
    uint64_t z = mix(state + (i + 1) * kStep);
    counts[kinds[((z >> 32) * n) >> 32]] += 1;
    counts[kinds[((z & 0xFFFFFFFF) * n) >> 32]] += 1;
  }
  if (n % 2) counts[kinds[((mix(state + (n / 2 + 1) * kStep) >> 32) * n) >> 32]] += 1;
}

void draw_rows(uint64_t key, std::pair<uint64_t, uint64_t> rounds, In<int32_t> kinds, InOut<double> out, int threads) {
  auto [first, count] = rounds;
  size_t n = kinds.size(), cells = count ? out.size() / count : 0;
  if (n >> 32) throw std::invalid_argument("draw_rows: too many rows");
  if (cells * count != out.size()) throw std::invalid_argument("draw_rows: the counts do not fit the rounds");
  for (size_t i = 0; i < n; ++i)
    if (size_t(uint32_t(kinds.data()[i])) >= cells) throw std::invalid_argument("draw_rows: a kind has no count");
  nb::gil_scoped_release free;
  for_each_piece(count, worth(threads, n * count), [&](size_t r, int) {
    draw(mix(key + (first + r + 1) * kStep), kinds.data(), n, out.data() + r * cells);
  });
}

}  // namespace

void bind_redraw(nb::module_& m) {
  using namespace nb::literals;
  m.def("draw_rows", &draw_rows, "key"_a, "rounds"_a, "kinds"_a, "out"_a, "threads"_a);
}

}  // namespace linnaeus
