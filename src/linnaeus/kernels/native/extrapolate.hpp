// Anderson extrapolation: where a sequence that converges linearly is going to, from its last points.
//
// The point is the affine combination of the last points whose residuals (differences of neighbors) cancel best. For
// coordinate descent on a quadratic it does what conjugate gradients do for gradient descent (Bertrand and Massias
// 2021).
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace linnaeus {

class Extrapolation {
 public:
  static constexpr size_t kDepth = 5;

  explicit Extrapolation(size_t measured) : measured_(measured) {}
  // The next point of the sequence; residuals are measured in its first `measured` numbers.
  void add(std::vector<double>&& point) { points_.push_back(std::move(point)); }
  void clear() { points_.clear(); }
  bool ready() const { return points_.size() == kDepth + 1; }

  // Where it is going; nothing when the residuals do not tell.
  std::vector<double> point() const {
    std::array<double, kDepth> mix;
    if (!solve(mix)) return {};
    std::vector<double> result(points_[0].size(), 0.0);
    for (size_t k = 0; k < kDepth; ++k)
      for (size_t i = 0; i < result.size(); ++i) result[i] += mix[k] * points_[k + 1][i];
    return result;
  }

 private:
  size_t measured_;
  std::vector<std::vector<double>> points_;

  double product(size_t a, size_t b) const {
    double sum = 0;
    for (size_t i = 0; i < measured_; ++i)
      sum += (points_[a + 1][i] - points_[a][i]) * (points_[b + 1][i] - points_[b][i]);
    return sum;
  }

  // R'R mix = 1, by elimination with a small ridge, then the sum of the mix is made one.
  bool solve(std::array<double, kDepth>& mix) const {
    double A[kDepth][kDepth + 1], trace = 0;
    for (size_t a = 0; a < kDepth; ++a) {
      for (size_t b = 0; b < kDepth; ++b) A[a][b] = a <= b ? product(a, b) : A[b][a];
      A[a][kDepth] = 1;
      trace += A[a][a];
    }
    if (!(trace > 0)) return false;
    for (size_t a = 0; a < kDepth; ++a) A[a][a] += 1e-12 * trace;
    for (size_t p = 0; p < kDepth; ++p)
      for (size_t a = p + 1; a < kDepth; ++a) {
        double factor = A[a][p] / A[p][p];
        for (size_t b = p; b <= kDepth; ++b) A[a][b] -= factor * A[p][b];
      }
    double total = 0;
    for (size_t p = kDepth; p-- > 0;) {
      mix[p] = A[p][kDepth];
      for (size_t b = p + 1; b < kDepth; ++b) mix[p] -= A[p][b] * mix[b];
      total += mix[p] /= A[p][p];
    }
    for (double& m : mix) m /= total;
    return std::isfinite(total) && total != 0;
  }
};

}  // namespace linnaeus
