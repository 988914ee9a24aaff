// Problem: multinomial logistic regression,
//
//   min_W,b  1/2 ||W||^2 + 1/(2 beta) ||b - center||^2 + sum_i C_i [log sum_y exp(s_iy + cost(y, y_i)) - s_i,yi],
//
// by ascent of its dual, sum_i C_i (<p_i, cost_i> + entropy(p_i)) - 1/2 ||W||^2 - ..., one simplex p_i at a time. With
// the others fixed the best p solves log p_k + q p_k = a_k - u and sum p = 1, where a = h + q p_old, h the augmented
// scores and q = C_i (||x_i||^2 + beta). Newton's method on (log p, u) together, started at p_old, takes one to four
// steps; log p stays at or below 0, where the answer is. The gap of an example is C_i KL(p_i || softmax(h)).
//
// References: H.-F. Yu, F.-L. Huang, C.-J. Lin, Dual Coordinate Descent Methods for Logistic Regression and Maximum
// Entropy Models (2011), with all classes of an example in one exact step.
#include "joint_sums.hpp"

namespace linnaeus {
namespace {

constexpr double kLeast = 1e-290;  // stands for zero where a logarithm is taken
constexpr double kClose = 1e-8;    // Newton is done when the last step moved no more mass: its square is what is left
constexpr int kSteps = 60;

struct Room {
  std::vector<double> v, slope, rest;
  explicit Room(size_t k) : v(k), slope(k), rest(k) {}
};

// One step of Newton's method; returns the largest mass it moved.
LINNAEUS_CLONES double newton(const double* a, double q, size_t k, double* p, Room& room) {
  double *v = room.v.data(), *slope = room.slope.data(), *rest = room.rest.data();
  for (size_t c = 0; c < k; ++c) {
    slope[c] = 1.0 / (1.0 + q * p[c]);
    rest[c] = (a[c] - v[c] - q * p[c]) * slope[c];
  }
  double above = -1.0, below = 0.0;
  for (size_t c = 0; c < k; ++c) {
    above += p[c] + p[c] * rest[c];
    below += p[c] * slope[c];
  }
  double u = above / below, moved = 0.0;
  for (size_t c = 0; c < k; ++c) {
    rest[c] = std::min(-v[c], rest[c] - u * slope[c]);
    slope[c] = p[c];
    v[c] = p[c] = v[c] + rest[c];
  }
  exp_all(p, k);
  for (size_t c = 0; c < k; ++c) moved = std::max(moved, std::max(p[c], slope[c]) * std::fabs(rest[c]));
  return moved;
}

// p = softmax(v) and v its logarithm; returns log sum exp v.
double softmax(double* v, size_t k, double* p) {
  double top = largest(v, k), sum = 0;
  for (size_t c = 0; c < k; ++c) p[c] = v[c] - top;
  exp_all(p, k);
  for (size_t c = 0; c < k; ++c) sum += p[c];
  double total = top + elementary::log(sum);
  for (size_t c = 0; c < k; ++c) v[c] -= total, p[c] /= sum;
  return total;
}

// p: log p + q p = a - u, sum p = 1; started from room.v and p = exp v.
void solve_block(const double* a, double q, size_t k, double* p, Room& room) {
  for (int step = 0; step < kSteps && newton(a, q, k, p, room) > kClose;) ++step;
  double sum = 0;
  for (size_t c = 0; c < k; ++c) sum += p[c] = std::max(p[c], kLeast);
  for (size_t c = 0; c < k; ++c) p[c] /= sum;
}

template <class X>
double softmax_epoch(Sparse<X> rows, JointTruth truth, JointState state, Grid<double> costs, In<int32_t> order,
                     double beta) {
  Joint<X> joint(rows, truth, state, costs, "softmax_epoch");
  nb::gil_scoped_release release;
  size_t k = joint.k;
  Room room(k);
  std::vector<double> share(k), logs(k);
  return ascend(joint, order, beta, [&](size_t i, const Line<X>& x, double q, double* h, double* p) {
    joint.augmented(i, x, 0.0, h);
    const double* old = joint.P + i * k;
    for (size_t c = 0; c < k; ++c) p[c] = std::max(old[c], kLeast), logs[c] = h[c];
    softmax(logs.data(), k, share.data());
    log_all(p, room.v.data(), k);
    double gap = 0;
    for (size_t c = 0; c < k; ++c) gap += old[c] * (room.v[c] - logs[c]);
    joint.gaps[i] = joint.strengths[i] * gap;
    if (!(gap > 0)) return;
    bool first = false;  // still at its corner
    for (size_t c = 0; c < k; ++c) h[c] += q * old[c], first |= old[c] == 1.0;
    if (first) {
      room.v.assign(h, h + k);
      softmax(room.v.data(), k, p);
    }
    solve_block(h, q, k, p, room);
  });
}

template <class X>
auto softmax_sums(Sparse<X> rows, JointTruth truth, JointState state, Grid<double> costs, int threads) {
  Joint<X> joint(rows, truth, state, costs, "softmax_sums");
  std::vector<double> sums;
  {
    nb::gil_scoped_release release;
    size_t k = joint.k;
    sums = sum_joint(joint, threads, 0.0, [&](size_t i, double* h, double* out) {
      const double* p = joint.P + i * k;
      double top = largest(h, k), sum = 0;
      for (size_t c = 0; c < k; ++c) h[c] -= top;
      exp_all(h, k);
      for (size_t c = 0; c < k; ++c) sum += h[c];
      out[0] = top + elementary::log(sum);
      for (size_t c = 0; c < k; ++c) h[c] = std::max(p[c], kLeast);
      log_all(h, h, k);
      out[1] = charge(joint, i, 0.0);
      for (size_t c = 0; c < k; ++c) out[1] -= p[c] * h[c];
    });
  }
  return to_numpy(sums);
}

template <class X>
void bind(nb::module_& m) {
  using namespace nb::literals;
  m.def("softmax_epoch", &softmax_epoch<X>, "rows"_a, "truth"_a, "state"_a, "costs"_a, "order"_a, "beta"_a);
  m.def("softmax_sums", &softmax_sums<X>, "rows"_a, "truth"_a, "state"_a, "costs"_a, "threads"_a);
}

}  // namespace

void bind_dual_softmax(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace linnaeus
