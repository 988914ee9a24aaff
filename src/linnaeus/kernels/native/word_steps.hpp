// One step of negative sampling: C input vectors, T output vectors, and a label 0 or 1 for each pair.
//
// Problem: the gradient step of sum_it -log sigma(+-x_i . o_t), + where the label is 1, for all pairs at once (Ji,
// Satish, Li and Dubey 2016): scores S = X O^T, G = rate (Y - sigma(S)), X += G O, O += G^T X. Vectors lie in lines of
// 16 numbers, filled up with zeros, so a sum has 16 lanes on every machine; the lanes are added in halves.
#pragma once
#include <algorithm>

#include "elementary.hpp"
#include "lines.hpp"

namespace linnaeus::embed {

using lines::kLanes;
using lines::Line;
using lines::load;
using lines::store;

constexpr size_t kGroup = 6;         // output vectors whose products are summed at a time
constexpr size_t kMostOutputs = 64;  // output vectors of a step

// The sum of the lanes: halves are added until one number is left, so v[i] + v[i + 8], then v[i] + v[i + 4], then
// (v[0] + v[2]) + (v[1] + v[3]).
#if defined(__GNUC__) && (defined(__clang__) || __GNUC__ >= 12)
typedef float Half __attribute__((vector_size(kLanes / 2 * sizeof(float))));
typedef float Quarter __attribute__((vector_size(kLanes / 4 * sizeof(float))));

LINNAEUS_INLINE void fold(const Line& v, Quarter& to) {
  const Half half = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                    __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  to = __builtin_shufflevector(half, half, 0, 1, 2, 3) + __builtin_shufflevector(half, half, 4, 5, 6, 7);
}

LINNAEUS_INLINE float sum_lanes(const Line& line) {
  Quarter v;
  fold(line, v);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1);
  return v[0] + v[1];
}

// v[0] + v[2] of a and b, then v[1] + v[3] of both.
LINNAEUS_INLINE void fold_two(const Line& a, const Line& b, Quarter& to) {
  Quarter x, y;
  fold(a, x), fold(b, y);
  to = __builtin_shufflevector(x, y, 0, 4, 1, 5) + __builtin_shufflevector(x, y, 2, 6, 3, 7);
}

LINNAEUS_INLINE void sum_four(const Line* lines, float* sums) {
  Quarter x, y;
  fold_two(lines[0], lines[1], x), fold_two(lines[2], lines[3], y);
  const Quarter all = __builtin_shufflevector(x, y, 0, 1, 4, 5) + __builtin_shufflevector(x, y, 2, 3, 6, 7);
  std::memcpy(sums, &all, sizeof all);
}
#else
LINNAEUS_INLINE float sum_lanes(const Line& line) {
  float v[kLanes];
  std::memcpy(v, &line, sizeof v);
  for (size_t i = 0; i < 8; ++i) v[i] += v[i + 8];
  for (size_t i = 0; i < 4; ++i) v[i] += v[i + 4];
  return (v[0] + v[2]) + (v[1] + v[3]);
}

LINNAEUS_INLINE void sum_four(const Line* lines, float* sums) {
  for (size_t t = 0; t < 4; ++t) sums[t] = sum_lanes(lines[t]);
}
#endif

// sums[t] = the sum of the lanes of lines[t].
template <size_t T>
LINNAEUS_INLINE void sum_each(const Line (&lines)[T], float* sums) {
  for (size_t t = 0; t + 4 <= T; t += 4) sum_four(lines + t, sums + t);
  for (size_t t = T / 4 * 4; t < T; ++t) sums[t] = sum_lanes(lines[t]);
}

// Vectors of some words, by address.
struct Vectors {
  float* const* at;
  size_t count;
};

// scores[i * width + t] = x_i . o_t for T outputs.
template <size_t T>
LINNAEUS_INLINE void dots(Vectors inputs, float* const* outputs, size_t size, float* scores, size_t width) {
  for (size_t i = 0; i < inputs.count; ++i) {
    Line sums[T] = {}, x, o;
    for (size_t c = 0; c < size; c += kLanes) {
      load(x, inputs.at[i] + c);
      for (size_t t = 0; t < T; ++t) {
        load(o, outputs[t] + c);
        sums[t] += x * o;
      }
    }
    sum_each(sums, scores + i * width);
  }
}

// X += G O and O += G^T X, one line of numbers at a time; inputs one after the other, as two may be the same vector.
// T is known when this is compiled, so that the lines stay in registers, or 0 for any number up to kMostOutputs.
template <size_t T>
LINNAEUS_INLINE void move(Vectors inputs, Vectors outputs, size_t size, const float* steps) {
  const size_t width = T ? T : outputs.count;
  for (size_t c = 0; c < size; c += kLanes) {
    Line old[T ? T : kMostOutputs], sums[T ? T : kMostOutputs], x, y;
    for (size_t t = 0; t < width; ++t) {
      load(old[t], outputs.at[t] + c);
      sums[t] = old[t];
    }
    for (size_t i = 0; i < inputs.count; ++i) {
      load(x, inputs.at[i] + c);
      y = x;
      for (size_t t = 0; t < width; ++t) {
        const float g = steps[i * width + t];
        y += g * old[t];
        sums[t] += g * x;
      }
      store(y, inputs.at[i] + c);
    }
    for (size_t t = 0; t < width; ++t) store(sums[t], outputs.at[t] + c);
  }
}

// One step for all pairs; the label is 1 for output 0. `scores` has room for C T numbers, and holds G afterwards;
// `chances`, where it is not null, gets sigma(S).
LINNAEUS_CLONES inline void step(Vectors inputs, Vectors outputs, size_t size, float rate, float* scores,
                                 float* chances) {
  const size_t width = outputs.count;
  for (size_t first = 0; first < width; first += kGroup) {
    float* const* group = outputs.at + first;
    switch (std::min(kGroup, width - first)) {
      case 1:
        dots<1>(inputs, group, size, scores + first, width);
        break;
      case 2:
        dots<2>(inputs, group, size, scores + first, width);
        break;
      case 3:
        dots<3>(inputs, group, size, scores + first, width);
        break;
      case 4:
        dots<4>(inputs, group, size, scores + first, width);
        break;
      case 5:
        dots<5>(inputs, group, size, scores + first, width);
        break;
      default:
        dots<6>(inputs, group, size, scores + first, width);
        break;
    }
  }
  const size_t pairs = inputs.count * width;
  for (size_t k = 0; k < pairs; ++k) scores[k] = 1.0f / (1.0f + elementary::exp(-scores[k]));
  if (chances) std::copy_n(scores, pairs, chances);
  for (size_t k = 0; k < pairs; ++k) scores[k] = -rate * scores[k];
  for (size_t i = 0; i < inputs.count; ++i) scores[i * width] += rate;
  switch (width) {
    case 1:
      move<1>(inputs, outputs, size, scores);
      break;
    case 2:
      move<2>(inputs, outputs, size, scores);
      break;
    case 3:
      move<3>(inputs, outputs, size, scores);
      break;
    case 4:
      move<4>(inputs, outputs, size, scores);
      break;
    case 5:
      move<5>(inputs, outputs, size, scores);
      break;
    case 6:
      move<6>(inputs, outputs, size, scores);
      break;
    case 7:
      move<7>(inputs, outputs, size, scores);
      break;
    case 8:
      move<8>(inputs, outputs, size, scores);
      break;
    default:
      move<0>(inputs, outputs, size, scores);
      break;
  }
}

// to += from.
LINNAEUS_CLONES inline void add(float* __restrict to, const float* __restrict from, size_t size) {
  for (size_t i = 0; i < size; ++i) to[i] += from[i];
}

// to *= times.
LINNAEUS_CLONES inline void scale(float* to, float times, size_t size) {
  for (size_t i = 0; i < size; ++i) to[i] *= times;
}

// to -= from.
LINNAEUS_CLONES inline void subtract(float* __restrict to, const float* __restrict from, size_t size) {
  for (size_t i = 0; i < size; ++i) to[i] -= from[i];
}

// to = now + stay (to - before).
LINNAEUS_CLONES inline void join(float* __restrict to, const float* __restrict before, const float* __restrict now,
                                 float stay, size_t size) {
  for (size_t i = 0; i < size; ++i) to[i] = now[i] + stay * (to[i] - before[i]);
}

// at = now - before - (1 - stay) (at - before): the change that brings `at` to where `join` does.
LINNAEUS_CLONES inline void differ(float* __restrict at, const float* __restrict before, const float* __restrict now,
                                   float stay, size_t size) {
  for (size_t i = 0; i < size; ++i) at[i] = (now[i] + stay * (at[i] - before[i])) - at[i];
}

}  // namespace linnaeus::embed
