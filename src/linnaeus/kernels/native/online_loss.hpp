// What one example's scores cost, and the gradient in these scores: the losses that per-example learners know.
//
// Product spaces (binary, one-vs-rest, multi-label): every class is a yes or no of its own, y = +1 for the labels of
// the example and -1 for the others, and the loss is a sum over classes of functions of m = y s. Joint: one label, and
// the loss is an oracle minus the score of the truth, or a function of the margin m = s_gold - max over rivals of s.
// Ties go against the truth. Stakes are what mistakes cost, one row for each true class: hinge and soft margin ask for
// a margin of that size, the margin losses are multiplied by it; without them every mistake costs 1.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "elementary.hpp"
#include "targets.hpp"

namespace linnaeus::online {

enum Space : int { kProduct = 0, kJoint = 1, kSpaces = 2 };
enum Loss : int {
  kPerceptron = 0,
  kHinge,
  kLog,
  kSoftMargin,  // those above are oracle minus gold
  kLogistic,
  kSquaredHinge,
  kExponential,
  kModifiedHuber,  // those above are functions of the margin
  kSquared,
  kAbsolute,  // those above are functions of s - y
  kLosses
};

// An example as a loss sees it. `weight` is what it counts; `norm` the sum of squares of its features.
struct Example {
  const double* scores;
  const int32_t* labels;
  size_t count;  // of labels
  double weight, norm;
};

// `few` says that no more than the two classes of `at` have a gradient.
struct Verdict {
  double loss;
  bool mistake, few = false;
  int32_t at[2] = {};
};

// Writes weight * dloss/ds for k scores, into zeros. Gradients have room for `lanes` numbers; those past k stay zero.
class Judge {
 public:
  virtual ~Judge() = default;
  virtual Verdict judge(const Example& e, double* gradient) = 0;
};

struct Point {
  double value, slope;
};

inline double sigmoid(double t) {
  double small = elementary::exp(-std::fabs(t));
  return (t >= 0 ? 1.0 : small) / (1.0 + small);
}

// log(1 + e^t), without overflow.
inline double softplus(double t) { return std::max(t, 0.0) + elementary::log1p(elementary::exp(-std::fabs(t))); }

// A loss as a function of the margin. Where the truth asks for a margin, `stake` is its size; else it is a factor.
inline Point at_margin(int loss, double m, double stake) {
  double room = 1.0 - m;
  switch (loss) {
    case kPerceptron:
      return {std::max(0.0, -m), m <= 0 ? -1.0 : 0.0};
    case kHinge:
      return {std::max(0.0, stake - m), m <= stake ? -1.0 : 0.0};
    case kLog:
      return {softplus(-m), -sigmoid(-m)};
    case kSoftMargin:
      return {softplus(stake - m), -sigmoid(stake - m)};
    case kLogistic:
      return {stake * softplus(-m), -stake * sigmoid(-m)};
    case kSquaredHinge:
      room = std::max(0.0, room);
      return {stake * (room * room), -2.0 * stake * room};
    case kExponential:
      room = stake * elementary::exp(std::min(-m, 700.0));
      return {room, -room};
    case kModifiedHuber:
      if (m < -1) return {-4.0 * stake * m, -4.0 * stake};
      room = std::max(0.0, room);
      return {stake * (room * room), -2.0 * stake * room};
    case kSquared:
      return {stake * (room * room), -2.0 * stake * room};
    default:
      return {stake * std::fabs(room), stake * (room > 0 ? -1.0 : room < 0 ? 1.0 : 0.0)};
  }
}

// The best class that is not the true one; the lowest among equals. `costs` may be null.
inline size_t best_rival(const double* scores, const double* costs, size_t gold, size_t k) {
  constexpr size_t lanes = 8;
  if (costs || k < 2 * lanes) {
    size_t found = gold ? 0 : 1;
    auto worth = [&](size_t c) { return costs ? scores[c] + costs[c] : scores[c]; };
    for (size_t c = found + 1; c < k; ++c)
      if (c != gold && worth(c) > worth(found)) found = c;
    return found;
  }
  // Of many, first how good the best is, without branches; then where it stands.
  double best[lanes];
  std::fill_n(best, lanes, -std::numeric_limits<double>::infinity());
  auto raise = [&](size_t begin, size_t end) {
    size_t c = begin;
    for (; c + lanes <= end; c += lanes)
      for (size_t i = 0; i < lanes; ++i) best[i] = scores[c + i] > best[i] ? scores[c + i] : best[i];
    for (; c < end; ++c) best[0] = std::max(best[0], scores[c]);
  };
  raise(0, gold);
  raise(gold + 1, k);
  double high = *std::max_element(best, best + lanes);
  for (size_t c = 0; c < k; ++c)
    if (c != gold && scores[c] == high) return c;
  return gold ? 0 : 1;
}

// Whether the true class is the only best one.
inline bool leads(const double* scores, size_t gold, size_t k) {
  return scores[gold] > scores[best_rival(scores, nullptr, gold, k)];
}

class ProductLoss : public Judge {
 public:
  // Stakes: none, k rows of k, or 2 rows of 1 when k is 1. `joint`: the largest score is the prediction.
  ProductLoss(int loss, size_t k, const double* stakes, bool joint)
      : loss_(loss), k_(k), stakes_(stakes), joint_(joint), signs_(k, -1.0) {}

  Verdict judge(const Example& e, double* gradient) override {
    const double* stakes = nullptr;
    if (stakes_) stakes = stakes_ + (k_ == 1 ? e.count : size_t(e.labels[0]) * k_);
    for (size_t i = 0; i < e.count; ++i) signs_[e.labels[i]] = 1.0;
    Verdict found{0.0, false};
    for (size_t c = 0; c < k_; ++c) {
      Point at = at_margin(loss_, signs_[c] * e.scores[c], stakes ? stakes[c] : 1.0);
      found.loss += at.value;
      found.mistake |= !(signs_[c] * e.scores[c] > 0);
      gradient[c] = e.weight * (signs_[c] * at.slope);
    }
    for (size_t i = 0; i < e.count; ++i) signs_[e.labels[i]] = -1.0;
    if (joint_) found.mistake = !leads(e.scores, size_t(e.labels[0]), k_);
    found.loss *= e.weight;
    return found;
  }

 private:
  int loss_;
  size_t k_;
  const double* stakes_;
  bool joint_;
  std::vector<double> signs_;
};

// x = e^(x - high).
LINNAEUS_CLONES inline void exp_all(double* x, double high, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] = elementary::exp(x[i] - high);
}

// to = weight (x / total).
LINNAEUS_CLONES inline void shares(const double* __restrict x, double total, double weight, double* __restrict to,
                                   size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] = weight * (x[i] / total);
}

class JointLoss : public Judge {
 public:
  // Costs: none, or k rows of k: row y has what predicting each class costs when y is true.
  JointLoss(int loss, size_t k, const double* costs) : loss_(loss), k_(k), costs_(costs), shifted_(k) {}

  Verdict judge(const Example& e, double* gradient) override {
    size_t gold = size_t(e.labels[0]);
    size_t rival = best_rival(e.scores, nullptr, gold, k_);
    Verdict found{0.0, !(e.scores[gold] > e.scores[rival])};
    if (loss_ == kLog || loss_ == kSoftMargin) {
      found.loss = e.weight * soft(e, gold, gradient);
      return found;
    }
    double stake = costs_ ? costs_[gold * k_ + rival] : 1.0;
    if (loss_ == kHinge && costs_) {
      rival = best_rival(e.scores, costs_ + gold * k_, gold, k_);
      stake = costs_[gold * k_ + rival];
    }
    Point at = at_margin(loss_, e.scores[gold] - e.scores[rival], stake);
    gradient[gold] = e.weight * at.slope;
    gradient[rival] = -e.weight * at.slope;
    return {e.weight * at.value, found.mistake, true, {int32_t(gold), int32_t(rival)}};
  }

 private:
  // Log-sum-exp minus gold, with the costs as a head start for the soft margin; the gradient is softmax minus truth.
  double soft(const Example& e, size_t gold, double* gradient) {
    bool augmented = loss_ == kSoftMargin;
    for (size_t c = 0; c < k_; ++c) {
      double cost = !augmented ? 0.0 : costs_ ? costs_[gold * k_ + c] : double(c != gold);
      shifted_[c] = e.scores[c] + cost;
    }
    double high = *std::max_element(shifted_.begin(), shifted_.end()), total = 0.0;
    exp_all(shifted_.data(), high, k_);
    for (size_t c = 0; c < k_; ++c) total += shifted_[c];
    shares(shifted_.data(), total, e.weight, gradient, k_);
    gradient[gold] -= e.weight;
    return high + elementary::log(total) - e.scores[gold];
  }

  int loss_;
  size_t k_;
  const double* costs_;
  std::vector<double> shifted_;
};

// Passive-aggressive steps (Crammer et al. 2006): the smallest move that gives the example a margin of 1,
// tau = min(cap, loss / (|x|^2 + softness)): cap = infinity and softness = 0 is PA, cap = C is PA-I, softness = 1/(2C)
// is PA-II. A joint move changes two classes, so |x|^2 counts twice. The weight of an example multiplies its C.
class Aggression : public Judge {
 public:
  Aggression(int space, size_t k, double cap, double softness)
      : space_(space), k_(k), cap_(cap), softness_(softness), signs_(k, -1.0) {}

  Verdict judge(const Example& e, double* gradient) override {
    if (space_ == kJoint) {
      size_t gold = size_t(e.labels[0]), rival = best_rival(e.scores, nullptr, gold, k_);
      double m = e.scores[gold] - e.scores[rival];
      double tau = step(m, 2.0 * e.norm, e.weight);
      gradient[gold] = -tau;
      gradient[rival] = tau;
      return {e.weight * std::max(0.0, 1.0 - m), !(m > 0), true, {int32_t(gold), int32_t(rival)}};
    }
    Verdict found{0.0, false};
    for (size_t i = 0; i < e.count; ++i) signs_[e.labels[i]] = 1.0;
    for (size_t c = 0; c < k_; ++c) {
      double m = signs_[c] * e.scores[c];
      found.loss += e.weight * std::max(0.0, 1.0 - m);
      found.mistake |= !(m > 0);
      gradient[c] = -signs_[c] * step(m, e.norm, e.weight);
    }
    for (size_t i = 0; i < e.count; ++i) signs_[e.labels[i]] = -1.0;
    return found;
  }

 private:
  double step(double m, double norm, double weight) const {
    double loss = std::max(0.0, 1.0 - m);
    if (!(loss > 0) || !(norm > 0) || !(weight > 0)) return 0.0;
    return std::min(cap_ * weight, loss / (norm + softness_ / weight));
  }

  int space_;
  size_t k_;
  double cap_, softness_;
  std::vector<double> signs_;
};

}  // namespace linnaeus::online
