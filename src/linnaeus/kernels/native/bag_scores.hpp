// What an example's scores cost, and how the rows of O move: all scores, or a list of some.
#pragma once
#include "bag_pools.hpp"

namespace linnaeus::bag {

constexpr size_t kAtOnce = 4;  // rows of O whose products are summed at a time

// The scores of all w rows of O.
LINNAEUS_CLONES inline void score_all(const Problem& p, const float* h, double* scores) {
  size_t k = 0;
  for (; k + kAtOnce <= p.w; k += kAtOnce) {
    const float* row = p.O + k * p.size;
    Line sums[kAtOnce] = {}, x, y;
    for (size_t c = 0; c < p.size; c += kLanes) {
      load(x, h + c);
      for (size_t t = 0; t < kAtOnce; ++t) {
        load(y, row + t * p.size + c);
        sums[t] += y * x;
      }
    }
    float found[kAtOnce];
    embed::sum_each(sums, found);
    for (size_t t = 0; t < kAtOnce; ++t) scores[k + t] = double(found[t] + p.b[k + t]);
  }
  for (; k < p.w; ++k) scores[k] = double(product(p.O + k * p.size, h, p.size) + p.b[k]);
}

// g = sum of d_k O_k, `L` lines of numbers at a time.
template <size_t L>
LINNAEUS_INLINE void pull_lines(const Problem& p, const float* d, size_t first, float* g) {
  Line sums[L] = {}, row;
  for (size_t k = 0; k < p.w; ++k)
    for (size_t l = 0; l < L; ++l) {
      load(row, p.O + k * p.size + first + l * kLanes);
      sums[l] += d[k] * row;
    }
  for (size_t l = 0; l < L; ++l) store(sums[l], g + first + l * kLanes);
}

LINNAEUS_CLONES inline void pull_all(const Problem& p, const float* d, float* g) {
  size_t c = 0;
  for (; c + 4 * kLanes <= p.size; c += 4 * kLanes) pull_lines<4>(p, d, c, g);
  for (; c + 2 * kLanes <= p.size; c += 2 * kLanes) pull_lines<2>(p, d, c, g);
  if (c < p.size) pull_lines<1>(p, d, c, g);
}

// A row of O and its bias; d is the gradient of one example in that score.
LINNAEUS_INLINE void move_output(const Problem& p, size_t k, float d, const float* h, float length, Pace pace) {
  if (d == 0) return;
  float *row = p.O + k * p.size, *sum = row + p.size - 1;
  const float total = *sum + d * d * length;
  add_line_times(row, h, -(pace.rate * d) / std::sqrt(pace.smoothing + total), p.size);
  *sum = total;
  p.b[p.w + k] += d * d;
  p.b[k] -= pace.rate * d / std::sqrt(pace.smoothing + p.b[p.w + k]);
}

// What the examples of a batch leave for the rows of O: their vectors h, and their gradients d in all scores.
struct Pulls {
  const float *h, *d;
  size_t count;
};

// Some rows of O, at most kLanes of them: the sums of their squares and their biases, and how far each example moves
// them, in their order; steps[i * kLanes + j] is that of example i and row first + j.
template <size_t N>
LINNAEUS_INLINE void find_steps(const Problem& p, size_t first, size_t count, const Pulls& pulls, Pace pace,
                                const float* lengths, float* steps) {
  const size_t n = N ? N : count;
  float sums[kLanes], squares[kLanes], biases[kLanes];
  for (size_t j = 0; j < n; ++j) {
    sums[j] = p.O[(first + j + 1) * p.size - 1];
    squares[j] = p.b[p.w + first + j];
    biases[j] = p.b[first + j];
  }
  for (size_t i = 0; i < pulls.count; ++i) {
    const float* d = pulls.d + i * p.w + first;
    for (size_t j = 0; j < n; ++j) {
      const float square = d[j] * d[j];
      sums[j] += square * lengths[i];
      squares[j] += square;
      steps[i * kLanes + j] = -(pace.rate * d[j]) / std::sqrt(pace.smoothing + sums[j]);
      biases[j] -= pace.rate * d[j] / std::sqrt(pace.smoothing + squares[j]);
    }
  }
  for (size_t j = 0; j < n; ++j) {
    p.O[(first + j + 1) * p.size - 1] = sums[j];
    p.b[p.w + first + j] = squares[j];
    p.b[first + j] = biases[j];
  }
}

// A row by all examples of a batch, `L` lines of numbers, which stay at hand.
template <size_t L>
LINNAEUS_INLINE void move_row(float* row, size_t size, const float* h, size_t count, const float* steps) {
  Line at[L], x;
  for (size_t l = 0; l < L; ++l) load(at[l], row + l * kLanes);
  for (size_t i = 0; i < count; ++i) {
    const float step = steps[i * kLanes];
    if (step == 0) continue;
    for (size_t l = 0; l < L; ++l) {
      load(x, h + i * size + l * kLanes);
      at[l] += step * x;
    }
  }
  for (size_t l = 0; l < L; ++l) store(at[l], row + l * kLanes);
}

// Rows `first` to `last` of O, each by all examples of a batch. `room` has kLanes + 1 numbers for each example.
LINNAEUS_CLONES inline void move_all(const Problem& p, size_t first, size_t last, const Pulls& pulls, Pace pace,
                                     float* room) {
  float *lengths = room, *steps = room + pulls.count;
  for (size_t i = 0; i < pulls.count; ++i)
    lengths[i] = product(pulls.h + i * p.size, pulls.h + i * p.size, p.size) / float(p.numbers);
  for (; first < last; first += kLanes) {
    const size_t count = std::min(kLanes, last - first);
    if (count == kLanes) find_steps<kLanes>(p, first, count, pulls, pace, lengths, steps);
    else find_steps<0>(p, first, count, pulls, pace, lengths, steps);
    for (size_t j = 0; j < count; ++j) {
      float* row = p.O + (first + j) * p.size;
      size_t c = 0;
      const float sum = row[p.size - 1];
      for (; c + 4 * kLanes <= p.size; c += 4 * kLanes)
        move_row<4>(row + c, p.size, pulls.h + c, pulls.count, steps + j);
      for (; c + 2 * kLanes <= p.size; c += 2 * kLanes)
        move_row<2>(row + c, p.size, pulls.h + c, pulls.count, steps + j);
      if (c < p.size) move_row<1>(row + c, p.size, pulls.h + c, pulls.count, steps + j);
      row[p.size - 1] = sum;
    }
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
    std::vector<float> room;
    std::unique_ptr<online::Judge> judge;
  };

  Worker worker(const Problem& p) const {
    using namespace online;
    Worker found{std::vector<double>(p.w), std::vector<double>(p.w), std::vector<float>(p.batch * (kLanes + 1)),
                 nullptr};
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

  void move(const Problem& p, Worker& own, const int32_t*, size_t first, size_t last, const Pulls& pulls,
            Pace pace) const {
    move_all(p, first, last, pulls, pace, own.room.data());
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

  void move(const Problem& p, Worker&, const int32_t* examples, size_t first, size_t last, const Pulls& pulls,
            Pace pace) const {
    for (size_t row = 0; row < pulls.count; ++row) {
      const size_t i = size_t(examples[row]);
      const float *h = pulls.h + row * p.size, *d = pulls.d + row * longest_;
      const float length = dot(h, h, p.size) / float(p.numbers);
      for (int64_t j = offsets_[i]; j < offsets_[i + 1]; ++j)
        if (const size_t k = size_t(at_[j]); k >= first && k < last)
          move_output(p, k, d[j - offsets_[i]], h, length, pace);
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
