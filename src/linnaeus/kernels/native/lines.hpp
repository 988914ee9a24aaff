// Lines of 16 floats that are computed with together: the same bits on every machine, whatever its registers hold.
#pragma once
#include <cstddef>
#include <cstring>

#include "targets.hpp"

namespace linnaeus::lines {

constexpr size_t kLanes = 16;

#if defined(__GNUC__)
typedef float Line __attribute__((vector_size(kLanes * sizeof(float))));
#else
struct Line {
  float v[kLanes];
  Line& operator+=(const Line& other) {
    for (size_t i = 0; i < kLanes; ++i) v[i] += other.v[i];
    return *this;
  }
  friend Line operator+(Line a, const Line& b) { return a += b; }
  friend Line operator-(Line a, const Line& b) {
    for (size_t i = 0; i < kLanes; ++i) a.v[i] -= b.v[i];
    return a;
  }
  friend Line operator*(Line a, const Line& b) {
    for (size_t i = 0; i < kLanes; ++i) a.v[i] *= b.v[i];
    return a;
  }
  friend Line operator*(float x, Line b) {
    for (float& v : b.v) v *= x;
    return b;
  }
};
#endif

LINNAEUS_INLINE void load(Line& line, const float* from) { std::memcpy(&line, from, sizeof line); }
LINNAEUS_INLINE void store(const Line& line, float* to) { std::memcpy(to, &line, sizeof line); }

}  // namespace linnaeus::lines
