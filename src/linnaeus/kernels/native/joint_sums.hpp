// What the duality gap is made of, summed over all examples in pieces of a fixed size, put together in their order.
#pragma once
#include "joint.hpp"

namespace linnaeus {

constexpr size_t kRowsPerSum = 256, kWeightsPerSum = size_t(1) << 16;

// ||w||^2 in eight lanes.
LINNAEUS_CLONES inline double square_sum(const double* w, size_t n) {
  double lanes[8] = {};
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (size_t lane = 0; lane < 8; ++lane) lanes[lane] += w[i + lane] * w[i + lane];
  for (size_t lane = 0; i < n; ++i, ++lane) lanes[lane] += w[i] * w[i];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// Sums (4 + 2k): C loss, C dual term, ||W||^2, C s_y, then C s and C p for each class; s without the bias.
// One(i, h, out) gets augmented scores and adds to out[0] max or soft max of h, to out[1] the dual term.
template <class X, class One>
std::vector<double> sum_joint(const Joint<X>& joint, int threads, double flat, One&& one) {
  size_t k = joint.k, n = joint.rows.count, width = 4 + 2 * k;
  size_t pieces = (n + kRowsPerSum - 1) / kRowsPerSum;
  size_t blocks = (joint.d * k + kWeightsPerSum - 1) / kWeightsPerSum;
  std::vector<double> parts(pieces * width), squares(blocks), sums(width);
  std::vector<std::vector<double>> rooms(size_t(std::max(threads, 1)), std::vector<double>(k));
  for_each_piece(pieces, threads, [&](size_t piece, int worker) {
    double *out = parts.data() + piece * width, *h = rooms[size_t(worker)].data();
    for (size_t i = piece * kRowsPerSum; i < std::min(n, (piece + 1) * kRowsPerSum); ++i) {
      double C = joint.strengths[i], two[2] = {};
      if (!(C > 0)) continue;
      size_t y = size_t(joint.labels[i]);
      std::fill(h, h + k, 0.0);
      dot_all(joint.line(i), joint.W, k, h);
      out[3] += C * h[y];
      for (size_t c = 0; c < k; ++c) out[4 + c] += C * h[c], out[4 + k + c] += C * joint.P[i * k + c];
      for (size_t c = 0; c < k; ++c) h[c] += joint.b[c];
      double gold = h[y];
      joint.add_costs(y, flat, h);
      one(i, h, two);
      out[0] += C * (two[0] - gold), out[1] += C * two[1];
    }
  });
  for_each_piece(blocks, threads, [&](size_t block, int) {
    size_t first = block * kWeightsPerSum;
    squares[block] = square_sum(joint.W + first, std::min(kWeightsPerSum, joint.d * k - first));
  });
  for (size_t piece = 0; piece < pieces; ++piece)
    for (size_t at = 0; at < width; ++at) sums[at] += parts[piece * width + at];
  for (double square : squares) sums[2] += square;
  return sums;
}

// <p_i, cost_i>, what the dual charges for mass on other classes than the true one.
template <class X>
double charge(const Joint<X>& joint, size_t i, double flat) {
  const double* p = joint.P + i * joint.k;
  size_t y = size_t(joint.labels[i]);
  double sum = 0;
  for (size_t c = 0; c < joint.k; ++c) sum += p[c] * (joint.costs ? joint.costs[y * joint.k + c] : c == y ? 0.0 : flat);
  return sum;
}

}  // namespace linnaeus
