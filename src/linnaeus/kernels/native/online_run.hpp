// One example after the other: the loop that per-example learners share, and the checks before it.
#pragma once
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "arrays.hpp"
#include "online_loss.hpp"
#include "online_table.hpp"
#include "tables.hpp"

namespace linnaeus::online {

template <class X>
using Rows = std::tuple<In<int64_t>, In<int32_t>, In<X>>;
using Truth =
    std::tuple<In<int64_t>, In<int32_t>, In<double>>;  // offsets, labels; what each example counts, or nothing
using Layout = std::tuple<int, bool, bool>;            // classes, sums for a mean, clocks for a penalty
template <class S>
using Arrays = std::tuple<nb::ndarray<S, nb::ndim<2>, nb::c_contig, nb::device::cpu>, InOut<S>, InOut<double>, Layout>;
using Outcome = std::tuple<double, int64_t>;  // sum of losses before each step, examples that were wrong or tied

[[noreturn]] inline void refuse(const char* what) { throw std::invalid_argument(std::string("online: ") + what); }

template <class X>
struct Problem {
  const int64_t* indptr;
  const int32_t* columns;
  const X* values;
  const int64_t* offsets;
  const int32_t* labels;
  const double* weights;  // or null
  const int32_t* order;
  size_t steps, longest;

  Ahead row(size_t t) const {
    int32_t i = order[t];
    return {columns + indptr[i], size_t(indptr[i + 1] - indptr[i])};
  }
};

template <class S>
struct State {
  Table<S> table;
  S* bias;        // or null; a row like that of a feature
  double* clock;  // time of the penalty's flow, steps so far, and the sum of exp(-l2 time) after each step
  size_t d, k;
  bool averaged, lazy;
};

template <class S>
State<S> checked_state(Arrays<S>& arrays, size_t parts) {
  auto& [table, bias, clock, layout] = arrays;
  auto [k, averaged, lazy] = layout;
  if (k < 1 || k > (1 << 24)) refuse("there are between 1 and 2^24 classes");
  if (sizeof(S) == 4 && lazy) refuse("penalties need float64");
  size_t lanes = lanes_of<S>(size_t(k));
  size_t stride = (parts + averaged) * lanes + (lazy ? (lanes <= 2 ? 2 : 4) : 0);
  if (table.shape(1) != stride || (bias.size() && bias.size() != stride)) refuse("the table does not have the layout");
  if (clock.size() != 3) refuse("the clock has three numbers");
  return {{table.data(), stride, lanes},
          bias.size() ? bias.data() : nullptr,
          clock.data(),
          table.shape(0),
          size_t(k),
          averaged,
          lazy};
}

// Everything that the loop will read, for the examples of this call.
template <class X>
Problem<X> checked_problem(Rows<X>& rows, Truth& truth, In<int32_t>& order, size_t d, size_t k) {
  auto& [indptr, indices, data] = rows;
  auto& [offsets, labels, weights] = truth;
  size_t n = indptr.size() ? indptr.size() - 1 : 0;
  if (offsets.size() != n + 1 || (weights.size() && weights.size() != n)) refuse("the truth has another length");
  Problem<X> p{indptr.data(),  indices.data(), data.data(),
               offsets.data(), labels.data(),  weights.size() ? weights.data() : nullptr,
               order.data(),   order.size(),   0};
  int64_t size = int64_t(std::min(indices.size(), data.size()));
  auto fits = [](const int64_t* at, size_t i, int64_t end) {
    return 0 <= at[i] && at[i] <= at[i + 1] && at[i + 1] <= end;
  };
  for (size_t t = 0; t < p.steps; ++t) {
    size_t i = size_t(uint32_t(p.order[t]));
    if (i >= n) refuse("the order names an example that does not exist");
    if (!fits(p.indptr, i, size)) refuse("the offsets do not fit the values");
    if (!fits(p.offsets, i, int64_t(labels.size()))) refuse("the offsets do not fit the labels");
    Ahead row = p.row(t);
    uint32_t highest = 0;
    for (size_t j = 0; j < row.n; ++j) highest = std::max(highest, uint32_t(row.columns[j]));
    if (row.n && highest >= d) refuse("a column is not in the table");
    for (int64_t j = p.offsets[i]; j < p.offsets[i + 1]; ++j)
      if (uint32_t(p.labels[j]) >= k) refuse("a label is not a class");
    p.longest = std::max(p.longest, row.n);
  }
  return p;
}

// What of the truth a space needs: one label for a joint one, and for stakes a row to stand in.
template <class X>
void check_labels(const Problem<X>& p, int space, bool stakes, size_t k) {
  bool joint = space == kJoint;
  if (joint && k < 2) refuse("a joint space has two classes or more");
  for (size_t t = 0; t < p.steps; ++t) {
    int64_t count = p.offsets[p.order[t] + 1] - p.offsets[p.order[t]];
    if ((joint || (stakes && k > 1)) && count != 1) refuse("every example needs exactly one label here");
    if (stakes && k == 1 && count > 1) refuse("one class has one label at most");
  }
}

// The loop. All that a rule, a mean or a penalty adds is a line each.
template <class S, class X, class Rule>
class Runner {
 public:
  static constexpr bool kMeans = !std::is_same_v<Rule, ProximalRule>;
  static constexpr bool kFlows = kMeans && std::is_same_v<S, double>;
  static constexpr bool kFlowsInMean = kFlows && std::is_same_v<Rule, PlainRule>;

  Runner(const Problem<X>& p, const State<S>& state, Rule rule, Flow flow)
      : p_(p),
        state_(state),
        rule_(rule),
        flow_(flow),
        values_(std::max<size_t>(p.longest, 1)),
        scores_(state.table.lanes),
        gradient_(state.table.lanes),
        pull_(state.table.lanes),
        active_(state.k) {
    if ((state.lazy && !kFlows) || (state.averaged && !kMeans)) refuse("this rule has no mean and no penalty");
    if (state.lazy && state.averaged && (!kFlowsInMean || flow.l1 != 0)) refuse("this penalty has no mean");
    flow_.now = state.clock[0];
    flow_.sum = state.clock[2];
  }

  // `rates`: one for each step, or null.
  Outcome run(Judge& judge, const double* rates) {
    double loss = 0;
    int64_t mistakes = 0;
    for (size_t t = 0; t < p_.steps; ++t) {
      fetch_example(t + kFar);
      Ahead at = p_.row(t), next = t + kNear < p_.steps ? p_.row(t + kNear) : Ahead{nullptr, 0};
      Row<S> row{at.columns, values_.data(), at.n};
      Verdict found = look(judge, row, next, p_.order[t]);
      loss += found.loss;
      mistakes += found.mistake;
      if (rates) set_rate(rates[t]);
      found.few ? step_few(row, next, found) : step_all(row, next);
      if (state_.lazy) advance(rates ? rates[t] : 0.0);
    }
    return {loss, mistakes};
  }

 private:
  static constexpr size_t kNear = 2;     // so many examples before its turn the rows of one are fetched,
  static constexpr size_t kFar = 4;      // and so many before, the example itself;
  static constexpr size_t kLong = 1024;  // but no more than these nonzeros
  static constexpr size_t kLine = 64 / std::max(sizeof(int32_t), sizeof(X));

  // Examples come in any order: asks for columns and values of one that is to come.
  void fetch_example(size_t t) const {
    if (t + kFar < p_.steps) prefetch(p_.indptr + p_.order[t + kFar]);
    if (t >= p_.steps) return;
    size_t begin = size_t(p_.indptr[p_.order[t]]), end = size_t(p_.indptr[p_.order[t] + 1]);
    for (size_t j = begin; j < std::min(end, begin + kLong); j += kLine) {
      prefetch(p_.columns + j);
      prefetch(p_.values + j);
    }
  }

  // Scores, loss and gradient of an example.
  Verdict look(Judge& judge, Row<S> row, Ahead next, int32_t i) {
    const X* values = p_.values + p_.indptr[i];
    for (size_t j = 0; j < row.n; ++j) values_[j] = S(values[j]);
    double norm = bias_ ? 1.0 : 0.0;
    for (size_t j = 0; j < row.n; ++j) norm += double(values[j]) * double(values[j]);
    if constexpr (kFlowsInMean)
      if (state_.lazy && state_.averaged) settle_mean(state_.table, row, next, rule_, flow_);
    if constexpr (kFlows)
      if (state_.lazy && !state_.averaged) settle(state_.table, row, next, rule_, flow_);
    std::fill(scores_.begin(), scores_.end(), 0.0);
    if (state_.bias) std::copy_n(state_.bias, state_.table.lanes, scores_.begin());
    add_scores(state_.table, row, state_.lazy ? Ahead{nullptr, 0} : next, scores_.data());
    const int32_t* labels = p_.labels + p_.offsets[i];
    size_t count = size_t(p_.offsets[i + 1] - p_.offsets[i]);
    return judge.judge({scores_.data(), labels, count, p_.weights ? p_.weights[i] : 1.0, norm}, gradient_.data());
  }

  void step_all(Row<S> row, Ahead next) {
    size_t count = 0;
    for (size_t c = 0; c < state_.k; ++c) {
      pull_[c] = S(gradient_[c]);
      active_[count] = int32_t(c);
      count += gradient_[c] != 0;
    }
    step(row, next, count);
  }

  void step_few(Row<S> row, Ahead next, const Verdict& found) {
    size_t count = 0;
    for (int32_t c : found.at) {
      pull_[c] = S(gradient_[c]);
      active_[count] = c;
      count += gradient_[c] != 0;
    }
    step(row, next, count);
    for (int32_t c : found.at) gradient_[c] = pull_[c] = 0;
  }

  void step(Row<S> row, Ahead next, size_t count) {
    double lag = state_.clock[1];
    state_.clock[1] += 1;
    if (count) {
      Pull<S> pull{pull_.data(), active_.data(), count};
      move(state_.table, row, next, pull, rule_, lag);
      if (state_.bias) move_bias(pull, lag);
    }
    if (state_.bias && state_.lazy && state_.averaged)
      for (size_t c = 0; c < state_.k; ++c) state_.bias[state_.table.lanes + c] += state_.bias[c];
  }

  void move(Table<S> table, Row<S> row, Ahead next, Pull<S> pull, Rule rule, double lag) {
    if constexpr (kMeans)
      if (state_.averaged && !state_.lazy) return take_mean_step(table, row, next, pull, rule, S(lag));
    take_step(table, row, state_.lazy ? Ahead{nullptr, 0} : next, pull, rule);
  }

  // The constant feature, which no penalty holds.
  void move_bias(Pull<S> pull, double lag) {
    Rule rule = rule_;
    if constexpr (std::is_same_v<Rule, ProximalRule>) rule.l1 = rule.l2 = 0;
    const int32_t column = 0;
    const S one = 1;
    move({state_.bias, state_.table.stride, state_.table.lanes}, {&column, &one, 1}, {nullptr, 0}, pull, rule, lag);
  }

  void set_rate(double rate) {
    if constexpr (!std::is_same_v<Rule, ProximalRule>) rule_.rate = rate;
  }

  // The time of one step passes. Sums of exp(-l2 time) lose digits as time goes on, so it starts again now and then.
  void advance(double rate) {
    flow_.now += rate * flow_.per_step;
    if (state_.averaged) flow_.sum += elementary::exp(-flow_.l2 * flow_.now);
    if constexpr (kFlowsInMean)
      if (state_.averaged && flow_.l2 * flow_.now > 1.0) settle_all(state_, rule_, flow_);
    state_.clock[0] = flow_.now;
    state_.clock[2] = flow_.sum;
  }

  const Problem<X>& p_;
  State<S> state_;
  Rule rule_;
  Flow flow_;
  bool bias_ = state_.bias != nullptr;
  std::vector<S> values_;
  std::vector<double> scores_, gradient_;
  std::vector<S> pull_;
  std::vector<int32_t> active_;
};

// All rows up to now, and the clocks at zero.
template <class Rule>
void settle_all(State<double> state, Rule rule, Flow& flow) {
  const double one = 1;
  for (size_t j = 0; j < state.d; ++j) {
    const int32_t column = 0;
    Table<double> table{state.table.data + j * state.table.stride, state.table.stride, state.table.lanes};
    Row<double> row{&column, &one, 1};
    if constexpr (std::is_same_v<Rule, PlainRule>) {
      if (state.averaged) settle_mean(table, row, {nullptr, 0}, rule, flow);
      else settle(table, row, {nullptr, 0}, rule, flow);
    } else {
      settle(table, row, {nullptr, 0}, rule, flow);
    }
    double* clock = table.data + (Rule::kParts + state.averaged) * table.lanes;
    clock[0] = clock[1] = 0;
  }
  state.clock[0] = state.clock[2] = flow.now = flow.sum = 0;
}

}  // namespace linnaeus::online
