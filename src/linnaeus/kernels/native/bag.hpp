// What the steps of an embedding bag share: tables, rows in parts, workers that meet, and loops over lines of numbers.
//
// A row of a table is `size` numbers, whole lines of 16: the vector, zeros, and last the sum of its squared gradients,
// so that a step touches nothing else. Vectors of features (E) may begin with numbers that stay as they are.
//
// The values of an example are ordered by part: value (c, x) is in part c mod 8. A worker changes the rows of some
// parts, so that no two change the same row, and each row is changed in the order of the examples.
#pragma once
#include <nanobind/stl/tuple.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "arrays.hpp"
#include "online_loss.hpp"
#include "parallel.hpp"
#include "together.hpp"
#include "word_steps.hpp"

namespace linnaeus::bag {

using embed::kLanes;
using embed::Line;
using embed::load;
using embed::store;

constexpr size_t kParts = 8;
constexpr size_t kMostLines = 8;  // that are summed at a time
constexpr size_t kAhead = 12;     // values whose rows are asked for before they are needed

[[noreturn]] inline void refuse(const char* what) { throw std::invalid_argument(std::string("bag_steps: ") + what); }

using Matrix = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Tables = std::tuple<Matrix, Matrix, InOut<float>, InOut<double>>;     // E, O, biases and their sums, scale of E
using Rows = std::tuple<In<int64_t>, In<int64_t>, In<int32_t>, In<float>>;  // offsets, ends of parts, columns, values
using Clock = std::tuple<In<int32_t>, In<double>>;                          // examples, and the rate of each batch
using Settings = std::tuple<size_t, size_t, size_t, double, double>;        // batch, numbers, frozen, smoothing, decay
using Outcome = std::tuple<double, int64_t>;  // sum of losses before each batch, examples that were wrong or tied

// Workers that wait for each other after very little work: they look again and again before they give way.
class Meeting {
 public:
  void meet(size_t workers) {
    if (workers == 1) return;
    const size_t now = generation_.load(std::memory_order_acquire);
    if (come_.fetch_add(1, std::memory_order_acq_rel) + 1 == workers) {
      come_.store(0, std::memory_order_relaxed);
      generation_.store(now + 1, std::memory_order_release);
      return;
    }
    for (size_t looks = 0; generation_.load(std::memory_order_acquire) == now; ++looks)
      if (looks > 2000) std::this_thread::yield();
      else pause();
  }

 private:
  static void pause() {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#endif
  }
  alignas(64) std::atomic<size_t> come_{0};
  alignas(64) std::atomic<size_t> generation_{0};
};

// The values of one example, or of some parts of it.
struct Values {
  const int32_t* columns;
  const float* values;
  size_t count;
};

struct Problem {
  float *E, *O, *b;
  double* scale;
  size_t m, w, size;
  const int64_t *indptr, *ends;
  const int32_t* columns;
  const float* values;
  const int32_t* order;
  size_t steps, n, batches;
  const double* rates;
  size_t batch, numbers, frozen;
  double smoothing, decay;
  size_t work = 0;  // values of all examples

  Problem(Tables& tables, const Rows& rows, const Clock& clock, const Settings& settings) {
    auto& [e, o, biases, factor] = tables;
    E = e.data(), O = o.data(), b = biases.data(), scale = factor.data();
    m = e.shape(0), w = o.shape(0), size = e.shape(1);
    auto& [offsets, stops, cs, xs] = rows;
    indptr = offsets.data(), ends = stops.data(), columns = cs.data(), values = xs.data();
    n = offsets.size() ? offsets.size() - 1 : 0;
    order = std::get<0>(clock).data(), steps = std::get<0>(clock).size(), rates = std::get<1>(clock).data();
    std::tie(batch, numbers, frozen, smoothing, decay) = settings;
    if (size % kLanes || !size || o.shape(1) != size) refuse("rows are whole lines of 16 numbers, of one size");
    if (!w || biases.size() != 2 * w || factor.size() != 1) refuse("the bias does not fit the output rows");
    if (numbers >= size || frozen > numbers || !batch) refuse("the vectors do not fit the rows");
    if (!(smoothing > 0) || !(decay >= 0) || !(*scale > 0)) refuse("smoothing and scale are above zero");
    batches = (steps + batch - 1) / batch;
    if (std::get<1>(clock).size() != batches) refuse("there is one rate for each batch");
    if (stops.size() != n * kParts) refuse("there is one end for each part of a row");
    check(int64_t(std::min(cs.size(), xs.size())));
  }

  void check(int64_t stored) {
    for (size_t t = 0; t < steps; ++t) {
      size_t i = size_t(uint32_t(order[t]));
      if (i >= n) refuse("the order names an example that does not exist");
      int64_t at = indptr[i];
      if (at < 0) refuse("the offsets do not fit the values");
      for (size_t part = 0; part < kParts; ++part) {
        int64_t stop = ends[i * kParts + part];
        if (stop < at || stop > stored) refuse("the offsets do not fit the values");
        for (; at < stop; ++at)
          if (uint32_t(columns[at]) >= m || uint32_t(columns[at]) % kParts != part)
            refuse("a column is in another part, or not in the table");
      }
      work += size_t(at - indptr[i]);
      if (at != indptr[i + 1]) refuse("the parts of a row do not end where it does");
    }
  }

  // The values of example i in parts first .. last (excluded).
  Values of(size_t i, size_t first, size_t last) const {
    int64_t from = first ? ends[i * kParts + first - 1] : indptr[i], to = last ? ends[i * kParts + last - 1] : from;
    return {columns + from, values + from, size_t(to - from)};
  }
};

// sums = sum of x_j E_j over the values, `L` lines of each row.
template <size_t L>
LINNAEUS_INLINE void sum_lines(const float* E, size_t size, const Values& v, float* sums) {
  Line total[L] = {}, row;
  for (size_t j = 0; j < v.count; ++j) {
    if (j + kAhead < v.count)
      for (size_t l = 0; l < L; ++l) prefetch(E, (size_t(v.columns[j + kAhead]) * size + l * kLanes) * sizeof(float));
    const float* from = E + size_t(v.columns[j]) * size;
    const float x = v.values[j];
    for (size_t l = 0; l < L; ++l) {
      load(row, from + l * kLanes);
      total[l] += x * row;
    }
  }
  for (size_t l = 0; l < L; ++l) store(total[l], sums + l * kLanes);
}

LINNAEUS_CLONES inline void sum_rows(const float* E, size_t size, const Values& v, float* sums) {
  for (size_t at = 0; at < size; at += kMostLines * kLanes) {
    const float* from = E + at;
    float* to = sums + at;
    switch (std::min(kMostLines, (size - at) / kLanes)) {
      case 1:
        sum_lines<1>(from, size, v, to);
        break;
      case 2:
        sum_lines<2>(from, size, v, to);
        break;
      case 3:
        sum_lines<3>(from, size, v, to);
        break;
      case 4:
        sum_lines<4>(from, size, v, to);
        break;
      case 5:
        sum_lines<5>(from, size, v, to);
        break;
      case 6:
        sum_lines<6>(from, size, v, to);
        break;
      case 7:
        sum_lines<7>(from, size, v, to);
        break;
      default:
        sum_lines<8>(from, size, v, to);
        break;
    }
  }
}

struct Pace {
  float rate, smoothing;
};

// E_j -= rate x_j / sqrt(smoothing + sum of squares) g for the values; `square` is the mean square of g.
template <size_t L>
LINNAEUS_INLINE void move_lines(float* E, size_t size, const Values& v, const float* g, float square, Pace pace) {
  Line pull[L ? L : 1], row;
  for (size_t l = 0; l < L; ++l) load(pull[l], g + l * kLanes);
  for (size_t j = 0; j < v.count; ++j) {
    if (j + kAhead < v.count)
      for (size_t l = 0; l < (L ? L : 1); ++l)
        prefetch(E, (size_t(v.columns[j + kAhead]) * size + l * kLanes) * sizeof(float));
    float* to = E + size_t(v.columns[j]) * size;
    const float x = v.values[j], sum = to[size - 1] + x * x * square;
    const float step = -(pace.rate * x) / std::sqrt(pace.smoothing + sum);
    if constexpr (L > 0) {
      for (size_t l = 0; l < L; ++l) {
        load(row, to + l * kLanes);
        row += step * pull[l];
        store(row, to + l * kLanes);
      }
    } else {
      for (size_t c = 0; c < size; ++c) to[c] += step * g[c];
    }
    to[size - 1] = sum;
  }
}

LINNAEUS_CLONES inline void move_rows(float* E, size_t size, const Values& v, const float* g, float square, Pace pace) {
  switch (size / kLanes) {
    case 1:
      move_lines<1>(E, size, v, g, square, pace);
      break;
    case 2:
      move_lines<2>(E, size, v, g, square, pace);
      break;
    case 3:
      move_lines<3>(E, size, v, g, square, pace);
      break;
    case 4:
      move_lines<4>(E, size, v, g, square, pace);
      break;
    case 7:
      move_lines<7>(E, size, v, g, square, pace);
      break;
    case 8:
      move_lines<8>(E, size, v, g, square, pace);
      break;
    default:
      move_lines<0>(E, size, v, g, square, pace);
      break;
  }
}

// The product of two rows, the sum in 16 lanes.
LINNAEUS_CLONES inline float dot(const float* a, const float* b, size_t size) {
  Line sum = {}, x, y;
  for (size_t c = 0; c < size; c += kLanes) {
    load(x, a + c), load(y, b + c);
    sum += x * y;
  }
  return embed::sum_lanes(sum);
}

// to += times from.
LINNAEUS_CLONES inline void add_times(float* __restrict to, const float* __restrict from, float times, size_t size) {
  for (size_t c = 0; c < size; ++c) to[c] += times * from[c];
}

// The sum over the values: means are sums of values that add up to 1.
struct Sum {
  static size_t room(const Problem&) { return 0; }
  static void pool(const Problem& p, size_t i, float* h, int32_t*) { sum_rows(p.E, p.size, p.of(i, 0, kParts), h); }
  static void move(const Problem& p, size_t i, size_t first, size_t last, const float* g, const int32_t*, Pace pace) {
    const float square = dot(g, g, p.size) / float(p.numbers - p.frozen);
    if (square > 0) move_rows(p.E, p.size, p.of(i, first, last), g, square, pace);
  }
};

// The largest number at each place over the features that occur; the first of equals gets the gradient.
struct Max {
  static size_t room(const Problem& p) { return p.numbers; }
  static void pool(const Problem& p, size_t i, float* h, int32_t* from) {
    const Values v = p.of(i, 0, kParts);
    std::fill_n(h, p.size, 0.0f);
    std::fill_n(from, p.numbers, v.count ? v.columns[0] : -1);
    if (v.count) std::copy_n(p.E + size_t(v.columns[0]) * p.size, p.numbers, h);
    for (size_t j = 1; j < v.count; ++j) {
      const float* row = p.E + size_t(v.columns[j]) * p.size;
      for (size_t c = 0; c < p.numbers; ++c)
        if (row[c] > h[c]) h[c] = row[c], from[c] = v.columns[j];
    }
  }
  static void move(const Problem& p, size_t, size_t first, size_t last, const float* g, const int32_t* from,
                   Pace pace) {
    for (size_t c = p.frozen; c < p.numbers; ++c) {
      const size_t part = size_t(uint32_t(from[c])) % kParts;
      if (from[c] < 0 || part < first || part >= last) continue;
      float* to = p.E + size_t(from[c]) * p.size;
      to[p.size - 1] += g[c] * g[c] / float(p.numbers - p.frozen);
      to[c] -= pace.rate * g[c] / std::sqrt(pace.smoothing + to[p.size - 1]);
    }
  }
};

// Rows of O and biases whose number mod 8 is in these parts; d is the gradient of one example in that score.
LINNAEUS_INLINE void move_output(const Problem& p, size_t k, float d, const float* h, float length, Pace pace) {
  if (d == 0) return;
  float *row = p.O + k * p.size, *sum = row + p.size - 1;
  const float total = *sum + d * d * length;
  add_times(row, h, -(pace.rate * d) / std::sqrt(pace.smoothing + total), p.size);
  *sum = total;
  p.b[p.w + k] += d * d;
  p.b[k] -= pace.rate * d / std::sqrt(pace.smoothing + p.b[p.w + k]);
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
    for (size_t k = 0; k < p.w; ++k) own.scores[k] = double(dot(p.O + k * p.size, h, p.size) + p.b[k]);
    std::fill(own.gradient.begin(), own.gradient.end(), 0.0);
    const double weight = weights_ ? weights_[i] : 1.0;
    online::Verdict said =
        own.judge->judge({own.scores.data(), labels_ + offsets_[i], size_t(offsets_[i + 1] - offsets_[i]), weight, 0.0},
                         own.gradient.data());
    std::fill_n(g, p.size, 0.0f);
    for (size_t k = 0; k < p.w; ++k) {
      d[k] = float(own.gradient[k]);
      if (d[k] != 0) add_times(g, p.O + k * p.size, d[k], p.size);
    }
    return said;
  }

  void move(const Problem& p, size_t, size_t first, size_t last, const float* d, const float* h, Pace pace) const {
    const float length = dot(h, h, p.size) / float(p.numbers);
    for (size_t part = first; part < last; ++part)
      for (size_t k = part; k < p.w; k += kParts) move_output(p, k, d[k], h, length, pace);
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

// What the examples of a batch leave for its second half.
struct Batch {
  std::vector<float> h, d, g;
  std::vector<int32_t> from;
  std::vector<double> losses;
  std::vector<char> mistakes;
  size_t size, width, places;

  Batch(const Problem& p, size_t width, size_t places)
      : h(p.batch * p.size),
        d(p.batch * width),
        g(p.batch * p.size),
        from(p.batch * places),
        losses(p.batch),
        mistakes(p.batch),
        size(p.size),
        width(width),
        places(places) {}
};

// The first half: vectors, scores and gradients of one example, from the tables as the batch found them.
template <class Pool, class Scores>
void look_at(const Problem& p, const Scores& scores, typename Scores::Worker& own, Batch& batch, size_t row, size_t i,
             double scale) {
  float *h = batch.h.data() + row * p.size, *g = batch.g.data() + row * p.size;
  Pool::pool(p, i, h, batch.from.data() + row * batch.places);
  for (size_t c = p.frozen; c < p.numbers; ++c) h[c] *= float(scale);
  std::fill(h + p.numbers, h + p.size, 0.0f);
  const online::Verdict said = scores.look(p, own, i, h, batch.d.data() + row * batch.width, g);
  std::fill(g, g + p.frozen, 0.0f);
  std::fill(g + p.numbers, g + p.size, 0.0f);
  batch.losses[row] = said.loss, batch.mistakes[row] = said.mistake;
}

// The second half: some parts of the tables change, example by example.
template <class Pool, class Scores>
void move_parts(const Problem& p, const Scores& scores, const Batch& batch, size_t number, size_t first, size_t last,
                double scale) {
  const size_t begin = number * p.batch, count = std::min(p.batch, p.steps - begin);
  const double rate = p.rates[number];
  const Pace pace{float(rate), float(p.smoothing)}, inner{float(rate / scale), pace.smoothing};
  if (p.decay > 0) {
    const float kept = float(elementary::exp(-rate * p.decay));
    for (size_t part = first; part < last; ++part)
      for (size_t k = part; k < p.w; k += kParts) embed::scale(p.O + k * p.size, kept, p.numbers);
  }
  for (size_t row = 0; row < count; ++row) {
    const size_t i = size_t(p.order[begin + row]);
    const float *g = batch.g.data() + row * p.size, *h = batch.h.data() + row * p.size;
    if (p.frozen < p.numbers) Pool::move(p, i, first, last, g, batch.from.data() + row * batch.places, inner);
    scores.move(p, i, first, last, batch.d.data() + row * batch.width, h, pace);
  }
}

// All batches. In the first half of a batch workers take its examples in turn; in the second each changes the rows of
// its parts. The scale of E carries the decay of all of its vectors at once.
template <class Pool, class Scores>
Outcome run(const Problem& p, const Scores& scores, int threads) {
  Batch batch(p, std::max<size_t>(scores.room(p), 1), Pool::room(p));
  std::vector<std::atomic<size_t>> next(p.batches);
  Meeting meeting;
  double loss = 0;
  int64_t mistakes = 0;
  // Workers meet twice in a batch, which costs more than a small batch does.
  const size_t each = (p.work / std::max<size_t>(p.batches, 1) + p.batch * scores.room(p)) * p.size;
  const size_t most = std::min({size_t(worth(threads, each)), kParts, p.batch});
  work_together(most, [&](Team team) {
    const size_t first = kParts * team.worker / team.workers, last = kParts * (team.worker + 1) / team.workers;
    auto own = scores.worker(p);
    double scale = *p.scale;
    team.meet();  // before any of them writes the scale
    for (size_t number = 0; number < p.batches; ++number) {
      const size_t begin = number * p.batch, count = std::min(p.batch, p.steps - begin);
      for (size_t row; (row = next[number].fetch_add(1)) < count;)
        look_at<Pool>(p, scores, own, batch, row, size_t(p.order[begin + row]), scale);
      meeting.meet(team.workers);
      if (p.decay > 0) scale *= elementary::exp(-p.rates[number] * p.decay);
      move_parts<Pool>(p, scores, batch, number, first, last, scale);
      if (team.worker == 0)
        for (size_t row = 0; row < count; ++row) loss += batch.losses[row], mistakes += batch.mistakes[row];
      meeting.meet(team.workers);
    }
    if (team.worker == 0) *p.scale = scale;
  });
  return {loss, mistakes};
}

}  // namespace linnaeus::bag
