// Numbers with an exponent of 64 bits: m 2^e with 1 <= |m| < 2, or zero. Sums and products of e^score stay in range
// where doubles would underflow or overflow. Arithmetic rounds as that of doubles does. Exponents stop at 2^61 on both
// sides, so that neither their sums nor their differences overflow.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "elementary.hpp"

namespace linnaeus {

struct Wide {
  static constexpr int64_t kMost = int64_t(1) << 61;

  double m = 0;
  int64_t e = 0;

  Wide() = default;
  Wide(double value) : Wide(value, 0) {}
  // For doubles that are not subnormal.
  Wide(double value, int64_t exponent) {
    if (value == 0) return;
    uint64_t bits = std::bit_cast<uint64_t>(value);
    int64_t own = int64_t(bits >> 52 & 0x7ff) - 1023;
    m = std::bit_cast<double>((bits & ~(uint64_t(0x7ff) << 52)) | uint64_t(1023) << 52);
    e = std::clamp(exponent + own, -kMost, kMost);
  }

  explicit operator double() const {
    if (e > 1023) return m * std::numeric_limits<double>::infinity();
    if (e < -1022) return e < -1080 ? 0.0 : m * power(e + 100) * 0x1p-100;
    return m * power(e);
  }

  // 2^e for -1022 <= e <= 1023.
  static double power(int64_t e) { return std::bit_cast<double>(uint64_t(e + 1023) << 52); }

  friend Wide operator*(Wide a, Wide b) { return {a.m * b.m, a.e + b.e}; }
  friend Wide operator/(Wide a, Wide b) { return {a.m / b.m, a.e - b.e}; }
  friend Wide operator-(Wide a, Wide b) {
    b.m = -b.m;
    return a + b;
  }
  friend Wide operator+(Wide a, Wide b) {
    if (a.m == 0 || (b.m != 0 && a.e < b.e)) std::swap(a, b);
    if (b.m == 0 || a.e - b.e > 1000) return a;
    return {a.m + b.m * power(b.e - a.e), a.e};
  }
  Wide& operator+=(Wide b) { return *this = *this + b; }
  friend bool operator==(Wide a, Wide b) { return a.m == b.m && a.e == b.e; }
};

// e^x and its inverse for both kinds of numbers. From |x| = 2^53 on, the digits of the rest mean nothing.
template <class T>
T exp_to(double x) {
  if constexpr (std::is_same_v<T, double>) {
    return elementary::exp(x);
  } else {
    if (x == -std::numeric_limits<double>::infinity()) return {};
    double most = double(Wide::kMost), k = std::clamp(std::floor(x * 0x1.71547652b82fep0), -most, most);
    double rest = (x - k * elementary::kLn2High) - k * elementary::kLn2Low;
    return {elementary::exp(std::clamp(rest, -1.0, 1.0)), int64_t(k)};
  }
}

inline double log_of(double x) { return elementary::log(x); }
inline double log_of(Wide x) {
  if (x.m == 0) return -std::numeric_limits<double>::infinity();
  return elementary::log(x.m) + (double(x.e) * elementary::kLn2Low + double(x.e) * elementary::kLn2High);
}

}  // namespace linnaeus
