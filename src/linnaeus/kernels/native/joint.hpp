// Dual ascent for k classes scored together. Each example has a point p_i of the simplex, which starts at its true
// class;
//
//   W = sum_i C_i x_i (e_yi - p_i)^T  (d, k),    b = center + beta sum_i C_i (e_yi - p_i)  (k),
//
// and a step moves one p_i, W and b with it. Row j of W lies together: a stored value of X touches one run of k
// numbers. All arithmetic over classes is elementwise, and sums over the values of a row run in their order.
#pragma once
#include <cmath>
#include <cstring>

#include "elementary.hpp"
#include "parallel.hpp"
#include "sparse.hpp"
#include "targets.hpp"

namespace linnaeus {

constexpr size_t kBlock = 8, kInRegisters = 4;  // up to 32 classes stay in registers

#if defined(__GNUC__)
typedef double Block __attribute__((vector_size(kBlock * sizeof(double))));
#else
struct Block {
  double v[kBlock];
  Block& operator+=(const Block& other) {
    for (size_t c = 0; c < kBlock; ++c) v[c] += other.v[c];
    return *this;
  }
  friend Block operator*(double x, Block b) {
    for (double& v : b.v) v *= x;
    return b;
  }
};
#endif

// Where block q of Q begins: the last one ends with class k and may overlap the one before, with the same results.
template <size_t Q>
LINNAEUS_INLINE size_t block_at(size_t q, size_t k) {
  return q + 1 < Q ? q * kBlock : k - kBlock;
}

template <class X>
struct Line {
  const int32_t* columns;
  const X* values;
  size_t size;
};

// s += x W, for kBlock * (Q - 1) < k <= kBlock * Q classes.
template <size_t Q, class X>
LINNAEUS_INLINE void dot_blocks(const Line<X>& x, const double* W, size_t k, double* s) {
  Block sums[Q], w;
  for (size_t q = 0; q < Q; ++q) std::memcpy(&sums[q], s + block_at<Q>(q, k), sizeof w);
  for (size_t i = 0; i < x.size; ++i) {
    const double* row = W + size_t(x.columns[i]) * k;
    for (size_t q = 0; q < Q; ++q) {
      std::memcpy(&w, row + block_at<Q>(q, k), sizeof w);
      sums[q] += double(x.values[i]) * w;
    }
  }
  for (size_t q = 0; q < Q; ++q) std::memcpy(s + block_at<Q>(q, k), &sums[q], sizeof w);
}

// W += x^T move. All blocks of a row are read before one is written.
template <size_t Q, class X>
LINNAEUS_INLINE void add_blocks(const Line<X>& x, double* W, size_t k, const double* move) {
  Block by[Q], w[Q];
  for (size_t q = 0; q < Q; ++q) std::memcpy(&by[q], move + block_at<Q>(q, k), sizeof by[q]);
  for (size_t i = 0; i < x.size; ++i) {
    double* row = W + size_t(x.columns[i]) * k;
    for (size_t q = 0; q < Q; ++q) {
      std::memcpy(&w[q], row + block_at<Q>(q, k), sizeof w[q]);
      w[q] += double(x.values[i]) * by[q];
    }
    for (size_t q = 0; q < Q; ++q) std::memcpy(row + block_at<Q>(q, k), &w[q], sizeof w[q]);
  }
}

template <class X>
LINNAEUS_CLONES void dot_all(const Line<X>& x, const double* W, size_t k, double* s) {
  if (k >= kBlock && k <= kBlock * kInRegisters) {
    if (k == kBlock) return dot_blocks<1>(x, W, k, s);
    if (k <= 2 * kBlock) return dot_blocks<2>(x, W, k, s);
    return k <= 3 * kBlock ? dot_blocks<3>(x, W, k, s) : dot_blocks<4>(x, W, k, s);
  }
  for (size_t i = 0; i < x.size; ++i) {
    const double* row = W + size_t(x.columns[i]) * k;
    double value = double(x.values[i]);
    for (size_t c = 0; c < k; ++c) s[c] += value * row[c];
  }
}

template <class X>
LINNAEUS_CLONES void add_all(const Line<X>& x, double* W, size_t k, const double* move) {
  if (k >= kBlock && k <= kBlock * kInRegisters) {
    if (k == kBlock) return add_blocks<1>(x, W, k, move);
    if (k <= 2 * kBlock) return add_blocks<2>(x, W, k, move);
    return k <= 3 * kBlock ? add_blocks<3>(x, W, k, move) : add_blocks<4>(x, W, k, move);
  }
  for (size_t i = 0; i < x.size; ++i) {
    double* row = W + size_t(x.columns[i]) * k;
    double value = double(x.values[i]);
    for (size_t c = 0; c < k; ++c) row[c] += value * move[c];
  }
}

// ||x||^2 in eight lanes, value i in lane i mod 8, added in pairs.
template <class X>
LINNAEUS_CLONES double square_line(const Line<X>& x) {
  double lanes[8] = {};
  size_t i = 0;
  for (; i + 8 <= x.size; i += 8)
    for (size_t lane = 0; lane < 8; ++lane) lanes[lane] += double(x.values[i + lane]) * double(x.values[i + lane]);
  for (size_t lane = 0; i < x.size; ++i, ++lane) lanes[lane] += double(x.values[i]) * double(x.values[i]);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

LINNAEUS_CLONES inline void exp_all(double* v, size_t k) {
  for (size_t c = 0; c < k; ++c) v[c] = elementary::exp(v[c]);
}
LINNAEUS_CLONES inline void log_all(const double* p, double* v, size_t k) {
  for (size_t c = 0; c < k; ++c) v[c] = elementary::log(p[c]);
}

template <class T>
using Grid = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using GridInOut = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using JointTruth = std::tuple<In<int32_t>, In<double>>;                                             // y, C  (n)
using JointState = std::tuple<GridInOut<double>, InOut<double>, GridInOut<double>, InOut<double>>;  // W, b, P, gaps

// The arrays of a problem and its state, checked.
template <class X>
struct Joint {
  Lines<X> rows;
  const int32_t* labels;
  const double* strengths;
  double *W, *b, *P, *gaps;
  const double* costs;  // (k, k), a row for each truth; or none
  size_t d, k;

  Joint(const Sparse<X>& given, const JointTruth& truth, const JointState& state, const Grid<double>& table,
        const char* who)
      : rows(given, who),
        labels(std::get<0>(truth).data()),
        strengths(std::get<1>(truth).data()),
        W(std::get<0>(state).data()),
        b(std::get<1>(state).data()),
        P(std::get<2>(state).data()),
        gaps(std::get<3>(state).data()),
        costs(table.size() ? table.data() : nullptr),
        d(std::get<0>(state).shape(0)),
        k(std::get<0>(state).shape(1)) {
    size_t n = rows.count;
    bool fits = k > 0 && std::get<0>(truth).size() == n && std::get<1>(truth).size() == n &&
                std::get<1>(state).size() == k && std::get<2>(state).shape(0) == n &&
                std::get<2>(state).shape(1) == k && std::get<3>(state).size() == n &&
                (!table.size() || (table.shape(0) == k && table.shape(1) == k));
    if (!fits) throw std::invalid_argument(std::string(who) + ": the arrays do not fit each other");
    for (size_t i = 0; i < n; ++i)
      if (size_t(uint32_t(labels[i])) >= k) throw std::invalid_argument(std::string(who) + ": a label is no class");
  }

  Line<X> line(size_t i) const {
    if (!rows.fits(i, d)) throw std::invalid_argument("joint: a column has no weights");
    int64_t begin = rows.offsets[i];
    return {rows.indices + begin, rows.values + begin, size_t(rows.offsets[i + 1] - begin)};
  }

  // Asks for the weights of a row that is needed soon.
  void expect(size_t i) const {
    for (int64_t at = rows.offsets[i]; at < rows.offsets[i + 1]; ++at)
      for (size_t byte = 0; byte < k * sizeof(double) && byte < 256; byte += 64)
        prefetch(W, size_t(uint32_t(rows.indices[at])) * k * sizeof(double) + byte);
  }

  // h = b + x W + cost, where a mistake costs `flat` if there is no table.
  void augmented(size_t i, const Line<X>& x, double flat, double* h) const {
    std::memcpy(h, b, k * sizeof(double));
    dot_all(x, W, k, h);
    add_costs(size_t(labels[i]), flat, h);
  }

  void add_costs(size_t y, double flat, double* h) const {
    if (costs) {
      for (size_t c = 0; c < k; ++c) h[c] += costs[y * k + c];
    } else if (flat != 0) {
      for (size_t c = 0; c < k; ++c) h[c] += c == y ? 0.0 : flat;
    }
  }

  // Puts p_i at p, and W and b where that belongs; p is lost.
  void move(size_t i, const Line<X>& x, double beta, double* p) const {
    double* old = P + i * k;
    double moved = 0;
    for (size_t c = 0; c < k; ++c) {
      double was = old[c];
      old[c] = p[c];
      p[c] = strengths[i] * (was - p[c]);
      moved = std::max(moved, std::fabs(p[c]));
    }
    if (moved == 0) return;
    add_all(x, W, k, p);
    for (size_t c = 0; c < k; ++c) b[c] += beta * p[c];
  }
};

inline double largest(const double* h, size_t k) { return *std::max_element(h, h + k); }

// One visit to each example of `order`. Solve(joint, i, h, q, p) makes the new p and returns the gap before the step.
template <class X, class Solve>
double ascend(const Joint<X>& joint, In<int32_t> order, double beta, Solve&& solve) {
  for (size_t t = 0; t < order.size(); ++t)
    if (size_t(uint32_t(order.data()[t])) >= joint.rows.count) throw std::invalid_argument("ascend: no such row");
  if (!(beta >= 0)) throw std::invalid_argument("ascend: beta is not negative");
  std::vector<double> h(joint.k), p(joint.k);
  double total = 0;
  for (size_t t = 0; t < order.size(); ++t) {
    size_t i = size_t(order.data()[t]);
    if (t + 1 < order.size()) joint.expect(size_t(order.data()[t + 1]));
    joint.gaps[i] = 0;
    double C = joint.strengths[i];
    if (!(C > 0)) continue;
    Line<X> x = joint.line(i);
    solve(i, x, C * (square_line(x) + beta), h.data(), p.data());
    total += joint.gaps[i];
    if (joint.gaps[i] > 0) joint.move(i, x, beta, p.data());
  }
  return total;
}

}  // namespace linnaeus
