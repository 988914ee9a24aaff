// One epoch of dual coordinate ascent for one team of problems over the same rows.
//
// Problem, dual and bias are those of dual_epoch.cpp; here a visit moves the variables of one row in all problems of a
// team, each to its own optimum: they do not depend on each other. A row is left out from now on when each unfinished
// problem has its variable at a bound, with a slope that points outward by more than any slope of the last epoch;
// `team_gap` brings back those that were wrong. Variables of finished problems stay.
//
// Reference: C.-J. Hsieh et al., A Dual Coordinate Descent Method for Large-scale Linear SVM (2008).
#pragma once
#include <vector>

#include "strips.hpp"
#include "team.hpp"

namespace linnaeus::team {

// Memory of one thread.
struct Scratch {
  std::vector<int32_t> visits, gone;
  std::vector<uint8_t> left;
};

template <class Loss, class R, size_t L, class T>
struct Sweep {
  const Lines<T>& rows;
  const Team<R>& team;
  alignas(64) R low[L], high[L], least[L], most[L], beta[L], going[L], factor[2][L];
  alignas(64) double total[L], estimate[L], center[L], tie[L];

  Sweep(const Lines<T>& lines, const Team<R>& of) : rows(lines), team(of) {
    const double* facts = team.facts;
    for (size_t c = 0; c < L; ++c) {
      low[c] = R(facts[kLow * L + c]), high[c] = R(facts[kHigh * L + c]), beta[c] = R(facts[kBeta * L + c]);
      going[c] = R(facts[kFinished * L + c] == 0.0);
      factor[0][c] = R(team.factors[c]), factor[1][c] = R(team.factors[L + c]);
      total[c] = facts[kTotal * L + c], center[c] = facts[kCenter * L + c], tie[c] = facts[kBeta * L + c];
      least[c] = most[c] = 0, estimate[c] = 0;
    }
  }

  // Asks for the first weights of the row that is visited next.
  LINNAEUS_INLINE void expect(size_t row) const {
    int64_t begin = rows.offsets[row], end = std::min(rows.offsets[row + 1], begin + kAhead);
    for (int64_t i = begin; i < end; ++i) prefetch(team.W, size_t(rows.indices[i]) * L * sizeof(R));
  }

  // Asks for what is stored of a row that is visited soon.
  LINNAEUS_INLINE void announce(size_t row) const {
    prefetch(team.alpha, row * L * sizeof(R));
    prefetch(rows.indices + rows.offsets[row], 0);
    prefetch(rows.indices + rows.offsets[row], 64);
    prefetch(rows.values + rows.offsets[row], 0);
    prefetch(rows.values + rows.offsets[row], 64);
  }

  // The sign of a row in each problem, and what it costs there.
  LINNAEUS_INLINE void split(uint32_t marks, R cost, R* y, R* C) const {
    uint32_t positive[L];
    for (uint32_t c = 0; c < L; ++c) positive[c] = marks & (1u << c);
    for (size_t c = 0; c < L; ++c) {
      y[c] = choose(positive[c] != 0, R(1), R(-1));
      C[c] = cost * choose(positive[c] != 0, factor[1][c], factor[0][c]);
    }
  }

  // Moves the variables of a row; false if it is to be left out from now on.
  LINNAEUS_INLINE bool visit(size_t row) {
    R cost = R(team.costs[row]), square = R(team.squares[row]);
    if (!(cost > R(0))) return false;
    alignas(64) R s[L], y[L], C[L], bias[L], slack[L], moves[L], in[L];
    dot_row<R, L>(rows, row, team.W, s);
    split(team.marks[row], cost, y, C);
    for (size_t c = 0; c < L; ++c) bias[c] = R(center[c] + tie[c] * total[c]);
    R* a = team.alpha + row * L;
    for (size_t c = 0; c < L; ++c) {
      R m = y[c] * (s[c] + bias[c]), slope = Loss::slope(a[c], m, C[c]);
      bool bottom = (a[c] <= R(0)) & (slope > R(0)), top = (a[c] >= Loss::top(C[c])) & (slope < R(0));
      bool out = (bottom & (slope > high[c])) | (top & (slope < low[c]));
      in[c] = choose(out, R(0), choose(C[c] > R(0), going[c], R(0)));
      R projected = choose((bottom | top) | (in[c] == R(0)), R(0), slope);
      most[c] = choose(most[c] < projected, projected, most[c]);
      least[c] = choose(least[c] > projected, projected, least[c]);
      slack[c] = choose(in[c] > R(0), Loss::slack(a[c], slope, m, C[c]), R(0));
      R to = choose(projected != R(0), Loss::step(a[c], slope, square + beta[c], C[c]), a[c]);
      moves[c] = y[c] * (to - a[c]);
      a[c] = to;
    }
    R stays = 0, moved = 0;
    for (size_t c = 0; c < L; ++c) stays += in[c], moved += moves[c] * moves[c];
    for (size_t c = 0; c < L; ++c) estimate[c] += double(slack[c]), total[c] += double(moves[c]);
    if (moved > R(0)) add_row<R, L>(rows, row, moves, team.W);
    return stays > R(0);
  }
};

template <class Loss, class R, size_t L, class T>
LINNAEUS_CLONES void sweep_rows(Sweep<Loss, R, L, T>& sweep, const int32_t* visits, size_t n, uint8_t* left) {
  for (size_t i = 0; i < n; ++i) {
    if (i + 1 < n) sweep.expect(size_t(sweep.team.order[visits[i + 1]]));
    if (i + 3 < n) sweep.announce(size_t(sweep.team.order[visits[i + 3]]));
    size_t at = size_t(visits[i]);
    left[at] = !sweep.visit(size_t(sweep.team.order[at]));
  }
}

// Rows left out move behind the active ones; both keep their order.
template <class R>
void leave_out(const Team<R>& team, Scratch& s) {
  s.gone.clear();
  int64_t to = 0;
  for (int64_t at = 0; at < *team.active; ++at) {
    if (s.left[size_t(at)]) {
      s.gone.push_back(team.order[at]);
    } else {
      team.order[to++] = team.order[at];
    }
  }
  std::copy(s.gone.begin(), s.gone.end(), team.order + to);
  *team.active = to;
}

// The sum of y alpha and the dual value of each problem, anew.
template <class Loss, class R, size_t L>
LINNAEUS_CLONES void settle(const Team<R>& team, double* total, double* dual) {
  double norm[L] = {}, sums[2][L] = {}, factor[2][L];
  std::copy(team.factors, team.factors + 2 * L, factor[0]);
  for (size_t i = 0; i < team.n; ++i) {
    uint64_t marks = team.marks[i];
    for (size_t c = 0; c < L; ++c) {
      bool positive = (marks & (uint64_t(1) << c)) != 0;
      double a = double(team.alpha[i * L + c]), C = team.costs[i] * choose(positive, factor[1][c], factor[0][c]);
      sums[0][c] += choose(positive, a, -a);
      sums[1][c] += choose(C > 0.0, Loss::conjugate(a, C), 0.0);
    }
  }
  add_squares<R, L>(team.W, team.d, norm);
  for (size_t c = 0; c < L; ++c) total[c] = sums[0][c], dual[c] = sums[1][c] - 0.5 * norm[c];
}

template <class Loss, class R, size_t L, class T>
void run_epoch(const Lines<T>& rows, const Team<R>& team, Scratch& s) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  size_t active = size_t(*team.active);
  Sweep<Loss, R, L, T> sweep(rows, team);
  order_in_strips(int64_t(active), *team.seed, s.visits);
  s.left.assign(active, 0);
  sweep_rows(sweep, s.visits.data(), active, s.left.data());
  leave_out(team, s);
  double* facts = team.facts;
  settle<Loss, R, L>(team, facts + kTotal * L, facts + kDual * L);
  for (size_t c = 0; c < L; ++c) {
    facts[kLow * L + c] = sweep.least[c] < 0 ? double(sweep.least[c]) : -infinity;
    facts[kHigh * L + c] = sweep.most[c] > 0 ? double(sweep.most[c]) : infinity;
    facts[kEstimate * L + c] = sweep.estimate[c];
  }
}

}  // namespace linnaeus::team
