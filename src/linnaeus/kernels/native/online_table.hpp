// The state of a per-example learner, and the walks over the nonzeros of one example.
//
// A feature's row holds everything a nonzero touches, side by side: weights, accumulators of the rule, sums for the
// mean of iterates, and for a penalty the clock of the row: [ w | rule's first | rule's second | mean | clock ], each
// of `lanes` numbers (the clock of two or four). Lanes are the classes, filled up to whole vectors. While one example
// is worked on, the rows of one soon to come are fetched.
#pragma once
#include <cstddef>
#include <cstdint>

namespace linnaeus::online {

template <class S>
inline constexpr size_t kVector = 32 / sizeof(S);

// One and two classes as they are, more in whole vectors.
template <class S>
constexpr size_t lanes_of(size_t k) {
  return k <= 2 ? k : (k + kVector<S> - 1) / kVector<S> * kVector<S>;
}

template <class S>
struct Table {
  S* data;
  size_t stride, lanes;

  S* row(int32_t column) const { return data + size_t(column) * stride; }
};

template <class S>
struct Row {
  const int32_t* columns;
  const S* values;
  size_t n;
};

struct Ahead {
  const int32_t* columns;
  size_t n;
};

// weight dloss/ds, and the classes where it is not zero.
template <class S>
struct Pull {
  const S* gradient;
  const int32_t* active;
  size_t count;
};

// Penalty l2/2 w^2 + l1 |w|, whose flow every weight follows for the time since its row's clock.
struct Flow {
  double l1, l2, per_step;  // the time of a step is rate * per_step
  double now, sum;          // sum: of exp(-l2 time) after each step, for the mean
};

struct PlainRule {
  static constexpr size_t kParts = 1;
  double rate;
};

struct AdaptiveRule {
  static constexpr size_t kParts = 2;
  double rate, eps;
};

struct ProximalRule {
  static constexpr size_t kParts = 3;
  double alpha, beta, l1, l2;
};

// scores += x W over the example.
void add_scores(Table<float> t, Row<float> r, Ahead next, double* scores);
void add_scores(Table<double> t, Row<double> r, Ahead next, double* scores);

// One step of a rule on the example's rows.
void take_step(Table<float> t, Row<float> r, Ahead next, Pull<float> g, PlainRule rule);
void take_step(Table<double> t, Row<double> r, Ahead next, Pull<double> g, PlainRule rule);
void take_step(Table<float> t, Row<float> r, Ahead next, Pull<float> g, AdaptiveRule rule);
void take_step(Table<double> t, Row<double> r, Ahead next, Pull<double> g, AdaptiveRule rule);
void take_step(Table<float> t, Row<float> r, Ahead next, Pull<float> g, ProximalRule rule);
void take_step(Table<double> t, Row<double> r, Ahead next, Pull<double> g, ProximalRule rule);

// The same, and sums -= lag * move, from which the mean of the iterates comes: the sums stand after the rule's parts.
void take_mean_step(Table<float> t, Row<float> r, Ahead next, Pull<float> g, PlainRule rule, float lag);
void take_mean_step(Table<double> t, Row<double> r, Ahead next, Pull<double> g, PlainRule rule, double lag);
void take_mean_step(Table<float> t, Row<float> r, Ahead next, Pull<float> g, AdaptiveRule rule, float lag);
void take_mean_step(Table<double> t, Row<double> r, Ahead next, Pull<double> g, AdaptiveRule rule, double lag);

// Brings the example's rows up to now. `settle_mean` also adds the iterates since the clock to the sums (no l1).
void settle(Table<double> t, Row<double> r, Ahead next, PlainRule rule, const Flow& flow);
void settle(Table<double> t, Row<double> r, Ahead next, AdaptiveRule rule, const Flow& flow);
void settle_mean(Table<double> t, Row<double> r, Ahead next, PlainRule rule, const Flow& flow);

}  // namespace linnaeus::online
