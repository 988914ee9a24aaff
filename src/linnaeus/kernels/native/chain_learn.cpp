// A learner of linear chains, one sequence at a time: structured perceptron, structured SVM, CRF.
//
// Problem: minimize sum_i c_i loss_i + l2/2 |W|^2, where loss_i is an upper oracle over all taggings of sequence i
// minus the score of the true one, in a given order.
//   perceptron  best(S) - gold          Collins 2002
//   hinge       best(S + cost) - gold   Taskar et al. 2003, Tsochantaridis et al. 2004, by subgradients
//   log         soft(S) - gold          Lafferty, McCallum and Pereira 2001
//   softmargin  soft(S + cost) - gold   Gimpel and Smith 2010
// Tagging from left to right instead (`greedy`) is one multiclass problem at each token, after the tags that were found
// before it, right or wrong; the losses are those of one of k classes.
// Scores of a token are sums over its features' rows; start and transitions are rows of a table of their own, with no
// penalty. After each sequence every row that its gradient touches moves, token by token: w -= rate q, or AdaGrad's
// G += q^2, w -= rate q / sqrt(eps + G), q = x g. The penalty is an exact flow, which a row catches up with when it is
// next read; the mean of iterates is kept as in online.cpp (Daume 2006), a catching-up counting as a move at its time.
// Given: rows, truth (offsets, tags, weights), the order with its rates.  Changed: tables and clock (time, steps).
// Returned: the sum of losses before each step, and how many tokens were wrong.
#include <nanobind/stl/tuple.h>

#include "chain_learner.hpp"

namespace linnaeus {
namespace {

using namespace chain;
using Order = std::tuple<In<int32_t>, In<double>>;  // sequences, rates
template <class S>
using State = std::tuple<TableOut<S>, TableOut<S>, InOut<double>, std::tuple<int, bool, bool>>;
using Settings = std::tuple<double, double, double>;  // l2, total, eps (0: no AdaGrad)

template <class S>
Store<S> checked_store(TableOut<S>& table, const std::tuple<int, bool, bool>& layout, bool adaptive) {
  auto [k, averaged, lazy] = layout;
  if (k < 1 || k > (1 << 24)) refuse("there are between 1 and 2^24 tags");
  size_t lanes = online::lanes_of<S>(size_t(k));
  Store<S> store{table.data(), table.shape(1), lanes, adaptive, averaged, lazy};
  size_t clock = lazy ? (lanes <= 2 ? 2 : 4) : 0;  // room for a double
  if (table.shape(1) != store.clock_at() + clock) refuse("the table does not have the layout");
  return store;
}

void check_settings(double l2, double total, double eps, bool lazy) {
  if (!(l2 >= 0) || !(total > 0) || !(eps >= 0)) refuse("l2 and eps are at least 0, and the total is positive");
  if (l2 > 0 && !lazy) refuse("a penalty needs clocks");
}

void check_asked(const Asked& asked, size_t k) {
  auto& [search, loss, costs] = asked;
  if (search < 0 || search >= kSearches || loss < 0 || loss >= kLosses) refuse("there is no such search or loss");
  if (costs.size() && costs.size() != k * k) refuse("the costs have another size");
}

template <class S>
Outcome chain_learn(Sparse<S> rows, Truth truth, Order order, State<S> state, Asked asked, Settings settings) {
  auto& [table, shared, clock, layout] = state;
  auto [l2, total, eps] = settings;
  auto& [sequences, rates] = order;
  size_t k = size_t(std::get<0>(layout));
  check_settings(l2, total, eps, std::get<2>(layout));
  Store<S> store = checked_store(table, layout, eps > 0);
  Store<S> links = checked_store(shared, {std::get<0>(layout), std::get<1>(layout), false}, eps > 0);
  if (shared.shape(0) != shared_rows(k, false) && shared.shape(0) != shared_rows(k, true))
    refuse("the shared table does not have 1 + k or 1 + k + k k rows");
  if (clock.size() != 2) refuse("the clock has two numbers");
  check_asked(asked, k);
  if (rates.size() != sequences.size()) refuse("there is one rate for each step");
  nb::gil_scoped_release release;
  Sentences<S> data(rows, truth, table.shape(0), k);
  for (size_t s = 0; s < sequences.size(); ++s)
    if (size_t(uint32_t(sequences.data()[s])) >= data.n) refuse("the order names a sequence that does not exist");
  Learner<S> learner(data, store, links, shared.shape(0), k, asked);
  Outcome outcome{0.0, 0};
  for (size_t s = 0; s < sequences.size(); ++s) {
    double rate = rates.data()[s];
    learner.learn(size_t(sequences.data()[s]), {rate, eps, l2, clock.data()[0], clock.data()[1]}, outcome);
    clock.data()[0] += rate / total;
    clock.data()[1] += 1;
  }
  return outcome;
}

// Every row catches up with the penalty.
template <class S>
void chain_settle(State<S> state, Settings settings) {
  auto& [table, shared, clock, layout] = state;
  auto [l2, total, eps] = settings;
  check_settings(l2, total, eps, true);
  Store<S> store = checked_store(table, layout, eps > 0);
  if (!store.lazy) refuse("a penalty needs clocks");
  if (clock.size() != 2) refuse("the clock has two numbers");
  Rule rule{0, eps, l2, clock.data()[0], clock.data()[1]};
  nb::gil_scoped_release release;
  for (size_t r = 0; r < table.shape(0); ++r) catch_up(store, store.row(r), rule);
}

template <class S>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  auto rows = "rows"_a.noconvert(), state = "state"_a.noconvert();
  m.def("chain_learn", &chain_learn<S>, rows, "truth"_a, "order"_a, state, "loss"_a, "settings"_a);
  m.def("chain_settle", &chain_settle<S>, state, "settings"_a);
}

}  // namespace

void bind_chain_learn(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}

}  // namespace linnaeus
