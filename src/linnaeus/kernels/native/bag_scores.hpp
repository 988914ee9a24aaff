// What an example's scores cost, and how the rows of O move: all scores, or a list of some.
#pragma once
#include "bag_pools.hpp"

namespace linnaeus::bag {

// The scores of all w rows of O.
LINNAEUS_CLONES inline void score_all(const Problem& p, const float* h, double* scores) {
  for (size_t k = 0; k < p.w; ++k) scores[k] = double(product(p.O + k * p.size, h, p.size) + p.b[k]);
}

// g = sum of d_k O_k, one line of numbers at a time.
LINNAEUS_CLONES inline void pull_all(const Problem& p, const float* d, float* g) {
  for (size_t c = 0; c < p.size; c += kLanes) {
    Line sum = {}, row;
    for (size_t k = 0; k < p.w; ++k) {
      load(row, p.O + k * p.size + c);
      sum += d[k] * row;
    }
    store(sum, g + c);
  }
}

// Rows of O and biases whose number mod 8 is in these parts; d is the gradient of one example in that score.
LINNAEUS_INLINE void move_output(const Problem& p, size_t k, float d, const float* h, float length, Pace pace) {
  if (d == 0) return;
  float *row = p.O + k * p.size, *sum = row + p.size - 1;
  const float total = *sum + d * d * length;
  add_line_times(row, h, -(pace.rate * d) / std::sqrt(pace.smoothing + total), p.size);
  *sum = total;
  p.b[p.w + k] += d * d;
  p.b[k] -= pace.rate * d / std::sqrt(pace.smoothing + p.b[p.w + k]);
}

constexpr size_t kChunk = 64;  // rows whose steps are computed together

// Rows of O whose number mod 8 is in parts `first` to `last`.
LINNAEUS_CLONES inline void move_all(const Problem& p, size_t first, size_t last, const float* d, const float* h,
                                     Pace pace) {
  const float length = product(h, h, p.size) / float(p.numbers);
  float sums[kChunk], steps[kChunk], biases[kChunk];
  size_t chosen[kChunk], count = 0;
  for (size_t k = 0; k < p.w; ++k) {
    const size_t part = k % kParts;
    if (d[k] != 0 && part >= first && part < last) chosen[count++] = k;
    if (!count || (count < kChunk && k + 1 < p.w)) continue;
    for (size_t j = 0; j < count; ++j) {
      const float each = d[chosen[j]];
      steps[j] = each;
      sums[j] = p.O[chosen[j] * p.size + p.size - 1] + each * each * length;
      biases[j] = p.b[p.w + chosen[j]] += each * each;
    }
    for (size_t j = 0; j < count; ++j) {
      biases[j] = pace.rate * steps[j] / std::sqrt(pace.smoothing + biases[j]);
      steps[j] = -(pace.rate * steps[j]) / std::sqrt(pace.smoothing + sums[j]);
    }
    for (size_t j = 0; j < count; ++j) {
      float* row = p.O + chosen[j] * p.size;
      add_line_times(row, h, steps[j], p.size);
      row[p.size - 1] = sums[j];
      p.b[chosen[j]] -= biases[j];
    }
    count = 0;
  }
}

// All scores of an example, and a loss that judges them together.
class Whole {
 public:
  using Truth = std::tuple<In<int64_t>, In<int32_t>, In<double>>;  // offsets, labels, what each example counts
  using Asked = std::tuple<int, int, In<double>>;                  // space, loss, stakes

  Whole(const Problem& p, const Truth& truth, const Asked& asked)
      : offsets_(std::get<0>(truth).data()),
        labels_(std::get<1>(truth).data()),
        weights_(std::get<2>(truth).size() ? std::get<2>(truth).data() : nullptr),
        stakes_(std::get<2>(asked).size() ? std::get<2>(asked).data() : nullptr),
        space_(std::get<0>(asked)),
        loss_(std::get<1>(asked)) {
    using namespace online;
    if (std::get<0>(truth).size() != p.n + 1 || (weights_ && std::get<2>(truth).size() != p.n))
      refuse("the truth has another length");
    if (space_ < 0 || space_ >= kSpaces || loss_ < 0 || loss_ >= kLosses) refuse("there is no such space or loss");
    const size_t stakes = std::get<2>(asked).size();
    if (stakes && stakes != (p.w == 1 ? 2 : p.w * p.w)) refuse("the stakes have another size");
    if (space_ == kJoint && p.w < 2) refuse("a joint space has two classes or more");
    const int64_t known = int64_t(std::get<1>(truth).size());
    for (size_t t = 0; t < p.steps; ++t) {
      const int64_t from = offsets_[p.order[t]], to = offsets_[p.order[t] + 1];
      if (from < 0 || to < from || to > known) refuse("the offsets do not fit the labels");
      for (int64_t j = from; j < to; ++j)
        if (uint32_t(labels_[j]) >= p.w) refuse("a label is not a class");
      if ((space_ == kJoint || (stakes && p.w > 1)) && to - from != 1) refuse("every example needs exactly one label");
      if (stakes && p.w == 1 && to - from > 1) refuse("one class has one label at most");
    }
  }

  size_t room(const Problem& p) const { return p.w; }

  struct Worker {
    std::vector<double> scores, gradient;
    std::unique_ptr<online::Judge> judge;
  };

  Worker worker(const Problem& p) const {
    using namespace online;
    Worker found{std::vector<double>(p.w), std::vector<double>(p.w), nullptr};
    const bool joint = space_ == kJoint && loss_ != kSquared && loss_ != kAbsolute;
    const double* given = joint == (space_ == kJoint) ? stakes_ : nullptr;
    if (joint) found.judge = std::make_unique<JointLoss>(loss_, p.w, given);
    else found.judge = std::make_unique<ProductLoss>(loss_, p.w, given, space_ == kJoint);
    return found;
  }

  // The gradient d of example i in its scores, and g, that in its vector.
  online::Verdict look(const Problem& p, Worker& own, size_t i, const float* h, float* d, float* g) const {
    score_all(p, h, own.scores.data());
    std::fill(own.gradient.begin(), own.gradient.end(), 0.0);
    const double weight = weights_ ? weights_[i] : 1.0;
    online::Verdict said =
        own.judge->judge({own.scores.data(), labels_ + offsets_[i], size_t(offsets_[i + 1] - offsets_[i]), weight, 0.0},
                         own.gradient.data());
    for (size_t k = 0; k < p.w; ++k) d[k] = float(own.gradient[k]);
    pull_all(p, d, g);
    return said;
  }

  void move(const Problem& p, size_t, size_t first, size_t last, const float* d, const float* h, Pace pace) const {
    move_all(p, first, last, d, h, pace);
  }

 private:
  const int64_t* offsets_;
  const int32_t* labels_;
  const double *weights_, *stakes_;
  int space_, loss_;
};

// Some scores of an example, each with a sign and a loss of its own: the path of a class in a tree, or its label and
// some that are drawn.
class Listed {
 public:
  using Truth = std::tuple<In<int64_t>, In<int32_t>, In<float>, In<double>>;  // offsets, scores, signs, weights
  using Asked = int;                                                          // loss of the margin

  Listed(const Problem& p, const Truth& truth, int loss)
      : offsets_(std::get<0>(truth).data()),
        at_(std::get<1>(truth).data()),
        signs_(std::get<2>(truth).data()),
        weights_(std::get<3>(truth).size() ? std::get<3>(truth).data() : nullptr),
        loss_(loss) {
    if (std::get<0>(truth).size() != p.n + 1 || (weights_ && std::get<3>(truth).size() != p.n))
      refuse("the truth has another length");
    if (loss < 0 || loss >= online::kLosses) refuse("there is no such space or loss");
    const int64_t known = int64_t(std::min(std::get<1>(truth).size(), std::get<2>(truth).size()));
    for (size_t t = 0; t < p.steps; ++t) {
      const int64_t from = offsets_[p.order[t]], to = offsets_[p.order[t] + 1];
      if (from < 0 || to < from || to > known) refuse("the offsets do not fit the labels");
      for (int64_t j = from; j < to; ++j)
        if (uint32_t(at_[j]) >= p.w) refuse("a label is not a class");
      longest_ = std::max(longest_, size_t(to - from));
    }
  }

  size_t room(const Problem&) const { return longest_; }

  struct Worker {};
  Worker worker(const Problem&) const { return {}; }

  online::Verdict look(const Problem& p, Worker&, size_t i, const float* h, float* d, float* g) const {
    online::Verdict said{0.0, false};
    const double weight = weights_ ? weights_[i] : 1.0;
    std::fill_n(g, p.size, 0.0f);
    for (int64_t j = offsets_[i]; j < offsets_[i + 1]; ++j) {
      const float* row = p.O + size_t(at_[j]) * p.size;
      const double sign = double(signs_[j]), s = double(dot(row, h, p.size) + p.b[at_[j]]);
      const online::Point found = online::at_margin(loss_, sign * s, 1.0);
      said.loss += weight * found.value;
      said.mistake |= !(sign * s > 0);
      const float slope = d[j - offsets_[i]] = float(weight * (sign * found.slope));
      if (slope != 0) add_times(g, row, slope, p.size);
    }
    return said;
  }

  void move(const Problem& p, size_t i, size_t first, size_t last, const float* d, const float* h, Pace pace) const {
    const float length = dot(h, h, p.size) / float(p.numbers);
    for (int64_t j = offsets_[i]; j < offsets_[i + 1]; ++j) {
      const size_t part = size_t(at_[j]) % kParts;
      if (part >= first && part < last) move_output(p, size_t(at_[j]), d[j - offsets_[i]], h, length, pace);
    }
  }

 private:
  const int64_t* offsets_;
  const int32_t* at_;
  const float* signs_;
  const double* weights_;
  int loss_;
  size_t longest_ = 0;
};

}  // namespace linnaeus::bag
