// What dual ascent has to know about a loss: one coordinate of the dual of
//     min over w, b  1/2 |w|^2 + sum_i C_i phi(y_i (w.x_i + b)),
// as a function of its variable a in [0, C] (squared hinge: [0, inf)), the margin m = y (w.x + b) and the curvature q
// of the quadratic part:
//     slope    derivative of the dual, as something to be minimized
//     step     the variable's minimum, all others fixed, from its slope
//     values   phi(m) of n rows, without C
//     conjugates  what the variables of n rows add to the dual value
//     slack    how much of the duality gap the variable accounts for (an estimate where the exact one costs
//     logarithms),
//              from its slope
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "elementary.hpp"
#include "targets.hpp"

namespace linnaeus {

// phi = max(0, 1 - m). Reference: Hsieh, Chang, Lin, Keerthi, Sundararajan, A Dual Coordinate Descent Method for
// Large-scale Linear SVM (2008).
struct Hinge {
  static double top(double C) { return C; }
  static double slope(double, double m, double) { return m - 1.0; }
  static double step(double a, double slope, double, double q, double C) {
    if (!(q > 0.0)) return slope < 0.0 ? C : (slope > 0.0 ? 0.0 : a);
    return std::min(std::max(a - slope / q, 0.0), C);
  }
  static void values(const double* m, double* out, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = std::max(0.0, 1.0 - m[i]);
  }
  static void conjugates(const double* a, const double*, double* out, size_t n) { std::copy(a, a + n, out); }
  static double slack(double a, double slope, double, double C) { return slope > 0.0 ? a * slope : (a - C) * slope; }
};

// phi = max(0, 1 - m)^2: no upper bound, and a diagonal 1 / (2 C).
struct SquaredHinge {
  static double top(double) { return std::numeric_limits<double>::infinity(); }
  static double slope(double a, double m, double C) { return m - 1.0 + a * (0.5 / C); }
  static double step(double a, double slope, double, double q, double C) {
    return std::max(a - slope / (q + 0.5 / C), 0.0);
  }
  static void values(const double* m, double* out, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = std::max(0.0, 1.0 - m[i]) * std::max(0.0, 1.0 - m[i]);
  }
  static void conjugates(const double* a, const double* C, double* out, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = a[i] - a[i] * a[i] * (0.25 / C[i]);
  }
  static double slack(double a, double, double m, double C) {
    double off = std::max(0.0, 1.0 - m) - a * (0.5 / C);
    return C * off * off + a * std::max(0.0, m - 1.0);
  }
};

// log(1 + e^-m).
LINNAEUS_CLONES [[maybe_unused]] static void log_losses(const double* m, double* out, size_t n) {
  for (size_t i = 0; i < n; ++i)
    out[i] = elementary::choose(m[i] < 0.0, -m[i], 0.0) + elementary::log1p(elementary::exp(-std::fabs(m[i])));
}

// C times the entropy of a coin that shows heads with probability a / C.
LINNAEUS_CLONES [[maybe_unused]] static void entropies(const double* a, const double* C, double* out, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    double p = a[i] / C[i], q = 1.0 - p;
    double heads = elementary::choose(p > 0.0, p * elementary::log(p), 0.0);
    double tails = elementary::choose(q > 0.0, q * elementary::log(q), 0.0);
    out[i] = -C[i] * (heads + tails);
  }
}

// phi = log(1 + e^-m). The variable is C / (1 + e^-t), and Newton's method looks for t, between bounds that hold the
// root. Reference: Yu, Huang, Lin, Dual Coordinate Descent Methods for Logistic Regression and Maximum Entropy (2011),
// who solve for the variable itself.
struct Logistic {
  static constexpr double kEnd = 750.0;       // e to this is no float
  static constexpr int kMost = 60;            // Newton steps; three or four are usual
  static constexpr double kPrecision = 0.01;  // of the slope at the start: the next epoch comes back anyway

  static double top(double) { return std::numeric_limits<double>::infinity(); }
  // log(a / (C - a)), finite at both ends.
  static double logit(double a, double C) {
    if (!(a > 0.0)) return -kEnd;
    if (!(a < C)) return kEnd;
    return elementary::log(a / (C - a));
  }
  static double sigmoid(double t) {
    double e = elementary::exp(-std::fabs(t));
    return (t >= 0.0 ? 1.0 : e) / (1.0 + e);
  }
  static double slope(double a, double m, double C) { return m + logit(a, C); }
  // Inside, the slope says where t is now, and the first step needs no exponential.
  static double step(double a, double slope, double m, double q, double C) {
    double low = -m - q * (C - a), high = -m + q * a;
    bool inside = a > 0.0 && a < C;
    double t = inside ? slope - m : std::copysign(elementary::log1p(q * C), a - 0.5 * C);
    double s = a / C, h = slope;
    if (!inside || t < low || t > high) {
      t = std::min(std::max(t, low), high);
      s = sigmoid(t);
      h = q * (C * s - a) + m + t;
    }
    double enough = kPrecision * std::fabs(h);
    for (int i = 0; i < kMost && std::fabs(h) > enough; ++i) {
      (h > 0.0 ? high : low) = t;
      t -= h / (1.0 + q * C * s * (1.0 - s));
      if (!(t > low && t < high)) t = low + 0.5 * (high - low);
      s = sigmoid(t);
      h = q * (C * s - a) + m + t;
    }
    return C * s;
  }
  static void values(const double* m, double* out, size_t n) { log_losses(m, out, n); }
  static void conjugates(const double* a, const double* C, double* out, size_t n) { entropies(a, C, out, n); }
  static double slack(double a, double slope, double m, double C) {
    if (a > 0.0 && a < C) return 0.5 * slope * slope * a * (C - a) / C;
    double z = a > 0.0 ? -m : m;
    return C * (z > 0.0 ? elementary::exp(-z) : 1.0 - z);
  }
};

}  // namespace linnaeus
