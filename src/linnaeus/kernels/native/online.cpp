// Per-example learners: SGD (with it the perceptron), AdaGrad, FTRL-proximal, passive-aggressive.
//
// Problem: minimize sum_i c_i loss_i(x_i W + b) + l2/2 |W|^2 + l1 |W|_1, one example at a time, in a given order.
//   SGD        w -= rate x g, with g = c dloss/ds.  With the perceptron loss and rate 1: Rosenblatt 1958.
//   AdaGrad    G += (x g)^2, w -= rate x g / sqrt(eps + G).  Duchi, Hazan and Singer 2011.
//   FTRL       per coordinate, weights from z and n.  McMahan et al. 2013.
//   PA         the smallest move that gives the example its margin.  Crammer et al. 2006.
// A penalty is an exact flow: after a step of rate r every weight follows -grad of the penalty for time r / total (for
// AdaGrad divided by sqrt(eps + G)). Flows compose, so a row that no example touched catches up in one evaluation when
// it is next needed, and `settle_*` brings up all. The mean of the iterates after each step is kept lazily too: without
// a penalty as w - (1/t) sum_s (s - 1) move_s (Daume 2006), with l2 as sums that grow by a closed form. Given: rows,
// truth (label lists), the order with its rates; changed in place: the table (see online_table.hpp), the bias and the
// clock. Returned: the sum of losses before each step, and how many examples were wrong or tied.
#include <cmath>
#include <memory>

#include "online_run.hpp"

namespace linnaeus {
namespace {

using namespace online;
using Order = std::tuple<In<int32_t>, In<double>>;              // examples, rates
using Asked = std::tuple<int, int, In<double>>;                 // space, loss, stakes
using Penalty = std::tuple<double, double, double>;             // l1, l2, total
using Adaptation = std::tuple<double, double, double, double>;  // the same and eps

Flow make_flow(double l1, double l2, double total, bool lazy) {
  if (!(l1 >= 0) || !(l2 >= 0) || !(total > 0)) refuse("a penalty has l1 and l2 of at least 0, and a positive total");
  if (!lazy && (l1 > 0 || l2 > 0)) refuse("a penalty needs clocks");
  return {l1, l2, 1.0 / total, 0, 0};
}

AdaptiveRule adaptive(double eps) {
  if (!(eps >= 1e-30)) refuse("eps is at least 1e-30");
  return {0, eps};
}

template <class X>
std::unique_ptr<Judge> make_judge(const Asked& asked, const Problem<X>& p, size_t k) {
  auto& [space, loss, stakes] = asked;
  if (space < 0 || space >= kSpaces || loss < 0 || loss >= kLosses) refuse("there is no such space or loss");
  check_labels(p, space, stakes.size() > 0, k);
  bool joint = space == kJoint && loss != kSquared && loss != kAbsolute;
  if (stakes.size() && stakes.size() != (k == 1 ? 2 : k * k)) refuse("the stakes have another size");
  const double* given = stakes.size() && joint == (space == kJoint) ? stakes.data() : nullptr;
  if (joint) return std::make_unique<JointLoss>(loss, k, given);
  return std::make_unique<ProductLoss>(loss, k, given, space == kJoint);
}

template <class S, class X, class Rule>
Outcome learn(Rows<X>& rows, Truth& truth, Order& order, Arrays<S>& arrays, const Asked& asked, Rule rule, Flow flow) {
  auto& [examples, rates] = order;
  State<S> state = checked_state(arrays, Rule::kParts);
  if (rates.size() != examples.size()) refuse("there is one rate for each step");
  nb::gil_scoped_release free;
  Problem<X> p = checked_problem(rows, truth, examples, state.d, state.k);
  auto judge = make_judge(asked, p, state.k);
  return Runner<S, X, Rule>(p, state, rule, flow).run(*judge, rates.data());
}

template <class S, class X>
Outcome learn_sgd(Rows<X> rows, Truth truth, Order order, Arrays<S> state, Asked loss, Penalty penalty) {
  auto [l1, l2, total] = penalty;
  return learn(rows, truth, order, state, loss, PlainRule{0},
               make_flow(l1, l2, total, std::get<2>(std::get<3>(state))));
}

template <class S, class X>
Outcome learn_adagrad(Rows<X> rows, Truth truth, Order order, Arrays<S> state, Asked loss, Adaptation rule) {
  auto [l1, l2, total, eps] = rule;
  return learn(rows, truth, order, state, loss, adaptive(eps),
               make_flow(l1, l2, total, std::get<2>(std::get<3>(state))));
}

template <class S, class X>
Outcome learn_ftrl(Rows<X> rows, Truth truth, In<int32_t> order, Arrays<S> arrays, Asked loss, Adaptation rule) {
  auto [alpha, beta, l1, l2] = rule;
  if (!(alpha > 0) || !(beta >= 0) || !(l1 >= 0) || !(l2 >= 0) || !(beta + l2 > 0))
    refuse("FTRL has a positive alpha, and beta, l1 and l2 of at least 0, not both beta and l2 zero");
  State<S> state = checked_state(arrays, ProximalRule::kParts);
  nb::gil_scoped_release free;
  Problem<X> p = checked_problem(rows, truth, order, state.d, state.k);
  auto judge = make_judge(loss, p, state.k);
  return Runner<S, X, ProximalRule>(p, state, {alpha, beta, l1, l2}, {}).run(*judge, nullptr);
}

template <class S, class X>
Outcome learn_aggressive(Rows<X> rows, Truth truth, In<int32_t> order, Arrays<S> arrays, int space,
                         std::tuple<double, double> limits) {
  auto [cap, softness] = limits;
  if (!(cap > 0) || !(softness >= 0)) refuse("a step has a positive cap and a softness of at least 0");
  if (space < 0 || space >= kSpaces) refuse("there is no such space or loss");
  State<S> state = checked_state(arrays, PlainRule::kParts);
  if (state.lazy) refuse("this rule has no mean and no penalty");
  nb::gil_scoped_release free;
  Problem<X> p = checked_problem(rows, truth, order, state.d, state.k);
  check_labels(p, space, false, state.k);
  Aggression judge(space, state.k, cap, softness);
  return Runner<S, X, PlainRule>(p, state, {1.0}, {}).run(judge, nullptr);
}

// Every row catches up with the penalty's flow, and the clocks start again at zero.
template <class Rule>
void settle_table(Arrays<double>& arrays, Rule rule, Flow flow) {
  State<double> state = checked_state(arrays, Rule::kParts);
  if (!state.lazy) refuse("a penalty needs clocks");
  if (state.averaged && (!std::is_same_v<Rule, PlainRule> || flow.l1 != 0)) refuse("this penalty has no mean");
  flow.now = state.clock[0];
  flow.sum = state.clock[2];
  nb::gil_scoped_release free;
  settle_all(state, rule, flow);
}

void settle_sgd(Arrays<double> state, Penalty penalty) {
  auto [l1, l2, total] = penalty;
  settle_table(state, PlainRule{0}, make_flow(l1, l2, total, true));
}

void settle_adagrad(Arrays<double> state, Adaptation rule) {
  auto [l1, l2, total, eps] = rule;
  settle_table(state, adaptive(eps), make_flow(l1, l2, total, true));
}

template <class S, class X>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  auto state = "state"_a.noconvert();
  m.def("learn_sgd", &learn_sgd<S, X>, "rows"_a.noconvert(), "truth"_a, "order"_a, state, "loss"_a, "penalty"_a);
  m.def("learn_adagrad", &learn_adagrad<S, X>, "rows"_a.noconvert(), "truth"_a, "order"_a, state, "loss"_a, "rule"_a);
  m.def("learn_ftrl", &learn_ftrl<S, X>, "rows"_a.noconvert(), "truth"_a, "order"_a, state, "loss"_a, "rule"_a);
  m.def("learn_aggressive", &learn_aggressive<S, X>, "rows"_a.noconvert(), "truth"_a, "order"_a, state, "space"_a,
        "limits"_a);
}

}  // namespace

void bind_online(nb::module_& m) {
  using namespace nb::literals;
  bind_for<double, double>(m);
  bind_for<double, float>(m);
  bind_for<float, double>(m);
  bind_for<float, float>(m);
  m.def("settle_sgd", &settle_sgd, "state"_a.noconvert(), "penalty"_a);
  m.def("settle_adagrad", &settle_adagrad, "state"_a.noconvert(), "rule"_a);
}

}  // namespace linnaeus
