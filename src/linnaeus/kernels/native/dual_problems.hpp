// Independent binary problems over one sparse matrix, as the kernels of dual ascent see them. All that changes lies in
// arrays of the caller, so that an epoch can be followed by a checkpoint and another epoch in another process.
//
// rows   indptr (n+1), indices, data: the matrix, n x d
// box    squares (n) |x_i|^2; costs (n) C_i; factors (p, 2) by which a problem multiplies C_i of its negatives,
// positives state  alpha (p, n); weights (p, d) = sum_i y_i alpha_i x_i; order: the members of all problems, a positive
// row i as
//        i, a negative one as -1 - i; starts (p+1) into order; counts (p, 2): how many members at the front of a
//        problem's order are active (best sorted by row), and whether the problem is finished; facts (p, 8), below;
//        seeds (p)
#pragma once
#include <cmath>
#include <limits>

#include "lanes.hpp"
#include "targets.hpp"

namespace linnaeus::dual {

enum Fact { kCenter, kBeta, kTotal, kLow, kHigh, kDual, kEstimate, kViolation, kFacts };
enum Count { kActive, kFinished, kCounts };

using Box = std::tuple<In<double>, In<double>, In<double>>;
using State = std::tuple<InOut<double>, InOut<double>, InOut<int32_t>, In<int64_t>, InOut<int64_t>, InOut<double>,
                         InOut<uint64_t>>;

// Whether all columns of a row are below d. A negative column is a large one without its sign.
LINNAEUS_CLONES [[maybe_unused]] static bool columns_fit(const int32_t* columns, int64_t n, uint32_t d) {
  uint32_t highest = 0;
  for (int64_t i = 0; i < n; ++i) highest = std::max(highest, uint32_t(columns[i]));
  return n == 0 || highest < d;
}

// The matrix, its offsets checked; columns are checked row by row where they are used.
template <class T>
struct Matrix {
  Lines<T> lines;
  uint32_t d;

  Matrix(const Sparse<T>& rows, size_t width) : lines(rows, "dual"), d(uint32_t(width)) {}

  bool fits(int32_t row) const {
    int64_t begin = lines.offsets[row], end = lines.offsets[row + 1];
    return columns_fit(lines.indices + begin, end - begin, d);
  }

  void check(int32_t row) const {
    if (!fits(row)) throw std::invalid_argument("dual: a column has no weight");
  }

  // x.w and w += by * x, for a row whose columns fit.
  double dot(int32_t row, const double* w) const { return dot_line(lines, size_t(row), w); }
  void add(int32_t row, double by, double* w) const { add_line(lines, size_t(row), by, w); }

  // Takes back what `add` put into zeros.
  void clear(int32_t row, double* w) const {
    for (int64_t i = lines.offsets[row]; i < lines.offsets[row + 1]; ++i) w[lines.indices[i]] = 0.0;
  }
};

inline int32_t row_of(int32_t member) { return member < 0 ? ~member : member; }
inline double sign_of(int32_t member) { return member < 0 ? -1.0 : 1.0; }

// One problem's part of the arrays.
struct Problem {
  double* alpha;
  double* w;
  int32_t* order;
  int64_t size;
  int64_t* counts;
  double* facts;
  uint64_t* seed;
  const double* squares;
  const double* costs;
  const double* factors;
  size_t d;

  double cost(int32_t member) const { return costs[row_of(member)] * factors[member >= 0]; }
  double bias() const { return facts[kCenter] + facts[kBeta] * facts[kTotal]; }
  double squared_norm() const {
    double lanes[4] = {};
    for (size_t j = 0; j < d; ++j) lanes[j % 4] += w[j] * w[j];
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  }
};

// All problems of a wave, the arrays checked against each other.
class Wave {
 public:
  size_t count, n, d;

  Wave(const Box& box, const State& state, size_t rows) : n(rows), box_(box), state_(state) {
    auto& [alpha, weights, order, starts, counts, facts, seeds] = state;
    auto& [squares, costs, factors] = box;
    count = seeds.size();
    d = count ? weights.size() / count : 0;
    bool fits = starts.size() == count + 1 && counts.size() == count * kCounts && facts.size() == count * kFacts &&
                factors.size() == count * 2 && alpha.size() == count * n && weights.size() == count * d &&
                squares.size() == n && costs.size() == n && d <= size_t(std::numeric_limits<int32_t>::max()) &&
                starts.data()[0] >= 0 && uint64_t(starts.data()[count]) <= order.size();
    if (!fits) throw std::invalid_argument("dual: the arrays of the problems do not fit each other");
    for (size_t p = 0; p < count; ++p) check(p);
  }

  bool finished(size_t p) const { return std::get<4>(state_).data()[p * kCounts + kFinished] != 0; }

  Problem problem(size_t p) const {
    auto& [alpha, weights, order, starts, counts, facts, seeds] = state_;
    auto& [squares, costs, factors] = box_;
    int64_t begin = starts.data()[p], end = starts.data()[p + 1];
    return {alpha.data() + p * n,
            weights.data() + p * d,
            order.data() + begin,
            end - begin,
            counts.data() + p * kCounts,
            facts.data() + p * kFacts,
            seeds.data() + p,
            squares.data(),
            costs.data(),
            factors.data() + p * 2,
            d};
  }

 private:
  void check(size_t p) const {
    auto& [alpha, weights, order, starts, counts, facts, seeds] = state_;
    int64_t begin = starts.data()[p], end = starts.data()[p + 1], active = counts.data()[p * kCounts + kActive];
    if (begin > end || uint64_t(end) > order.size() || active < 0 || active > end - begin)
      throw std::invalid_argument("dual: the members of a problem do not fit");
    for (int64_t i = begin; i < end; ++i)
      if (size_t(row_of(order.data()[i])) >= n) throw std::invalid_argument("dual: a member is no row");
  }

  const Box& box_;
  const State& state_;
};

}  // namespace linnaeus::dual
