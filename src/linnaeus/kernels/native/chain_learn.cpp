// A learner of linear chains, one sequence at a time: structured perceptron, structured SVM, CRF.
//
// Problem: minimize sum_i c_i loss_i + l2/2 |W|^2, where loss_i is an upper oracle over all taggings of sequence i
// minus the score of the true one, in a given order.
//   perceptron  best(S) - gold          Collins 2002
//   hinge       best(S + cost) - gold   Taskar et al. 2003, Tsochantaridis et al. 2004, by subgradients
//   log         soft(S) - gold          Lafferty, McCallum and Pereira 2001
//   softmargin  soft(S + cost) - gold   Gimpel and Smith 2010
// Scores of a token are sums over its features' rows; start and transitions are rows of a table of their own, with no
// penalty. After each sequence every row that its gradient touches moves, token by token: w -= rate q, or AdaGrad's
// G += q^2, w -= rate q / sqrt(eps + G), q = x g. The penalty is an exact flow, which a row catches up with when it is
// next read; the mean of iterates is kept as in online.cpp (Daume 2006), a catching-up counting as a move at its time.
// Given: rows, truth (offsets, tags, weights), the order with its rates.  Changed: tables and clock (time, steps).
// Returned: the sum of losses before each step, and how many tokens were wrong.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "blocks.hpp"
#include "chain.hpp"
#include "chain_table.hpp"
#include "sparse.hpp"

namespace linnaeus {
namespace {

using namespace chain;
enum Loss { kPerceptron, kHinge, kLog, kSoftMargin, kLosses };

using Truth = std::tuple<In<int64_t>, In<int32_t>, In<double>>;  // offsets, tags; weights or nothing
using Order = std::tuple<In<int32_t>, In<double>>;               // sequences, rates
template <class S>
using State = std::tuple<TableOut<S>, TableOut<S>, InOut<double>, std::tuple<int, bool, bool>>;
using Asked = std::tuple<int, In<double>>;            // loss; costs (k, k) by true tag, or nothing
using Settings = std::tuple<double, double, double>;  // l2, total, eps (0: no AdaGrad)
using Outcome = std::tuple<double, int64_t>;

[[noreturn]] void refuse(const char* what) { throw std::invalid_argument(std::string("chain_learn: ") + what); }

template <class S>
struct Sentences {
  Lines<S> rows;
  const int64_t* offsets;
  const int32_t* tags;
  const double* weights;
  size_t n, longest = 0;

  Sentences(const Sparse<S>& arrays, const Truth& truth, size_t d, size_t k)
      : rows(arrays, "chain_learn"),
        offsets(std::get<0>(truth).data()),
        tags(std::get<1>(truth).data()),
        weights(std::get<2>(truth).size() ? std::get<2>(truth).data() : nullptr),
        n(std::get<0>(truth).size() ? std::get<0>(truth).size() - 1 : 0) {
    size_t m = std::get<1>(truth).size();
    if (!std::get<0>(truth).size() || offsets[0] != 0 || offsets[n] != int64_t(m) || rows.count != m)
      refuse("the offsets do not fit the tokens");
    if (weights && std::get<2>(truth).size() != n) refuse("there is one weight for each sequence");
    for (size_t i = 0; i < n; ++i) {
      if (offsets[i + 1] < offsets[i]) refuse("the offsets do not fit the tokens");
      longest = std::max(longest, size_t(offsets[i + 1] - offsets[i]));
    }
    for (size_t t = 0; t < m; ++t)
      if (size_t(uint32_t(tags[t])) >= k) refuse("a tag is not one of k");
    if (m && !rows.fit(0, m, d)) refuse("a column is not in the table");
  }
};

template <class S>
class Learner {
 public:
  Learner(const Sentences<S>& data, Store<S> store, Store<S> shared, size_t k, int loss, const double* costs)
      : data_(data),
        store_(store),
        shared_(shared),
        k_(k),
        p_(store.lanes),
        loss_(loss),
        E_(data.longest * p_),
        D_(data.longest * p_),
        G_(data.longest * p_),
        tags_(data.longest * p_),
        z_(data.longest),
        moved_((1 + k) * p_) {
    if (loss == kHinge || loss == kSoftMargin) {
      costs_.assign(k * p_, S(0));
      for (size_t y = 0; y < k; ++y)
        for (size_t c = 0; c < k; ++c) costs_[y * p_ + c] = S(costs ? costs[y * k + c] : y != c);
    }
  }

  void learn(size_t i, Rule rule, Outcome& outcome) {
    begin_ = size_t(data_.offsets[i]);
    n_ = size_t(data_.offsets[i + 1]) - begin_;
    if (!n_) return;
    rule.l2 = store_.lazy ? rule.l2 : 0;
    for (size_t t = 0; t < n_; ++t) token_scores(store_, token(t), rule, E_.data() + t * p_);
    double weight = data_.weights ? data_.weights[i] : 1.0, gold = gold_score();
    if (costs_.size())
      for (size_t t = 0; t < n_; ++t)
        for (size_t c = 0; c < k_; ++c) E_[t * p_ + c] += costs_[size_t(truth(t)) * p_ + c];
    bool hard = loss_ == kPerceptron || loss_ == kHinge;
    double upper = hard ? by_best(S(weight)) : by_soft(weight);
    if (upper == gold && hard && !any_wrong()) return;
    std::get<0>(outcome) += weight * (upper - gold);
    move(rule, hard, S(weight), std::get<1>(outcome));
  }

 private:
  int32_t truth(size_t t) const { return data_.tags[begin_ + t]; }

  Token<S> token(size_t t) const {
    const Lines<S>& rows = data_.rows;
    int64_t first = rows.offsets[begin_ + t], last = rows.offsets[begin_ + t + 1];
    size_t readable = size_t(rows.offsets[begin_ + n_] - first);
    return {rows.indices + first, rows.values + first, size_t(last - first), readable};
  }

  Links<S> links() const { return {shared_.data, shared_.row(1), shared_.stride, k_, p_}; }

  template <class Tag>
  double score(Tag&& tag) const {
    double total = double(shared_.data[tag(0)]);
    for (size_t t = 0; t < n_; ++t) total += double(E_[t * p_ + size_t(tag(t))]);
    for (size_t t = 1; t < n_; ++t) total += double(shared_.row(1 + size_t(tag(t - 1)))[tag(t)]);
    return total;
  }
  double gold_score() const {
    return score([&](size_t t) { return truth(t); });
  }
  bool any_wrong() const { return !std::equal(z_.begin(), z_.begin() + std::ptrdiff_t(n_), data_.tags + begin_); }

  double by_best(S) {
    best_forward(links(), E_.data(), n_, D_.data());
    trace_back(links(), D_.data(), n_, data_.tags + begin_, z_.data());
    return score([&](size_t t) { return z_[t]; });
  }

  double by_soft(double weight) {
    soft_.prepare(links());
    return soft_.run(E_.data(), n_, weight, tags_.data());
  }

  void move(const Rule& rule, bool hard, S weight, int64_t& wrong) {
    std::fill(moved_.begin(), moved_.end(), S(0));
    hard ? pull_best(weight, wrong) : pull_soft(weight, wrong);
    for (size_t t = 0; t < n_; ++t)
      if (!hard || z_[t] != truth(t)) token_step(store_, token(t), rule, G_.data() + t * p_);
    const S one = 1;
    for (size_t r = 0; r <= k_; ++r) {
      const int32_t column = int32_t(r);
      const S* g = moved_.data() + r * p_;
      if (std::any_of(g, g + k_, [](S value) { return value != 0; }))
        token_step(shared_, {&column, &one, 1, 1}, rule, g);
    }
  }

  // Gradients from the best tagging; tokens whose tag is right have none.
  void pull_best(S weight, int64_t& wrong) {
    for (size_t t = 0; t < n_; ++t) {
      if (z_[t] != truth(t)) {
        S* g = G_.data() + t * p_;
        std::fill_n(g, p_, S(0));
        g[z_[t]] = weight;
        g[truth(t)] = -weight;
        ++wrong;
      }
      link(t, z_[t], t ? z_[t - 1] : 0, weight);
      link(t, truth(t), t ? truth(t - 1) : 0, -weight);
    }
  }

  void link(size_t t, int32_t to, int32_t from, S weight) {
    moved_[(t ? 1 + size_t(from) : 0) * p_ + size_t(to)] += weight;
  }

  void pull_soft(S weight, int64_t& wrong) {
    const double* pairs = soft_.finish();
    for (size_t c = 0; c < k_; ++c) moved_[c] = weight * S(tags_[c]);
    for (size_t i = 0; i < k_ * p_; ++i) moved_[p_ + i] = S(pairs[i]);
    for (size_t t = 0; t < n_; ++t) {
      const double* tags = tags_.data() + t * p_;
      S* g = G_.data() + t * p_;
      for (size_t c = 0; c < p_; ++c) g[c] = weight * S(tags[c]);
      g[truth(t)] -= weight;
      link(t, truth(t), t ? truth(t - 1) : 0, -weight);
      wrong += pick(k_, truth(t), [&](size_t c) { return tags[c]; }) != size_t(truth(t));
    }
  }

  const Sentences<S>& data_;
  Store<S> store_, shared_;
  size_t k_, p_;
  int loss_;
  size_t begin_ = 0, n_ = 0;
  std::vector<S> E_, D_, G_, costs_;
  std::vector<double> tags_;
  std::vector<int32_t> z_;
  std::vector<S> moved_;
  Soft soft_;
};

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

template <class S>
Outcome chain_learn(Sparse<S> rows, Truth truth, Order order, State<S> state, Asked asked, Settings settings) {
  auto& [table, shared, clock, layout] = state;
  auto& [loss, costs] = asked;
  auto [l2, total, eps] = settings;
  auto& [sequences, rates] = order;
  size_t k = size_t(std::get<0>(layout));
  if (!(l2 >= 0) || !(total > 0) || !(eps >= 0)) refuse("l2 and eps are at least 0, and the total is positive");
  Store<S> store = checked_store(table, layout, eps > 0);
  Store<S> links = checked_store(shared, {std::get<0>(layout), std::get<1>(layout), false}, eps > 0);
  if (shared.shape(0) != 1 + k) refuse("the shared table does not have 1 + k rows");
  if (clock.size() != 2) refuse("the clock has two numbers");
  if (l2 > 0 && !store.lazy) refuse("a penalty needs clocks");
  if (loss < 0 || loss >= kLosses) refuse("there is no such loss");
  if (costs.size() && costs.size() != k * k) refuse("the costs have another size");
  if (rates.size() != sequences.size()) refuse("there is one rate for each step");
  nb::gil_scoped_release release;
  Sentences<S> data(rows, truth, table.shape(0), k);
  for (size_t s = 0; s < sequences.size(); ++s)
    if (size_t(uint32_t(sequences.data()[s])) >= data.n) refuse("the order names a sequence that does not exist");
  Learner<S> learner(data, store, links, k, loss, costs.size() ? costs.data() : nullptr);
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
  if (!(l2 >= 0) || !(total > 0) || !(eps >= 0)) refuse("l2 and eps are at least 0, and the total is positive");
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
