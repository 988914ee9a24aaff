// exp, log and log1p of our own: only additions, multiplications, divisions and selects, so a loop over an array
// vectorizes, and the bits are the same on every machine whatever its C library. Errors stay below 1 unit in the last
// place for exp and log, 2 for log1p. Infinities, NaN, zeros and subnormal numbers go the way of the C library.
//
// Reference: W. Cody, W. Waite, Software Manual for the Elementary Functions (1980): x = k ln 2 + r with ln 2 in two
// parts; and the logarithm of the FreeBSD library, K. Ng (1993): log m = 2 atanh(f / (2 + f)), f = m - 1.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>

namespace linnaeus::elementary {

inline constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
inline constexpr double kShift = 0x1.8p52;  // adding it rounds to an integer, which then stands in the low bits
inline constexpr float kShiftFloat = 0x1.8p23f;

// yes where the condition holds, else no: by masks, for a compiler makes branches of ?: here, and then no vectors.
inline double choose(bool condition, double yes, double no) {
  uint64_t mask = -uint64_t(condition);
  return std::bit_cast<double>((std::bit_cast<uint64_t>(yes) & mask) | (std::bit_cast<uint64_t>(no) & ~mask));
}
inline float choose(bool condition, float yes, float no) {
  uint32_t mask = -uint32_t(condition);
  return std::bit_cast<float>((std::bit_cast<uint32_t>(yes) & mask) | (std::bit_cast<uint32_t>(no) & ~mask));
}

// 2^k for an integer k of -1022..1023 that was made by adding kShift.
inline double power_of_two(double shifted) {
  return std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023) << 52);
}
inline float power_of_two(float shifted) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) + 127) << 23);
}

// (e^r - 1 - r) / r^2 for |r| up to half of ln 2: the Taylor series, in pairs (G. Estrin 1960) instead of one long
// chain.
inline double exp_rest(double r) {
  double r2 = r * r, r4 = r2 * r2;
  double a = (0.5 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
  double b = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
  double c = (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600 + r * (1.0 / 6227020800));
  return a + r4 * (b + r4 * c);
}

// e^x. The power of two is applied in two halves: one alone would leave the range of exponents near both ends.
inline double exp(double x) {
  x = choose(x < -746.0, -746.0, x);
  x = choose(x > 710.0, 710.0, x);
  double k = (x * 0x1.71547652b82fep0 + kShift) - kShift;
  double r = (x - k * kLn2High) - k * kLn2Low;
  double value = 1.0 + (r + r * r * exp_rest(r));
  double half = k * 0.5 + kShift;
  double rest = (k - (half - kShift)) + kShift;
  return value * power_of_two(half) * power_of_two(rest);
}

// e^x - 1, without the loss of digits near zero.
inline double expm1(double x) {
  double near = x + x * x * exp_rest(x);
  return choose((x < 0.25) & (x > -0.25), near, exp(x) - 1.0);
}

inline float exp(float x) {
  x = choose(x < -104.0f, -104.0f, x);
  x = choose(x > 89.0f, 89.0f, x);
  float k = (x * 0x1.715476p0f + kShiftFloat) - kShiftFloat;
  float r = (x - k * 0.693359375f) - k * -2.12194440e-4f;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  float value = 1.0f + (r + r * r * p);
  float half = k * 0.5f + kShiftFloat;
  float rest = (k - (half - kShiftFloat)) + kShiftFloat;
  return value * power_of_two(half) * power_of_two(rest);
}

// The natural logarithm. x = 2^k m with m between sqrt(1/2) and sqrt(2); zero gives -inf, below zero NaN.
inline double log(double x) {
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd, kBias = uint64_t(1024) << 52;
  bool tiny = x < 0x1p-1022;
  double scaled = choose(tiny, x * 0x1p54, x);
  uint64_t bits = std::bit_cast<uint64_t>(scaled);
  uint64_t exponent = (bits - kRootHalf + kBias) >> 52;  // k + 1024, which is never negative
  double k = std::bit_cast<double>(exponent | std::bit_cast<uint64_t>(0x1p52)) - (0x1p52 + 1024);
  k = choose(tiny, k - 54.0, k);
  double f = std::bit_cast<double>(bits - ((exponent << 52) - kBias)) - 1.0;
  double s = f / (2.0 + f), z = s * s;
  double p = 1.479819860511658591e-01;
  p = p * z + 1.531383769920937332e-01;
  p = p * z + 1.818357216161805012e-01;
  p = p * z + 2.222219843214978396e-01;
  p = p * z + 2.857142874366239149e-01;
  p = p * z + 3.999999999940941908e-01;
  p = p * z + 6.666666666666735130e-01;
  double square = 0.5 * f * f;
  double value = k * kLn2High - ((square - (s * (square + p * z) + k * kLn2Low)) - f);
  value = choose(x > 0.0, value, std::numeric_limits<double>::quiet_NaN());
  value = choose(x == 0.0, -std::numeric_limits<double>::infinity(), value);
  return choose(x == std::numeric_limits<double>::infinity(), x, value);
}

// log(1 + x), where what 1 + x loses by rounding is put back.
inline double log1p(double x) {
  double u = 1.0 + x;
  double lost = (x - (u - 1.0)) / u;
  return log(u) + choose((u > 0.0) & (u < 0x1p53), lost, 0.0);
}

}  // namespace linnaeus::elementary
