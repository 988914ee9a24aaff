// A learner of dependency trees over the features of arcs, one sentence at a time.
//
// Problem: minimize sum_i c_i loss_i + l2/2 |w|^2, where loss_i is an upper oracle over all trees of sentence i minus
// the score of the true one, in a given order.
//   perceptron  best(S) - gold          Collins 2002
//   hinge       best(S + cost) - gold   McDonald, Crammer and Pereira 2005, by subgradients; each wrong head costs 1
//   log         soft(S) - gold          Koo, Globerson, Carreras and Collins 2007
//   softmargin  soft(S + cost) - gold   Gimpel and Smith 2010
// The gradient of a sentence is g = sum over arcs of (upper part - true part) times the features of the arc, arcs whose
// parts agree left out. Each weight that it touches moves once: w -= rate g, or AdaGrad's G += g^2,
// w -= rate g / sqrt(eps + G). The penalty is an exact flow, which the weights of all arcs of a sentence catch up with
// before they are read; the mean of iterates is kept as in online.cpp (Daume 2006), a catching-up counting as a move.
// The table has a row of w, one of G where eps > 0, one of the drift of the mean, and one of g, which is zero between
// steps: scores read only w, so the rows lie apart. With a penalty each weight has a clock.
// Given: sentences with templates, heads and weights, the order with its rates.  Changed: table, clocks and clock
// (time, steps).  Returned: the sum of losses before each step, and how many heads were wrong.
#include <cmath>

#include "arcs.hpp"
#include "dependency.hpp"
#include "elementary.hpp"

namespace linnaeus {
namespace {

using namespace arcs;
using Truth = std::tuple<In<int32_t>, In<double>>;    // heads; weights of sentences or nothing
using Order = std::tuple<In<int32_t>, In<double>>;    // sentences, rates
using Settings = std::tuple<double, double, double>;  // l2, total, eps (0: no AdaGrad)
using Asked = std::tuple<int, int>;                   // space, loss
using Outcome = std::tuple<double, int64_t>;
template <class S>
using State = std::tuple<TableOut<S>, InOut<double>, InOut<double>>;  // table, clocks (d or none), clock
enum Space { kProjective, kSpanning, kSpaces };
enum Loss { kPerceptron, kHinge, kLog, kSoftMargin, kLosses };

struct Rule {
  double rate, eps, l2, now, lag;
};

template <class S>
struct Weights {
  S *w, *G, *drift, *g;
  double* clocks;
  size_t d;

  // w follows -grad of l2/2 w^2 for the time since its clock, slower where AdaGrad is; the mean sees one move.
  void catch_up(size_t c, const Rule& rule) const {
    S time = S(-rule.l2 * (rule.now - clocks[c]));
    if (time == 0) return;
    clocks[c] = rule.now;
    S after = w[c] * elementary::exp(G ? time / std::sqrt(S(rule.eps) + G[c]) : time);
    after = std::fabs(after) < S(1e-30) ? S(0) : after;  // numbers below the normal ones are slow
    drift[c] += S(rule.lag) * (after - w[c]);
    w[c] = after;
  }

  void step(size_t c, const Rule& rule) const {
    S q = g[c], by = S(rule.rate) * q;
    g[c] = 0;
    if (G) {
      G[c] += q * q;
      by /= std::sqrt(S(rule.eps) + G[c]);
    }
    w[c] -= by;
    drift[c] -= S(rule.lag) * by;
  }
};

template <class S>
Weights<S> checked(State<S>& state, const Settings& settings) {
  auto& [table, clocks, clock] = state;
  auto [l2, total, eps] = settings;
  if (!(l2 >= 0) || !(total > 0) || !(eps >= 0)) refuse("l2 and eps are at least 0, and the total is positive");
  bool adaptive = eps > 0;
  size_t d = table.shape(1);
  bits_of(d);
  if (table.shape(0) != size_t(3 + adaptive)) refuse("the table does not have the layout");
  if (clock.size() != 2) refuse("the clock has two numbers");
  if (clocks.size() != (l2 > 0 ? d : 0)) refuse("with a penalty each weight has a clock, otherwise none");
  S* w = table.data();
  return {w, adaptive ? w + d : nullptr, w + (1 + adaptive) * d, w + (2 + adaptive) * d, clocks.data(), d};
}

template <class S>
class Learner {
 public:
  Learner(const Tokens& tokens, const Plan& plan, const Truth& truth, Weights<S> weights, Asked asked)
      : tokens_(tokens),
        heads_(std::get<0>(truth).data()),
        counts_(std::get<1>(truth).size() ? std::get<1>(truth).data() : nullptr),
        weights_(weights),
        space_(std::get<0>(asked)),
        loss_(std::get<1>(asked)),
        sentence_(plan, bits_of(weights.d)) {
    trees_.interrupts = &interrupts_;
  }

  void learn(size_t i, const Rule& rule, Outcome& outcome) {
    n_ = tokens_.size(i);
    if (!n_) return;
    gold_ = heads_ + tokens_.offsets[i];
    double weight = counts_ ? counts_[i] : 1.0;
    sentence_.read(tokens_, i);
    if (rule.l2 > 0)
      sentence_.every_column([](size_t, size_t) { return true; },
                             [&](size_t, size_t, uint32_t column) { weights_.catch_up(column, rule); });
    scores_.resize(n_ * (n_ + 1));
    sentence_.scores(weights_.w, scores_.data());
    double truth = score(gold_);
    if (loss_ == kHinge || loss_ == kSoftMargin) for_arcs([&](size_t h, size_t m) { at(h, m) += h != gold(m); });
    bool hard = loss_ == kPerceptron || loss_ == kHinge;
    std::get<0>(outcome) += weight * ((hard ? best(S(weight)) : soft(S(weight))) - truth);
    std::get<1>(outcome) += wrong_;
    for (uint32_t column : touched_) weights_.step(column, rule);
    touched_.clear();
  }

 private:
  size_t gold(size_t m) const { return size_t(gold_[m - 1]); }
  double& at(size_t h, size_t m) { return scores_[(m - 1) * (n_ + 1) + h]; }

  template <class Work>
  void for_arcs(Work&& work) const {
    for (size_t m = 1; m <= n_; ++m)
      for (size_t h = 0; h <= n_; ++h)
        if (h != m) work(h, m);
  }

  double score(const int32_t* heads) {
    double total = 0;
    for (size_t m = 1; m <= n_; ++m) total += at(size_t(heads[m - 1]), m);
    return total;
  }

  void pull(size_t h, size_t m, S by) {
    sentence_.columns(h, m, [&](uint32_t column) { pull(column, by); });
  }

  void pull(uint32_t column, S by) {
    if (weights_.g[column] == 0) touched_.push_back(column);
    weights_.g[column] += by;
  }

  double best(S weight) {
    found_.resize(n_);
    auto* find = space_ == kProjective ? &dependency::best_projective : &dependency::best_spanning;
    find(scores_.data(), n_, gold_, trees_, found_.data());
    wrong_ = 0;
    for (size_t m = 1; m <= n_; ++m)
      if (size_t h = size_t(found_[m - 1]); h != gold(m)) {
        ++wrong_;
        pull(h, m, weight);
        pull(gold(m), m, -weight);
      }
    return score(found_.data());
  }

  double soft(S weight) {
    chances_.resize(scores_.size());
    auto* sum = space_ == kProjective ? &dependency::soft_projective : &dependency::soft_spanning;
    double value = sum(scores_.data(), n_, trees_, chances_.data());
    wrong_ = 0;
    for (size_t m = 1; m <= n_; ++m) {
      double* row = chances_.data() + (m - 1) * (n_ + 1);
      bool wrong = false;
      for (size_t h = 0; h <= n_; ++h) wrong |= h != m && h != gold(m) && row[h] >= row[gold(m)];
      wrong_ += wrong;
      row[gold(m)] = double(S(row[gold(m)]) - S(1));
    }
    auto by = [&](size_t h, size_t m) { return S(chances_[(m - 1) * (n_ + 1) + h]); };
    sentence_.every_column([&](size_t h, size_t m) { return by(h, m) != 0; },
                           [&](size_t h, size_t m, uint32_t column) { pull(column, weight * by(h, m)); });
    return value;
  }

  const Tokens& tokens_;
  const int32_t* heads_;
  const double* counts_;
  Weights<S> weights_;
  int space_, loss_;
  Sentence sentence_;
  size_t n_ = 0;
  int64_t wrong_ = 0;
  const int32_t* gold_ = nullptr;
  std::vector<double> scores_, chances_;
  std::vector<int32_t> found_;
  std::vector<uint32_t> touched_;
  Interrupts interrupts_;
  dependency::TreeSpace trees_;
};

template <class S>
Outcome arc_learn(std::tuple<Coded, Table<int32_t>> data, Truth truth, Order order, State<S> state, Asked asked,
                  Settings settings) {
  auto& [coded, atoms] = data;
  auto& [sentences, rates] = order;
  auto [l2, total, eps] = settings;
  Weights<S> weights = checked(state, settings);
  double* clock = std::get<2>(state).data();
  Tokens tokens(coded);
  Plan plan(atoms, tokens.attributes);
  check_heads(tokens, std::get<0>(truth));
  if (size_t given = std::get<1>(truth).size(); given && given != tokens.n)
    refuse("there is one weight for each sentence");
  if (std::get<0>(asked) < 0 || std::get<0>(asked) >= kSpaces || std::get<1>(asked) < 0 ||
      std::get<1>(asked) >= kLosses)
    refuse("there is no such space or loss");
  if (rates.size() != sentences.size()) refuse("there is one rate for each step");
  for (size_t s = 0; s < sentences.size(); ++s)
    if (size_t(uint32_t(sentences.data()[s])) >= tokens.n) refuse("the order names a sentence that does not exist");
  nb::gil_scoped_release release;
  Learner<S> learner(tokens, plan, truth, weights, asked);
  Outcome outcome{0.0, 0};
  for (size_t s = 0; s < sentences.size(); ++s) {
    double rate = rates.data()[s];
    learner.learn(size_t(sentences.data()[s]), {rate, eps, l2, clock[0], clock[1]}, outcome);
    clock[0] += rate / total;
    clock[1] += 1;
  }
  return outcome;
}

// Every weight catches up with the penalty.
template <class S>
void arc_settle(State<S> state, Settings settings) {
  Weights<S> weights = checked(state, settings);
  if (!std::get<1>(state).size()) refuse("a penalty needs clocks");
  const double* clock = std::get<2>(state).data();
  Rule rule{0, std::get<2>(settings), std::get<0>(settings), clock[0], clock[1]};
  nb::gil_scoped_release release;
  for (size_t c = 0; c < weights.d; ++c) weights.catch_up(c, rule);
}

template <class S>
void bind_for(nb::module_& m) {
  using namespace nb::literals;
  auto state = "state"_a.noconvert();
  m.def("arc_learn", &arc_learn<S>, "data"_a, "truth"_a, "order"_a, state, "loss"_a, "settings"_a);
  m.def("arc_settle", &arc_settle<S>, state, "settings"_a);
}

}  // namespace

void bind_arc_learn(nb::module_& m) {
  bind_for<float>(m);
  bind_for<double>(m);
}

}  // namespace linnaeus
