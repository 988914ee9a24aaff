// The loops over rows of weights of a learner of chains; see chain_table.hpp.
#include "chain_table.hpp"

#include <cmath>
#include <cstring>

#include "elementary.hpp"
#include "targets.hpp"

namespace linnaeus::chain {
namespace {

constexpr size_t kFetch = 12;  // features before its use a row is asked for

template <class S>
LINNAEUS_INLINE void fetch(const Store<S>& s, const Token<S>& token, size_t i, size_t size) {
  if (i + kFetch >= token.readable) return;
  const S* row = s.data + size_t(uint32_t(token.columns[i + kFetch])) * s.stride;
  for (size_t byte = 0; byte < size * sizeof(S); byte += 64) prefetch(row, byte);
}

// w follows -grad of l2/2 w^2 for the time since the row's clock, slower where AdaGrad is; the mean sees one move.
template <size_t P, class S>
LINNAEUS_INLINE void settle(const Store<S>& s, S* row, const Rule& rule) {
  const size_t p = P ? P : s.lanes;
  double clock;
  std::memcpy(&clock, row + s.clock_at(), sizeof clock);
  S time = S(-rule.l2 * (rule.now - clock)), eps = S(rule.eps), lag = S(rule.lag);
  if (time == 0) return;
  std::memcpy(row + s.clock_at(), &rule.now, sizeof rule.now);
  S plain = elementary::exp(time);
  S* mean = row + s.mean_at();
  for (size_t j = 0; j < p; ++j) {
    S keep = s.adaptive ? elementary::exp(time / std::sqrt(eps + row[p + j])) : plain;
    S after = row[j] * keep;
    after = std::fabs(after) < S(1e-30) ? S(0) : after;  // numbers below the normal ones are slow
    if (s.averaged) mean[j] += lag * (after - row[j]);
    row[j] = after;
  }
}

template <size_t P, class S>
LINNAEUS_INLINE void scores_in(const Store<S>& s, const Token<S>& token, const Rule& rule, S* scores) {
  const size_t p = P ? P : s.lanes;
  S fixed[P ? P : 1];
  S* sums = P ? fixed : scores;
  for (size_t j = 0; j < p; ++j) sums[j] = 0;
  for (size_t i = 0; i < token.n; ++i) {
    fetch(s, token, i, s.lazy ? s.stride : p);
    S* row = s.row(size_t(token.columns[i]));
    if (s.lazy) settle<P>(s, row, rule);
    for (size_t j = 0; j < p; ++j) sums[j] += token.values[i] * row[j];
  }
  if (P)
    for (size_t j = 0; j < p; ++j) scores[j] = sums[j];
}

template <size_t P, class S>
LINNAEUS_INLINE void step_in(const Store<S>& s, const Token<S>& token, const Rule& rule, const S* g) {
  const size_t p = P ? P : s.lanes;
  S rate = S(rule.rate), eps = S(rule.eps), lag = S(rule.lag);
  for (size_t i = 0; i < token.n; ++i) {
    S* row = s.row(size_t(token.columns[i]));
    S *G = row + p, *mean = row + s.mean_at(), x = token.values[i];
    S move[P ? P : 1];
    for (size_t j = 0; j < p; ++j) {
      S q = x * g[j], by;
      if (s.adaptive) {
        G[j] += q * q;
        by = rate * q / std::sqrt(eps + G[j]);
      } else {
        by = rate * q;
      }
      if (P) move[P ? j : 0] = by;
      else if (s.averaged) mean[j] -= lag * by;
      row[j] -= by;
    }
    if (P && s.averaged)
      for (size_t j = 0; j < p; ++j) mean[j] -= lag * move[P ? j : 0];
  }
}

// The same loop for each number of lanes that stays in registers.
#define LINNAEUS_WITH_LANES(name, ...) \
  switch (s.lanes) {                   \
    case 8:                            \
      return name<8>(s, __VA_ARGS__);  \
    case 16:                           \
      return name<16>(s, __VA_ARGS__); \
    case 24:                           \
      return name<24>(s, __VA_ARGS__); \
    case 32:                           \
      return name<32>(s, __VA_ARGS__); \
    default:                           \
      return name<0>(s, __VA_ARGS__);  \
  }

}  // namespace

LINNAEUS_CLONES void token_scores(const Store<float>& s, const Token<float>& token, const Rule& rule,
                                  float* scores){LINNAEUS_WITH_LANES(scores_in, token, rule, scores)} LINNAEUS_CLONES
    void token_scores(const Store<double>& s, const Token<double>& token, const Rule& rule,
                      double* scores){LINNAEUS_WITH_LANES(scores_in, token, rule, scores)} LINNAEUS_CLONES
    void token_step(const Store<float>& s, const Token<float>& token, const Rule& rule,
                    const float* g){LINNAEUS_WITH_LANES(step_in, token, rule, g)} LINNAEUS_CLONES
    void token_step(const Store<double>& s, const Token<double>& token, const Rule& rule,
                    const double* g){LINNAEUS_WITH_LANES(step_in, token, rule, g)} LINNAEUS_CLONES
    void catch_up(const Store<float>& s, float* row,
                  const Rule& rule){LINNAEUS_WITH_LANES(settle, row, rule)} LINNAEUS_CLONES
    void catch_up(const Store<double>& s, double* row, const Rule& rule) {
  LINNAEUS_WITH_LANES(settle, row, rule)
}

}  // namespace linnaeus::chain
