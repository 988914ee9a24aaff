// Binary problems that have all rows of one sparse matrix in common, solved side by side in teams of 4, 8 or 16: what
// the kernels of such teams share.
//
// A row is read once for all problems of a team. Their weights lie together, the weights of one column in one line of
// memory, so that a stored value costs one line instead of one number out of each of many lines.
//
// rows   indptr (n+1), indices, data: the matrix, n x d
// box    squares (n) |x_i|^2; costs (n) C_i; factors (t, 2, l) by which a problem multiplies C_i of its negatives and
//        positives
// state  alpha (t, n, l); weights (t, d, l) = sum_i y_i alpha_i x_i, both float or both double; marks (t, n): bit c is
//        set where the row is positive for problem c; order (t, n): rows, the active ones in front, sorted; active (t);
//        facts (t, 8, l), below; seeds (t)
#pragma once
#include <cmath>
#include <cstring>
#include <limits>

#include "elementary.hpp"
#include "sparse.hpp"
#include "targets.hpp"

namespace linnaeus::team {

enum Fact { kCenter, kBeta, kTotal, kLow, kHigh, kDual, kEstimate, kFinished, kFacts };

template <class T>
using Cube = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Box = std::tuple<In<double>, In<double>, Cube<const double>>;
template <class R>
using State =
    std::tuple<Cube<R>, Cube<R>, Table<const uint16_t>, Table<int32_t>, InOut<int64_t>, Cube<double>, InOut<uint64_t>>;

// One number of each problem of a team.
#if defined(__GNUC__)
template <class R, size_t L>
struct Lanes {
  typedef R Type __attribute__((vector_size(L * sizeof(R))));
};
#else
template <class R, size_t L>
struct Lanes {
  struct Type {
    R v[L];
    Type& operator+=(const Type& other) {
      for (size_t c = 0; c < L; ++c) v[c] += other.v[c];
      return *this;
    }
    friend Type operator+(Type a, const Type& b) { return a += b; }
    friend Type operator*(R x, Type b) {
      for (R& v : b.v) v *= x;
      return b;
    }
  };
};
#endif

constexpr int64_t kAhead = 48;  // values of a row whose weights are asked for before they are needed

// x W for all problems: value i goes to sum i mod 4, and the sums are added in pairs.
template <class R, size_t L, class T>
LINNAEUS_INLINE void dot_row(const Lines<T>& rows, size_t row, const R* W, R* out) {
  typename Lanes<R, L>::Type sums[4] = {}, w;
  const int64_t end = rows.offsets[row + 1];
  int64_t i = rows.offsets[row];
  for (; i + 4 <= end; i += 4)
    for (int lane = 0; lane < 4; ++lane) {
      prefetch(W, size_t(rows.indices[std::min(i + lane + kAhead, end - 1)]) * L * sizeof(R));
      std::memcpy(&w, W + size_t(rows.indices[i + lane]) * L, sizeof w);
      sums[lane] += R(rows.values[i + lane]) * w;
    }
  for (int lane = 0; i < end; ++i, ++lane) {
    std::memcpy(&w, W + size_t(rows.indices[i]) * L, sizeof w);
    sums[lane] += R(rows.values[i]) * w;
  }
  w = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  std::memcpy(out, &w, sizeof w);
}

// W += x^T by.
template <class R, size_t L, class T>
LINNAEUS_INLINE void add_row(const Lines<T>& rows, size_t row, const R* by, R* W) {
  typename Lanes<R, L>::Type move, w;
  std::memcpy(&move, by, sizeof w);
  for (int64_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i) {
    R* at = W + size_t(rows.indices[i]) * L;
    std::memcpy(&w, at, sizeof w);
    w += R(rows.values[i]) * move;
    std::memcpy(at, &w, sizeof w);
  }
}

// |w|^2 of each problem.
template <class R, size_t L>
LINNAEUS_INLINE void add_squares(const R* W, size_t columns, double* out) {
  for (size_t j = 0; j < columns; ++j)
    for (size_t c = 0; c < L; ++c) out[c] += double(W[j * L + c]) * double(W[j * L + c]);
}

// One team's part of the arrays.
template <class R>
struct Team {
  R *alpha, *W;
  const uint16_t* marks;
  int32_t* order;
  int64_t* active;
  double* facts;
  uint64_t* seed;
  const double *squares, *costs, *factors;
  size_t n, d;
};

// All teams, the arrays checked against each other.
template <class R, class T>
struct Teams {
  Lines<T> rows;
  size_t count, n, d, lanes;

  Teams(const Sparse<T>& given, const Box& box, const State<R>& state) : rows(given, "team"), box_(box), state_(state) {
    auto& [alpha, weights, marks, order, active, facts, seeds] = state;
    auto& [squares, costs, factors] = box;
    count = alpha.shape(0), n = rows.count, d = weights.shape(1), lanes = alpha.shape(2);
    auto is = [](const auto& cube, size_t a, size_t b, size_t c) {
      return cube.shape(0) == a && cube.shape(1) == b && cube.shape(2) == c;
    };
    bool fits = (lanes == 4 || lanes == 8 || lanes == 16) && is(alpha, count, n, lanes) &&
                is(weights, count, d, lanes) && is(facts, count, kFacts, lanes) && is(factors, count, 2, lanes) &&
                marks.shape(0) == count && marks.shape(1) == n && order.shape(0) == count && order.shape(1) == n &&
                active.size() == count && seeds.size() == count && squares.size() == n && costs.size() == n;
    if (!fits) throw std::invalid_argument("team: the arrays do not fit each other");
    for (size_t t = 0; t < count; ++t)
      if (active.data()[t] < 0 || size_t(active.data()[t]) > n) throw std::invalid_argument("team: no such row");
    for (size_t i = 0; i < count * n; ++i)
      if (size_t(uint32_t(order.data()[i])) >= n) throw std::invalid_argument("team: no such row");
  }

  Team<R> team(size_t t) const {
    auto& [alpha, weights, marks, order, active, facts, seeds] = state_;
    auto& [squares, costs, factors] = box_;
    return {alpha.data() + t * n * lanes,
            weights.data() + t * d * lanes,
            marks.data() + t * n,
            order.data() + t * n,
            active.data() + t,
            facts.data() + t * kFacts * lanes,
            seeds.data() + t,
            squares.data(),
            costs.data(),
            factors.data() + t * 2 * lanes,
            n,
            d};
  }

  bool finished(size_t t) const {
    const double* of = team(t).facts + kFinished * lanes;
    return std::all_of(of, of + lanes, [](double value) { return value != 0.0; });
  }

 private:
  const Box& box_;
  const State<R>& state_;
};

// Whether no column of the matrix is without weights.
template <class T>
LINNAEUS_CLONES bool columns_fit(const Lines<T>& rows, size_t d) {
  return rows.fit(0, rows.count, d);
}

using elementary::choose;  // a compiler makes branches of ?: in these loops, and then no vectors

template <class R>
LINNAEUS_INLINE R positive_part(R value) {
  return choose(value > R(0), value, R(0));
}

// phi = max(0, 1 - m), a in [0, C].
struct Hinge {
  template <class R>
  static LINNAEUS_INLINE R top(R C) {  // a little below: the product of the costs may have been rounded up
    return C * (R(1) - R(4) * std::numeric_limits<R>::epsilon());
  }
  template <class R>
  static LINNAEUS_INLINE R slope(R, R m, R) {
    return m - R(1);
  }
  template <class R>
  static LINNAEUS_INLINE R step(R a, R slope, R q, R C) {
    R to = choose(q > R(0), a - slope / q, choose(slope < R(0), C, R(0)));
    to = positive_part(to);
    return choose(to < top(C), to, top(C));
  }
  template <class R>
  static LINNAEUS_INLINE R slack(R a, R slope, R, R C) {
    return choose(slope > R(0), a * slope, (a - C) * slope);
  }
  static LINNAEUS_INLINE double value(double m) { return positive_part(1.0 - m); }
  static LINNAEUS_INLINE double conjugate(double a, double) { return a; }
};

// phi = max(0, 1 - m)^2, a >= 0.
struct SquaredHinge {
  template <class R>
  static LINNAEUS_INLINE R top(R) {
    return std::numeric_limits<R>::infinity();
  }
  template <class R>
  static LINNAEUS_INLINE R slope(R a, R m, R C) {
    return m - R(1) + a * (R(0.5) / C);
  }
  template <class R>
  static LINNAEUS_INLINE R step(R a, R slope, R q, R C) {
    return positive_part(a - slope / (q + R(0.5) / C));
  }
  template <class R>
  static LINNAEUS_INLINE R slack(R a, R, R m, R C) {
    R off = positive_part(R(1) - m) - a * (R(0.5) / C);
    return C * off * off + a * positive_part(m - R(1));
  }
  static LINNAEUS_INLINE double value(double m) { return positive_part(1.0 - m) * positive_part(1.0 - m); }
  static LINNAEUS_INLINE double conjugate(double a, double C) { return a - a * a * (0.25 / C); }
};

// Calls run with the number of lanes as a constant.
template <class Run>
void with_lanes(size_t lanes, Run&& run) {
  if (lanes == 4) return run(std::integral_constant<size_t, 4>());
  if (lanes == 8) return run(std::integral_constant<size_t, 8>());
  run(std::integral_constant<size_t, 16>());
}

// Kernel::run for floats, for doubles over rows of floats, and for doubles.
template <class Kernel>
void bind(nb::module_& m, const char* name) {
  using namespace nb::literals;
  m.def(name, &Kernel::template run<float, float>, "rows"_a, "box"_a, "state"_a, "threads"_a);
  m.def(name, &Kernel::template run<double, float>, "rows"_a, "box"_a, "state"_a, "threads"_a);
  m.def(name, &Kernel::template run<double, double>, "rows"_a, "box"_a, "state"_a, "threads"_a);
}

}  // namespace linnaeus::team
