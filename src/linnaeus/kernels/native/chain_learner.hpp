// One step of a learner of chains: the scores of a sequence, an oracle over its taggings, the move. See
// chain_learn.cpp.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>

#include "blocks.hpp"
#include "chain_sums.hpp"
#include "chain_table.hpp"
#include "sparse.hpp"

namespace linnaeus::chain {

enum Loss { kPerceptron, kHinge, kLog, kSoftMargin, kLosses };
enum Search { kWhole, kGreedy, kSearches };

using Truth = std::tuple<In<int64_t>, In<int32_t>, In<double>>;  // offsets, tags; weights or nothing
using Asked = std::tuple<int, int, In<double>>;                  // search, loss; costs (k, k) by true tag, or nothing
using Outcome = std::tuple<double, int64_t>;

[[noreturn]] inline void refuse(const char* what) { throw std::invalid_argument(std::string("chain_learn: ") + what); }

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
  Learner(const Sentences<S>& data, Store<S> store, Store<S> shared, size_t rows, size_t k, const Asked& asked)
      : data_(data),
        store_(store),
        shared_(shared),
        k_(k),
        p_(store.lanes),
        rows_(rows),
        search_(std::get<0>(asked)),
        loss_(std::get<1>(asked)),
        hard_(loss_ == kPerceptron || loss_ == kHinge),
        E_(data.longest * p_),
        G_(data.longest * p_),
        tags_(data.longest * p_),
        z_(data.longest),
        moved_(rows * p_) {
    const auto& costs = std::get<2>(asked);
    if (loss_ == kHinge || loss_ == kSoftMargin) {
      costs_.assign(k * p_, S(0));
      for (size_t y = 0; y < k; ++y)
        for (size_t c = 0; c < k; ++c) costs_[y * p_ + c] = S(costs.size() ? costs.data()[y * k + c] : y != c);
    }
  }

  void learn(size_t i, const Rule& rule, Outcome& outcome) {
    begin_ = size_t(data_.offsets[i]);
    n_ = size_t(data_.offsets[i + 1]) - begin_;
    if (!n_) return;
    weight_ = data_.weights ? data_.weights[i] : 1.0;
    for (size_t t = 0; t < n_; ++t) token_scores(store_, token(t), rule, E_.data() + t * p_);
    std::fill(moved_.begin(), moved_.end(), S(0));
    std::get<0>(outcome) += weight_ * (search_ == kWhole ? whole() : greedy());
    for (size_t t = 0; t < n_; ++t) std::get<1>(outcome) += z_[t] != gold()[t];
    move(rule);
  }

 private:
  const int32_t* gold() const { return data_.tags + begin_; }
  Links<S> links() const { return {shared_.data, shared_.row(1), shared_.stride, k_, p_, rows_ > 1 + k_}; }

  Token<S> token(size_t t) const {
    const Lines<S>& rows = data_.rows;
    int64_t first = rows.offsets[begin_ + t], last = rows.offsets[begin_ + t + 1];
    size_t readable = size_t(rows.offsets[begin_ + n_] - first);
    return {rows.indices + first, rows.values + first, size_t(last - first), readable};
  }

  double score(const int32_t* z) const {
    double total = 0;
    for (size_t t = 0; t < n_; ++t)
      total += double(E_[t * p_ + size_t(z[t])]) + double(links().into(z, t, size_t(z[t])));
    return total;
  }

  void add_costs(size_t t) {
    if (costs_.empty()) return;
    for (size_t c = 0; c < k_; ++c) E_[t * p_ + c] += costs_[size_t(gold()[t]) * p_ + c];
  }

  // Calls add(row) for each row of links that leads to token t after the tags z.
  template <class Add>
  void for_links(const int32_t* z, size_t t, Add&& add) {
    add(moved_.data() + (t ? 1 + size_t(z[t - 1]) : 0) * p_);
    if (links().second && t > 1) add(moved_.data() + (1 + k_ + size_t(z[t - 2]) * k_ + size_t(z[t - 1])) * p_);
  }

  void link(const int32_t* z, S weight) {
    for (size_t t = 0; t < n_; ++t) for_links(z, t, [&](S* row) { row[z[t]] += weight; });
  }

  // The loss over whole taggings, and its gradient.
  double whole() {
    double truth = score(gold());
    for (size_t t = 0; t < n_; ++t) add_costs(t);
    double upper = hard_ ? best() : soft();
    link(gold(), S(-weight_));
    return upper - truth;
  }

  double best() {
    find_best(links(), E_.data(), n_, gold(), D_, z_.data());
    link(z_.data(), S(weight_));
    for (size_t t = 0; t < n_; ++t)
      if (z_[t] != gold()[t]) pull_one(t);
    return score(z_.data());
  }

  double soft() {
    soft_.prepare(links());
    double value = soft_.run(E_.data(), n_, weight_, tags_.data());
    const double* pairs = soft_.finish();
    for (size_t c = 0; c < k_; ++c) moved_[c] = S(weight_) * S(tags_[c]);
    for (size_t i = 0; i < (rows_ - 1) * p_; ++i) moved_[p_ + i] = S(pairs[i]);
    for (size_t t = 0; t < n_; ++t) pull_all(t, tags_.data() + t * p_);
    return value;
  }

  // The tag that was found one up, the true one down.
  void pull_one(size_t t) {
    S* g = G_.data() + t * p_;
    std::fill_n(g, p_, S(0));
    g[z_[t]] = S(weight_);
    g[gold()[t]] = S(-weight_);
  }

  // All tags up by their chances, the true one down.
  void pull_all(size_t t, const double* chances) {
    S* g = G_.data() + t * p_;
    for (size_t c = 0; c < p_; ++c) g[c] = S(weight_) * S(chances[c]);
    g[gold()[t]] -= S(weight_);
    z_[t] = int32_t(pick(k_, gold()[t], [&](size_t c) { return chances[c]; }));
  }

  // The losses of tags chosen from left to right.
  double greedy() {
    double total = 0;
    history_.resize(std::max(history_.size(), n_));
    for (size_t t = 0; t < n_; ++t) {
      S* E = E_.data() + t * p_;
      for (size_t c = 0; c < k_; ++c) E[c] += links().into(history_.data(), t, c);
      history_[t] = int32_t(pick(k_, -1, [&](size_t c) { return E[c]; }));
      double truth = double(E[gold()[t]]);
      add_costs(t);
      total += (hard_ ? best_here(t) : soft_here(t)) - truth;
      const S* g = G_.data() + t * p_;
      if (!hard_ || z_[t] != gold()[t])
        for_links(history_.data(), t, [&](S* row) {
          for (size_t c = 0; c < k_; ++c) row[c] += g[c];
        });
    }
    return total;
  }

  double best_here(size_t t) {
    const S* E = E_.data() + t * p_;
    z_[t] = int32_t(pick(k_, gold()[t], [&](size_t c) { return E[c]; }));
    if (z_[t] != gold()[t]) pull_one(t);
    return double(E[z_[t]]);
  }

  double soft_here(size_t t) {
    const S* E = E_.data() + t * p_;
    double* chances = tags_.data() + t * p_;
    double high = double(*std::max_element(E, E + k_)), total = 0;
    for (size_t c = 0; c < p_; ++c) chances[c] = c < k_ ? elementary::exp(double(E[c]) - high) : 0.0;
    for (size_t c = 0; c < k_; ++c) total += chances[c];
    for (size_t c = 0; c < k_; ++c) chances[c] /= total;
    pull_all(t, chances);
    return high + elementary::log(total);
  }

  void move(const Rule& rule) {
    for (size_t t = 0; t < n_; ++t)
      if (!hard_ || z_[t] != gold()[t]) token_step(store_, token(t), rule, G_.data() + t * p_);
    const S one = 1;
    for (size_t r = 0; r < rows_; ++r) {
      const int32_t column = int32_t(r);
      const S* g = moved_.data() + r * p_;
      if (std::any_of(g, g + k_, [](S value) { return value != 0; }))
        token_step(shared_, {&column, &one, 1, 1}, rule, g);
    }
  }

  const Sentences<S>& data_;
  Store<S> store_, shared_;
  size_t k_, p_, rows_;
  int search_, loss_;
  bool hard_;
  size_t begin_ = 0, n_ = 0;
  double weight_ = 1;
  std::vector<S> E_, D_, G_, costs_;
  std::vector<double> tags_;
  std::vector<int32_t> z_, history_;
  std::vector<S> moved_;
  Soft soft_;
};

}  // namespace linnaeus::chain
