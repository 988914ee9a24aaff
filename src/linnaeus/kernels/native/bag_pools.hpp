// How the vectors of an example become one, and how its features move: loops over lines of numbers.
#pragma once
#include "bag_problem.hpp"

namespace linnaeus::bag {

// sums = sum of x_j E_j over the values, `L` lines of each row.
template <size_t L>
LINNAEUS_INLINE void sum_lines(const float* E, size_t size, const Values& v, float* sums) {
  Line total[L] = {}, row;
  for (size_t j = 0; j < v.count; ++j) {
    if (j + kAhead < v.count)
      for (size_t l = 0; l < L; ++l) prefetch(E, (size_t(v.columns[j + kAhead]) * size + l * kLanes) * sizeof(float));
    const float* from = E + size_t(v.columns[j]) * size;
    const float x = v.values[j];
    for (size_t l = 0; l < L; ++l) {
      load(row, from + l * kLanes);
      total[l] += x * row;
    }
  }
  for (size_t l = 0; l < L; ++l) store(total[l], sums + l * kLanes);
}

LINNAEUS_CLONES inline void sum_rows(const float* E, size_t size, const Values& v, float* sums) {
  for (size_t at = 0; at < size; at += kMostLines * kLanes) {
    const float* from = E + at;
    float* to = sums + at;
    switch (std::min(kMostLines, (size - at) / kLanes)) {
      case 1:
        sum_lines<1>(from, size, v, to);
        break;
      case 2:
        sum_lines<2>(from, size, v, to);
        break;
      case 3:
        sum_lines<3>(from, size, v, to);
        break;
      case 4:
        sum_lines<4>(from, size, v, to);
        break;
      case 5:
        sum_lines<5>(from, size, v, to);
        break;
      case 6:
        sum_lines<6>(from, size, v, to);
        break;
      case 7:
        sum_lines<7>(from, size, v, to);
        break;
      default:
        sum_lines<8>(from, size, v, to);
        break;
    }
  }
}

struct Pace {
  float rate, smoothing;
};

// E_j -= rate x_j / sqrt(smoothing + sum of squares) g for the values; `square` is the mean square of g.
template <size_t L>
LINNAEUS_INLINE void move_lines(float* E, size_t size, const Values& v, const float* g, float square, Pace pace) {
  Line pull[L ? L : 1], row;
  for (size_t l = 0; l < L; ++l) load(pull[l], g + l * kLanes);
  for (size_t j = 0; j < v.count; ++j) {
    if (j + kAhead < v.count)
      for (size_t l = 0; l < (L ? L : 1); ++l)
        prefetch(E, (size_t(v.columns[j + kAhead]) * size + l * kLanes) * sizeof(float));
    float* to = E + size_t(v.columns[j]) * size;
    const float x = v.values[j], sum = to[size - 1] + x * x * square;
    const float step = -(pace.rate * x) / std::sqrt(pace.smoothing + sum);
    if constexpr (L > 0) {
      for (size_t l = 0; l < L; ++l) {
        load(row, to + l * kLanes);
        row += step * pull[l];
        store(row, to + l * kLanes);
      }
    } else {
      for (size_t c = 0; c < size; ++c) to[c] += step * g[c];
    }
    to[size - 1] = sum;
  }
}

LINNAEUS_CLONES inline void move_rows(float* E, size_t size, const Values& v, const float* g, float square, Pace pace) {
  switch (size / kLanes) {
    case 1:
      move_lines<1>(E, size, v, g, square, pace);
      break;
    case 2:
      move_lines<2>(E, size, v, g, square, pace);
      break;
    case 3:
      move_lines<3>(E, size, v, g, square, pace);
      break;
    case 4:
      move_lines<4>(E, size, v, g, square, pace);
      break;
    case 7:
      move_lines<7>(E, size, v, g, square, pace);
      break;
    case 8:
      move_lines<8>(E, size, v, g, square, pace);
      break;
    default:
      move_lines<0>(E, size, v, g, square, pace);
      break;
  }
}

// The product of two rows, the sum in 16 lanes.
LINNAEUS_INLINE float product(const float* a, const float* b, size_t size) {
  Line sum = {}, x, y;
  for (size_t c = 0; c < size; c += kLanes) {
    load(x, a + c), load(y, b + c);
    sum += x * y;
  }
  return embed::sum_lanes(sum);
}

LINNAEUS_CLONES inline float dot(const float* a, const float* b, size_t size) { return product(a, b, size); }

// to += times from.
LINNAEUS_INLINE void add_line_times(float* to, const float* from, float times, size_t size) {
  Line x, y;
  for (size_t c = 0; c < size; c += kLanes) {
    load(x, to + c), load(y, from + c);
    x += times * y;
    store(x, to + c);
  }
}

LINNAEUS_CLONES inline void add_times(float* to, const float* from, float times, size_t size) {
  add_line_times(to, from, times, size);
}

// The sum over the values: means are sums of values that add up to 1.
struct Sum {
  static size_t room(const Problem&) { return 0; }
  static void pool(const Problem& p, size_t i, float* h, int32_t*) { sum_rows(p.E, p.size, p.of(i, 0, kParts), h); }
  static void move(const Problem& p, size_t i, size_t first, size_t last, const float* g, const int32_t*, Pace pace) {
    const float square = dot(g, g, p.size) / float(p.numbers - p.frozen);
    if (square > 0) move_rows(p.E, p.size, p.of(i, first, last), g, square, pace);
  }
};

// The largest number at each place over the features that occur; the first of equals gets the gradient.
struct Max {
  static size_t room(const Problem& p) { return p.numbers; }
  static void pool(const Problem& p, size_t i, float* h, int32_t* from) {
    const Values v = p.of(i, 0, kParts);
    std::fill_n(h, p.size, 0.0f);
    std::fill_n(from, p.numbers, v.count ? v.columns[0] : -1);
    if (v.count) std::copy_n(p.E + size_t(v.columns[0]) * p.size, p.numbers, h);
    for (size_t j = 1; j < v.count; ++j) {
      const float* row = p.E + size_t(v.columns[j]) * p.size;
      for (size_t c = 0; c < p.numbers; ++c)
        if (row[c] > h[c]) h[c] = row[c], from[c] = v.columns[j];
    }
  }
  static void move(const Problem& p, size_t, size_t first, size_t last, const float* g, const int32_t* from,
                   Pace pace) {
    for (size_t c = p.frozen; c < p.numbers; ++c) {
      const size_t part = size_t(uint32_t(from[c])) % kParts;
      if (from[c] < 0 || part < first || part >= last) continue;
      float* to = p.E + size_t(from[c]) * p.size;
      to[p.size - 1] += g[c] * g[c] / float(p.numbers - p.frozen);
      to[c] -= pace.rate * g[c] / std::sqrt(pace.smoothing + to[p.size - 1]);
    }
  }
};

}  // namespace linnaeus::bag
