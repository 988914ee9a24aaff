// What dual ascent has to know about a loss: one coordinate of the dual of
//     min over w, b  1/2 |w|^2 + sum_i C_i phi(y_i (w.x_i + b)),
// as a function of its variable a in [0, C] (squared hinge: [0, inf)), the margin m = y (w.x + b) and the curvature q
// of the quadratic part:
//     slope    derivative of the dual, as something to be minimized
//     step     the variable's minimum, all others fixed
//     value    phi(m), without C
//     conjugate  what the variable adds to the dual value
//     slack    how much of the duality gap the variable accounts for (an estimate where the exact one costs logarithms)
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "elementary.hpp"

namespace linnaeus {

// phi = max(0, 1 - m). Reference: Hsieh, Chang, Lin, Keerthi, Sundararajan, A Dual Coordinate Descent Method for
// Large-scale Linear SVM (2008).
struct Hinge {
  static double top(double C) { return C; }
  static double slope(double, double m, double, double) { return m - 1.0; }
  static double step(double a, double m, double q, double C) {
    if (!(q > 0.0)) return m < 1.0 ? C : (m > 1.0 ? 0.0 : a);
    return std::min(std::max(a - (m - 1.0) / q, 0.0), C);
  }
  static double value(double m) { return std::max(0.0, 1.0 - m); }
  static double conjugate(double a, double) { return a; }
  static double slack(double a, double m, double C) { return m > 1.0 ? a * (m - 1.0) : (C - a) * (1.0 - m); }
};

// phi = max(0, 1 - m)^2: no upper bound, and a diagonal 1 / (2 C).
struct SquaredHinge {
  static double top(double) { return std::numeric_limits<double>::infinity(); }
  static double slope(double a, double m, double, double C) { return m - 1.0 + a * (0.5 / C); }
  static double step(double a, double m, double q, double C) {
    return std::max(a - slope(a, m, q, C) / (q + 0.5 / C), 0.0);
  }
  static double value(double m) {
    double loss = std::max(0.0, 1.0 - m);
    return loss * loss;
  }
  static double conjugate(double a, double C) { return a - a * a * (0.25 / C); }
  static double slack(double a, double m, double C) {
    double off = std::max(0.0, 1.0 - m) - a * (0.5 / C);
    return C * off * off + a * std::max(0.0, m - 1.0);
  }
};

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
  static double slope(double a, double m, double, double C) { return m + logit(a, C); }
  static double step(double a, double m, double q, double C) {
    double low = -m - q * (C - a), high = -m + q * a, far = elementary::log1p(q * C);
    double t = a > 0.0 ? (a < C ? logit(a, C) : far) : -far;
    t = std::min(std::max(t, low), high);
    double s = sigmoid(t), h = q * (C * s - a) + m + t, enough = kPrecision * std::fabs(h);
    for (int i = 0; i < kMost && std::fabs(h) > enough; ++i) {
      (h > 0.0 ? high : low) = t;
      t -= h / (1.0 + q * C * s * (1.0 - s));
      if (!(t > low && t < high)) t = low + 0.5 * (high - low);
      s = sigmoid(t);
      h = q * (C * s - a) + m + t;
    }
    return C * s;
  }
  static double value(double m) { return std::max(0.0, -m) + elementary::log1p(elementary::exp(-std::fabs(m))); }
  static double entropy(double p) { return p > 0.0 ? -p * elementary::log(p) : 0.0; }
  static double conjugate(double a, double C) { return C * (entropy(a / C) + entropy(1.0 - a / C)); }
  static double slack(double a, double m, double C) {
    if (a > 0.0 && a < C) {
      double g = m + elementary::log(a / (C - a));
      return 0.5 * g * g * a * (C - a) / C;
    }
    double z = a > 0.0 ? -m : m;
    return C * (z > 0.0 ? elementary::exp(-z) : 1.0 - z);
  }
};

}  // namespace linnaeus
