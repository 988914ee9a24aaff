// A random order of n places in which neighbors stay close in time: strip by strip.
//
// The places are cut into strips; each round visits the strips in a new random order and takes the next place of each,
// every strip starting at a random place of its own. Rows of a matrix that is larger than the caches are then read in
// some hundred steady streams, which takes half the time of rows in any order, and rows that lie side by side, often of
// one class, are still far apart in time. With n of the strips or fewer it is a plain shuffle.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace linnaeus {

inline constexpr int64_t kStrips = 128;  // few enough for the processor to follow, many enough to mix the rows well

// xorshift, G. Marsaglia (2003).
inline uint64_t next_random(uint64_t& seed) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}

// A number below n.
inline int64_t draw(uint64_t& seed, int64_t n) { return int64_t(((next_random(seed) >> 32) * uint64_t(n)) >> 32); }

inline void order_in_strips(int64_t n, uint64_t& seed, std::vector<int32_t>& places) {
  struct Strip {
    int64_t begin, length, first;
  };
  if (seed == 0) seed = 0x9e3779b97f4a7c15;
  int64_t count = std::min(n, kStrips);
  std::vector<Strip> strips;
  for (int64_t i = 0; i < count; ++i) {
    int64_t begin = n * i / count, length = n * (i + 1) / count - begin;
    strips.push_back({begin, length, draw(seed, length)});
  }
  places.clear();
  for (int64_t round = 0; round * kStrips < n; ++round) {
    for (size_t i = strips.size(); i > 1; --i) std::swap(strips[i - 1], strips[size_t(draw(seed, int64_t(i)))]);
    for (const Strip& strip : strips) {
      if (round >= strip.length) continue;
      int64_t at = strip.first + round;
      places.push_back(int32_t(strip.begin + (at < strip.length ? at : at - strip.length)));
    }
  }
}

}  // namespace linnaeus
