// The certificate of teams of problems: primal and dual value of each, from the scores of all rows.
//
// Returned (t, 3, l): primal value 1/2 |w|^2 + sum_i C_i phi(m_i), dual value, and dual value of a balanced point, as
// dual_gap.cpp says. The weights are rounded as they grow, so w is not quite u = sum_i y_i alpha_i x_i, whose length
// the dual value asks for. But u.w follows from the scores, and |u|^2 = 2 u.w - |w|^2 + |u - w|^2: what is left out is
// the square of an error of rounding.
//
// Rows that were left out and whose variable would move in an unfinished problem are made active again.
#include <vector>

#include "parallel.hpp"
#include "team.hpp"

namespace linnaeus {
namespace {

using namespace team;

constexpr size_t kRowsPerPiece = 1024, kColumnsPerPiece = 1 << 14;

template <size_t L>
struct Sums {
  alignas(64) double loss[L] = {}, dual[L] = {}, balanced[L] = {}, met[L] = {}, kept[L] = {}, length[L] = {};
};

// By what the variables of negatives and positives are multiplied so that both sides weigh the same.
template <class R, size_t L>
LINNAEUS_CLONES void balance(const Team<R>& team, double* keep) {
  double sides[2][L] = {};
  for (size_t i = 0; i < team.n; ++i)
    for (size_t c = 0; c < L; ++c) {
      double a = double(team.alpha[i * L + c]);
      bool positive = (team.marks[i] >> c) & 1;
      sides[0][c] += positive ? 0.0 : a;
      sides[1][c] += positive ? a : 0.0;
    }
  for (size_t c = 0; c < L; ++c) {
    size_t heavy = sides[1][c] > sides[0][c];
    keep[c] = keep[L + c] = 1.0;
    if (sides[heavy][c] > 0.0 && team.facts[kBeta * L + c] > 0.0)
      keep[heavy * L + c] = sides[1 - heavy][c] / sides[heavy][c];
  }
}

template <class R, size_t L, class T>
LINNAEUS_INLINE void score(const Lines<T>& rows, size_t row, const R* W, double* out) {
  alignas(64) double sums[2][L] = {};
  const int64_t begin = rows.offsets[row], end = rows.offsets[row + 1];
  for (int64_t i = begin; i < end; ++i) {
    const R* w = W + size_t(rows.indices[i]) * L;
    double x = double(rows.values[i]), *to = sums[(i - begin) & 1];
    for (size_t c = 0; c < L; ++c) to[c] += x * double(w[c]);
  }
  for (size_t c = 0; c < L; ++c) out[c] = sums[0][c] + sums[1][c];
}

// Adds up the rows of a piece; moves[i] says whether row i has a variable that a step would move.
template <class Loss, class R, size_t L, class T>
LINNAEUS_CLONES void add_up(const Lines<T>& rows, const Team<R>& team, const double* keep, size_t first, size_t last,
                            uint8_t* moves, Sums<L>& sums) {
  alignas(64) double s[L];
  const double* facts = team.facts;
  for (size_t i = first; i < last; ++i) {
    moves[i] = 0;
    if (!(team.costs[i] > 0.0)) continue;
    score<R, L>(rows, i, team.W, s);
    double length = std::sqrt(team.squares[i]), open[L], any = 0;
    uint64_t marks = team.marks[i];
    for (size_t c = 0; c < L; ++c) {
      bool positive = (marks & (uint64_t(1) << c)) != 0;
      double y = choose(positive, 1.0, -1.0),
             C = team.costs[i] * choose(positive, team.factors[L + c], team.factors[c]);
      double part = choose(positive, keep[L + c], keep[c]), a = double(team.alpha[i * L + c]);
      double m = y * (s[c] + (facts[kCenter * L + c] + facts[kBeta * L + c] * facts[kTotal * L + c]));
      double slope = Loss::slope(a, m, C);
      sums.loss[c] += C * Loss::value(m);
      sums.dual[c] += choose(C > 0.0, Loss::conjugate(a, C), 0.0);
      sums.balanced[c] += choose(C > 0.0, Loss::conjugate(a * part, C), 0.0);
      sums.met[c] += a * y * s[c];
      sums.kept[c] += part * a * y * s[c];
      sums.length[c] += (1.0 - part) * a * length;
      bool moving = ((slope < 0.0) & (a < double(Loss::top(R(C))))) | ((slope > 0.0) & (a > 0.0));
      open[c] = choose(moving & (C > 0.0) & (facts[kFinished * L + c] == 0.0), 1.0, 0.0);
    }
    for (size_t c = 0; c < L; ++c) any += open[c];
    moves[i] = any > 0.0;
  }
}

// Rows behind the active ones that move come to the front; both parts are sorted.
template <class R>
void activate(const Team<R>& team, const uint8_t* moves) {
  int32_t *first = team.order, *middle = first + *team.active, *last = first + team.n;
  int32_t* to = std::partition(middle, last, [&](int32_t row) { return moves[row] != 0; });
  std::sort(first, to);
  std::sort(to, last);
  *team.active = to - first;
}

template <class R, size_t L>
LINNAEUS_CLONES void norms(const Team<R>& team, size_t first, size_t last, double* out) {
  add_squares<R, L>(team.W + first * L, last - first, out);
}

template <class Loss, size_t L, class R, class T>
void measure(const Teams<R, T>& teams, int threads, double* values) {
  size_t pieces = (teams.n + kRowsPerPiece - 1) / kRowsPerPiece;
  size_t blocks = (teams.d + kColumnsPerPiece - 1) / kColumnsPerPiece, each = pieces + blocks;
  std::vector<Sums<L>> sums(teams.count * pieces);
  std::vector<double> squares(teams.count * blocks * L), keep(teams.count * 2 * L);
  std::vector<uint8_t> moves(teams.count * teams.n);
  for_each_piece(teams.count, threads, [&](size_t t, int) {
    if (!teams.finished(t)) balance<R, L>(teams.team(t), keep.data() + t * 2 * L);
  });
  for_each_piece(teams.count * each, threads, [&](size_t at, int) {
    size_t t = at / each, piece = at % each;
    if (teams.finished(t)) return;
    if (piece < pieces) {
      size_t first = piece * kRowsPerPiece, last = std::min(teams.n, first + kRowsPerPiece);
      add_up<Loss, R, L>(teams.rows, teams.team(t), keep.data() + t * 2 * L, first, last, moves.data() + t * teams.n,
                         sums[t * pieces + piece]);
    } else {
      size_t block = piece - pieces, first = block * kColumnsPerPiece;
      norms<R, L>(teams.team(t), first, std::min(teams.d, first + kColumnsPerPiece),
                  squares.data() + (t * blocks + block) * L);
    }
  });
  for (size_t t = 0; t < teams.count; ++t) {
    if (teams.finished(t)) continue;
    Sums<L> all;
    double norm[L] = {}, *out = values + t * 3 * L;
    for (size_t c = 0; c < L; ++c) {
      for (size_t p = t * pieces; p < (t + 1) * pieces; ++p) {
        all.loss[c] += sums[p].loss[c], all.dual[c] += sums[p].dual[c], all.balanced[c] += sums[p].balanced[c];
        all.met[c] += sums[p].met[c], all.kept[c] += sums[p].kept[c], all.length[c] += sums[p].length[c];
      }
      for (size_t b = t * blocks; b < (t + 1) * blocks; ++b) norm[c] += squares[b * L + c];
      double half = 0.5 * norm[c];
      out[c] = half + all.loss[c];
      out[L + c] = all.dual[c] - (all.met[c] - half);
      out[2 * L + c] = all.balanced[c] - (all.kept[c] - half + 0.5 * all.length[c] * all.length[c]);
    }
    activate(teams.team(t), moves.data() + t * teams.n);
  }
}

template <class Loss, class R, class T>
auto gap(Sparse<T> rows, Box box, State<R> state, int threads) {
  Teams<R, T> teams(rows, box, state);
  Buffer<double> values(teams.count * 3 * teams.lanes);
  std::fill(values.get(), values.get() + values.size(), 0.0);
  {
    nb::gil_scoped_release release;
    if (!columns_fit(teams.rows, teams.d)) throw std::invalid_argument("team: a column has no weights");
    with_lanes(teams.lanes, [&](auto lanes) { measure<Loss, lanes.value>(teams, threads, values.get()); });
  }
  return to_numpy(std::move(values));
}

template <class Loss>
struct Gap {
  template <class R, class T>
  static auto run(Sparse<T> rows, Box box, State<R> state, int threads) {
    return gap<Loss, R, T>(rows, box, state, threads);
  }
};

}  // namespace

void bind_team_gap(nb::module_& m) {
  bind<Gap<Hinge>>(m, "team_gap_hinge");
  bind<Gap<SquaredHinge>>(m, "team_gap_squared_hinge");
}

}  // namespace linnaeus
