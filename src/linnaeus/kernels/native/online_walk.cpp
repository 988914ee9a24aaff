// The walks over the nonzeros of an example: scores, steps, and the flow of a penalty.
//
// Each is elementwise over classes, so it is compiled for several processors and has the same bits on all of them.
#include <algorithm>
#include <cmath>

#include "elementary.hpp"
#include "online_table.hpp"
#include "tables.hpp"
#include "targets.hpp"

#if defined(__GNUC__)
#define LINNAEUS_INLINE inline __attribute__((always_inline))
#else
#define LINNAEUS_INLINE inline
#endif

namespace linnaeus::online {
namespace {

constexpr size_t kFetched = 2048;  // rows fetched ahead, at most: more would push each other out of the cache

template <class S>
LINNAEUS_INLINE void fetch(const S* begin, const S* end) {
  for (auto* p = reinterpret_cast<const char*>(begin); p < reinterpret_cast<const char*>(end); p += 64) prefetch(p);
}

// Work on every nonzero of the example, with the same part of the next example's rows fetched beside it.
template <class S, class Work>
LINNAEUS_INLINE void walk(Table<S> t, Row<S> r, Ahead next, size_t from, size_t to, Work work) {
  size_t ahead = std::min(next.n, kFetched), both = std::min(r.n, ahead), p = 0;
  for (; p < both; ++p) {
    const S* row = t.row(next.columns[p]);
    fetch(row + from, row + to);
    work(t.row(r.columns[p]), r.values[p]);
  }
  for (size_t q = p; q < ahead; ++q) fetch(t.row(next.columns[q]) + from, t.row(next.columns[q]) + to);
  for (; p < r.n; ++p) work(t.row(r.columns[p]), r.values[p]);
}

// One class: four sums, for one would wait for itself at every nonzero.
template <class S>
LINNAEUS_INLINE void add_score(Table<S> t, Row<S> r, Ahead next, double* scores) {
  double sums[4] = {};
  size_t p = 0;
  walk(t, r, next, 0, 1, [&](const S* row, S x) { sums[p++ % 4] += double(x) * double(row[0]); });
  scores[0] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Rows are as long as whole vectors, or one or two classes; saying so spares the code for what is left over.
template <class S>
LINNAEUS_INLINE size_t whole(size_t lanes) {
  return lanes < kVector<S> ? lanes : lanes / kVector<S> * kVector<S>;
}

// Q blocks of B classes: their sums stay in registers, where in memory each would wait for its own store.
template <size_t Q, size_t B, class S>
LINNAEUS_INLINE void add_blocks(Table<S> t, Row<S> r, size_t from, double* __restrict scores) {
  double sums[Q][B];
  for (size_t q = 0; q < Q; ++q)
    for (size_t c = 0; c < B; ++c) sums[q][c] = scores[from + q * B + c];
  for (size_t p = 0; p < r.n; ++p) {
    const S* __restrict row = t.row(r.columns[p]) + from;
    double x = double(r.values[p]);
    for (size_t q = 0; q < Q; ++q)
      for (size_t c = 0; c < B; ++c) sums[q][c] += x * double(row[q * B + c]);
  }
  for (size_t q = 0; q < Q; ++q)
    for (size_t c = 0; c < B; ++c) scores[from + q * B + c] = sums[q][c];
}

template <class S>
LINNAEUS_INLINE void add_all(Table<S> t, Row<S> r, Ahead next, double* scores) {
  if (t.lanes == 1) return add_score(t, r, next, scores);
  walk(t, Row<S>{nullptr, nullptr, 0}, next, 0, t.lanes, [](const S*, S) {});
  if (t.lanes == 2) return add_blocks<1, 2>(t, r, 0, scores);
  size_t from = 0;
  for (; from + 32 <= t.lanes; from += 32) add_blocks<4, 8>(t, r, from, scores);
  for (; from + 16 <= t.lanes; from += 16) add_blocks<2, 8>(t, r, from, scores);
  for (; from + 8 <= t.lanes; from += 8) add_blocks<1, 8>(t, r, from, scores);
  for (; from < t.lanes; from += 4) add_blocks<1, 4>(t, r, from, scores);
}

// How far a weight moves against a gradient q, the rule's accumulators being a and b.
template <class S>
LINNAEUS_INLINE S move(const PlainRule& rule, S, S&, S&, S q) {
  return S(rule.rate) * q;
}

template <class S>
LINNAEUS_INLINE S move(const AdaptiveRule& rule, S, S& a, S&, S q) {
  a += q * q;
  return S(rule.rate) * q / std::sqrt(S(rule.eps) + a);
}

// FTRL-proximal: a is z, b is n; the weight is where the linear and proximal terms and the penalty balance.
template <class S>
LINNAEUS_INLINE S move(const ProximalRule& rule, S w, S& a, S& b, S q) {
  S before = std::sqrt(b);
  b += q * q;
  S after = std::sqrt(b);
  a += q - (after - before) / S(rule.alpha) * w;
  S over = std::fabs(a) - S(rule.l1);
  S target = -std::copysign(over, a) / ((S(rule.beta) + after) / S(rule.alpha) + S(rule.l2));
  return w - (over > 0 ? target : S(0));
}

template <class S, class Rule, bool Mean>
LINNAEUS_INLINE void step_row(S* row, size_t lanes, const S* __restrict gradient, S x, const Rule& rule, S lag) {
  constexpr size_t parts = Rule::kParts;
  S* __restrict w = row;
  S* __restrict a = row + (parts > 1 ? lanes : 0);
  S* __restrict b = row + (parts > 2 ? 2 * lanes : 0);
  S* __restrict u = row + (Mean ? parts * lanes : 0);
  S none = 0;
  for (size_t c = 0; c < whole<S>(lanes); ++c) {
    S by = move(rule, w[c], parts > 1 ? a[c] : none, parts > 2 ? b[c] : none, x * gradient[c]);
    w[c] -= by;
    if constexpr (Mean) u[c] -= lag * by;
  }
}

template <class S, class Rule, bool Mean>
LINNAEUS_INLINE void step_few(S* row, size_t lanes, const Pull<S>& g, S x, const Rule& rule, S lag) {
  S none = 0;
  for (size_t i = 0; i < g.count; ++i) {
    S* at = row + g.active[i];
    S& a = Rule::kParts > 1 ? at[lanes] : none;
    S& b = Rule::kParts > 2 ? at[2 * lanes] : none;
    S by = move(rule, *at, a, b, x * g.gradient[g.active[i]]);
    *at -= by;
    if constexpr (Mean) at[Rule::kParts * lanes] -= lag * by;
  }
}

template <class S, class Rule, bool Mean>
LINNAEUS_INLINE void step(Table<S> t, Row<S> r, Ahead next, Pull<S> g, const Rule& rule, S lag) {
  if (4 * g.count <= t.lanes)
    walk(t, r, Ahead{nullptr, 0}, 0, 0, [&](S* row, S x) { step_few<S, Rule, Mean>(row, t.lanes, g, x, rule, lag); });
  else
    walk(t, r, next, t.lanes, (Rule::kParts + Mean) * t.lanes,
         [&](S* row, S x) { step_row<S, Rule, Mean>(row, t.lanes, g.gradient, x, rule, lag); });
}

LINNAEUS_INLINE double flown(double w, double time, const Flow& flow) {
  if (flow.l1 == 0) return w * elementary::exp(-flow.l2 * time);
  double size = std::fabs(w);
  double left =
      flow.l2 == 0 ? size - flow.l1 * time : size + (size + flow.l1 / flow.l2) * elementary::expm1(-flow.l2 * time);
  return std::copysign(std::max(0.0, left), w);
}

LINNAEUS_INLINE void settle_row(const PlainRule&, double* __restrict w, size_t lanes, double time, const Flow& flow) {
  if (flow.l1 == 0) {
    double left = elementary::exp(-flow.l2 * time);
    for (size_t c = 0; c < whole<double>(lanes); ++c) w[c] *= left;
  } else {
    for (size_t c = 0; c < whole<double>(lanes); ++c) w[c] = flown(w[c], time, flow);
  }
}

LINNAEUS_INLINE void settle_row(const AdaptiveRule& rule, double* row, size_t lanes, double time, const Flow& flow) {
  double* __restrict w = row;
  const double* __restrict a = row + lanes;
  double eps = rule.eps;
  if (flow.l1 == 0) {
    double by = -flow.l2 * time;
    for (size_t c = 0; c < whole<double>(lanes); ++c) w[c] *= elementary::exp(by / std::sqrt(eps + a[c]));
  } else {
    for (size_t c = 0; c < whole<double>(lanes); ++c) w[c] = flown(w[c], time / std::sqrt(eps + a[c]), flow);
  }
}

template <class Rule>
LINNAEUS_INLINE void settle_rows(Table<double> t, Row<double> r, Ahead next, const Rule& rule, Flow flow) {
  walk(t, r, next, 0, t.stride, [&](double* row, double) {
    double& clock = row[Rule::kParts * t.lanes];
    double time = flow.now - clock;
    clock = flow.now;
    if (time != 0) settle_row(rule, row, t.lanes, time, flow);
  });
}

LINNAEUS_INLINE void settle_sums(double* row, size_t lanes, double times, double left) {
  double* __restrict w = row;
  double* __restrict u = row + lanes;
  for (size_t c = 0; c < whole<double>(lanes); ++c) {
    u[c] += w[c] * times;
    w[c] *= left;
  }
}

}  // namespace

LINNAEUS_CLONES void add_scores(Table<float> t, Row<float> r, Ahead next, double* scores) {
  add_all(t, r, next, scores);
}
LINNAEUS_CLONES void add_scores(Table<double> t, Row<double> r, Ahead next, double* scores) {
  add_all(t, r, next, scores);
}

#define LINNAEUS_STEP(S, RULE)                                                             \
  LINNAEUS_CLONES void take_step(Table<S> t, Row<S> r, Ahead next, Pull<S> g, RULE rule) { \
    step<S, RULE, false>(t, r, next, g, rule, S(0));                                       \
  }
#define LINNAEUS_MEAN_STEP(S, RULE)                                                                    \
  LINNAEUS_CLONES void take_mean_step(Table<S> t, Row<S> r, Ahead next, Pull<S> g, RULE rule, S lag) { \
    step<S, RULE, true>(t, r, next, g, rule, lag);                                                     \
  }
LINNAEUS_STEP(float, PlainRule)
LINNAEUS_STEP(double, PlainRule)
LINNAEUS_STEP(float, AdaptiveRule)
LINNAEUS_STEP(double, AdaptiveRule)
LINNAEUS_STEP(float, ProximalRule)
LINNAEUS_STEP(double, ProximalRule)
LINNAEUS_MEAN_STEP(float, PlainRule)
LINNAEUS_MEAN_STEP(double, PlainRule)
LINNAEUS_MEAN_STEP(float, AdaptiveRule)
LINNAEUS_MEAN_STEP(double, AdaptiveRule)

LINNAEUS_CLONES void settle(Table<double> t, Row<double> r, Ahead next, PlainRule rule, const Flow& flow) {
  settle_rows(t, r, next, rule, flow);
}
LINNAEUS_CLONES void settle(Table<double> t, Row<double> r, Ahead next, AdaptiveRule rule, const Flow& flow) {
  settle_rows(t, r, next, rule, flow);
}

// The sum of w exp(-l2 (T - clock)) over the times T after each step since the clock is one product, as the sums of
// exp(-l2 T) up to each step are kept.
LINNAEUS_CLONES void settle_mean(Table<double> t, Row<double> r, Ahead next, PlainRule, const Flow& flow) {
  walk(t, r, next, 0, 2 * t.lanes + 2, [&](double* row, double) {
    double* clock = row + 2 * t.lanes;
    if (clock[1] == flow.sum) return;
    double times = elementary::exp(flow.l2 * clock[0]) * (flow.sum - clock[1]);
    double left = elementary::exp(-flow.l2 * (flow.now - clock[0]));
    settle_sums(row, t.lanes, times, left);
    clock[0] = flow.now;
    clock[1] = flow.sum;
  });
}

}  // namespace linnaeus::online
