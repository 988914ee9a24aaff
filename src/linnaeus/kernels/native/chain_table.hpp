// Walks over the rows of weights of a learner of chains; the layout of a row is that of online_table.hpp.
#pragma once
#include "online_table.hpp"

namespace linnaeus::chain {

// The features of one token, and how many columns may be read from the first one on.
template <class S>
struct Token {
  const int32_t* columns;
  const S* values;
  size_t n, readable;
};

// What a step needs to know: AdaGrad where eps > 0, plain otherwise.
struct Rule {
  double rate, eps, l2;
  double now;  // time of the penalty's flow
  double lag;  // steps before this one, for the mean
};

template <class S>
struct Store {
  S* data;
  size_t stride, lanes;
  bool adaptive, averaged, lazy;

  S* row(size_t column) const { return data + column * stride; }
  size_t mean_at() const { return (adaptive ? 2 : 1) * lanes; }
  size_t clock_at() const { return mean_at() + (averaged ? lanes : 0); }
};

// scores (lanes) = sum of x w over the token's features. Rows first catch up with the penalty, where there is one.
void token_scores(const Store<float>& store, const Token<float>& token, const Rule& rule, float* scores);
void token_scores(const Store<double>& store, const Token<double>& token, const Rule& rule, double* scores);

// One step along -x g on the rows of the token.
void token_step(const Store<float>& store, const Token<float>& token, const Rule& rule, const float* g);
void token_step(const Store<double>& store, const Token<double>& token, const Rule& rule, const double* g);

// A row catches up with the penalty.
void catch_up(const Store<float>& store, float* row, const Rule& rule);
void catch_up(const Store<double>& store, double* row, const Rule& rule);

}  // namespace linnaeus::chain
