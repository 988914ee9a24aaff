// Problem: the multiclass support vector machine of Crammer and Singer with any costs,
//
//   min_W,b  1/2 ||W||^2 + 1/(2 beta) ||b - center||^2 + sum_i C_i [max_y (s_iy + cost(y, y_i)) - s_i,yi],
//
// by ascent of its dual, sum_i C_i <p_i, cost_i> - 1/2 ||W||^2 - ..., one simplex p_i at a time. With the others fixed
// the best p_i is max_p <a, p> - q/2 ||p||^2, a = h + q p_old, h the augmented scores and q = C_i (||x_i||^2 + beta):
// the nearest point of the simplex to a / q. The gap of an example is C_i (max h - <p_i, h>); it is zero at the
// optimum.
//
// References: S. Keerthi et al., A Sequential Dual Method for Large Scale Multi-Class Linear SVMs (2008); the
// projection: C. Michelot (1986), thresholds that rise until all classes above them have their mass.
#include "joint_sums.hpp"

namespace linnaeus {
namespace {

// The point of the simplex nearest to a / q, for q > 0; for q = 0 the corner with the largest a. `a` is lost: it is
// counted from its largest, so that a small q is not lost beside large scores.
void project(double* a, double q, size_t k, double* p) {
  double best = largest(a, k);
  if (!(q > 0)) {
    size_t top = size_t(std::max_element(a, a + k) - a);
    for (size_t c = 0; c < k; ++c) p[c] = c == top ? 1.0 : 0.0;
    return;
  }
  for (size_t c = 0; c < k; ++c) a[c] -= best;
  double threshold = -q;
  for (size_t above = k + 1;;) {
    double sum = 0;
    size_t count = 0;
    for (size_t c = 0; c < k; ++c) {
      bool in = a[c] > threshold;
      sum += in ? a[c] : 0.0;
      count += in;
    }
    if (count == 0 || count >= above) break;
    above = count;
    threshold = (sum - q) / double(count);
  }
  double total = 0;
  for (size_t c = 0; c < k; ++c) total += p[c] = std::max(0.0, a[c] - threshold);
  for (size_t c = 0; c < k; ++c) p[c] /= total;
}

template <class X>
double crammer_epoch(Sparse<X> rows, JointTruth truth, JointState state, Grid<double> costs, In<int32_t> order,
                     double beta) {
  Joint<X> joint(rows, truth, state, costs, "crammer_epoch");
  nb::gil_scoped_release release;
  size_t k = joint.k;
  return ascend(joint, order, beta, [&](size_t i, const Line<X>& x, double q, double* h, double* p) {
    joint.augmented(i, x, 1.0, h);
    const double* old = joint.P + i * k;
    double best = largest(h, k), gap = 0;
    for (size_t c = 0; c < k; ++c) gap += old[c] * (best - h[c]);
    joint.gaps[i] = joint.strengths[i] * gap;
    if (!(gap > 0)) return;
    for (size_t c = 0; c < k; ++c) h[c] += q * old[c];
    project(h, q, k, p);
  });
}

using Past = std::tuple<GridInOut<double>, GridInOut<double>>;  // W (d, k) and P (n, k) one epoch ago

// now, past = now + by (now - past), now; returns the sum of the squares of `now`, in eight lanes.
LINNAEUS_CLONES double leap_block(double* now, double* past, size_t n, double by) {
  double lanes[8] = {};
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (size_t lane = 0; lane < 8; ++lane) {
      double value = now[i + lane];
      lanes[lane] += value * value;
      now[i + lane] = value + by * (value - past[i + lane]);
      past[i + lane] = value;
    }
  for (size_t lane = 0; i < n; ++i, ++lane) {
    double value = now[i];
    lanes[lane] += value * value;
    now[i] = value + by * (value - past[i]);
    past[i] = value;
  }
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// Goes on the way that W and P have come since `past`, `by` times as far; points that leave their simplex come back to
// it, and W with them. The past becomes the present. Returns ||W||^2 before the leap. The bias is the caller's.
template <class X>
double crammer_leap(Sparse<X> rows, JointTruth truth, JointState state, Past past, double by, int threads) {
  Joint<X> joint(rows, truth, state, Grid<double>(), "crammer_leap");
  auto& [W, P] = past;
  size_t n = joint.rows.count, k = joint.k, size = joint.d * k;
  if (W.shape(0) != joint.d || W.shape(1) != k || P.shape(0) != n || P.shape(1) != k || !(by >= 0))
    throw std::invalid_argument("crammer_leap: the arrays do not fit each other");
  nb::gil_scoped_release release;
  std::vector<double> squares((size + kWeightsPerSum - 1) / kWeightsPerSum), a(k), p(k);
  for_each_piece(squares.size(), threads, [&](size_t block, int) {
    size_t first = block * kWeightsPerSum, length = std::min(kWeightsPerSum, size - first);
    squares[block] = leap_block(joint.W + first, W.data() + first, length, by);
  });
  leap_block(joint.P, P.data(), n * k, by);
  for (size_t i = 0; i < n; ++i) {
    double* z = joint.P + i * k;
    if (*std::min_element(z, z + k) >= 0) continue;
    std::copy(z, z + k, a.data());
    project(a.data(), 1.0, k, p.data());
    Line<X> x = joint.line(i);
    for (size_t c = 0; c < k; ++c) a[c] = joint.strengths[i] * (z[c] - p[c]);
    add_all(x, joint.W, k, a.data());
    std::copy(p.begin(), p.end(), z);
  }
  double square = 0;
  for (double part : squares) square += part;
  return square;
}

template <class X>
auto crammer_sums(Sparse<X> rows, JointTruth truth, JointState state, Grid<double> costs, int threads) {
  Joint<X> joint(rows, truth, state, costs, "crammer_sums");
  std::vector<double> sums;
  {
    nb::gil_scoped_release release;
    sums = sum_joint(joint, threads, 1.0, [&](size_t i, double* h, double* out) {
      out[0] = largest(h, joint.k);
      out[1] = charge(joint, i, 1.0);
    });
  }
  return to_numpy(sums);
}

template <class X>
void bind(nb::module_& m) {
  using namespace nb::literals;
  m.def("crammer_epoch", &crammer_epoch<X>, "rows"_a, "truth"_a, "state"_a, "costs"_a, "order"_a, "beta"_a);
  m.def("crammer_leap", &crammer_leap<X>, "rows"_a, "truth"_a, "state"_a, "past"_a, "by"_a, "threads"_a);
  m.def("crammer_sums", &crammer_sums<X>, "rows"_a, "truth"_a, "state"_a, "costs"_a, "threads"_a);
}

}  // namespace

void bind_dual_crammer(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace linnaeus
