// Coordinate descent on a quadratic model of a loss, with an L1 and L2 penalty, over some columns of a sparse matrix.
//
//     min over v, b   sum_i [ slope_i m_i + curvature_i m_i^2 / 2 ] + l1 ||v||_1 + l2/2 ||v||^2
//     where           m = X (v - w) + (b - b0) 1        how far the scores move from where the model was made
//
// Each coordinate goes to its exact minimum while the others stay (Friedman, Hastie and Tibshirani 2010; the inner loop
// of newGLMNET, Yuan, Ho and Lin 2012). The slope of the model in each row is kept up to date, so a coordinate costs
// one gather over its column, and one scatter when it moves. The bias is at its minimum all the time: with every step
// of a weight it follows, which is the descent on centered columns, and costs one number per column and step. After a
// pass over all columns only those that are not zero or moved are visited until they are at rest, then all again: the
// model is solved when a pass over all finds nothing.
#include <cmath>

#include "extrapolate.hpp"
#include "lanes.hpp"

namespace linnaeus {
namespace {

constexpr double kSmallest = 1e-12;  // added to the curvature of a coordinate, which is zero where no row has any
constexpr double kFlattest = 1e-9;   // a constant column can be had from the bias: its own curvature is rounding

struct Row {
  double slope, curvature;
};

struct Penalty {
  double l1, l2;

  // The minimizer of gradient * (v - at) + steepness/2 * (v - at)^2 + l1 |v|; gradient has the l2 term already.
  double minimize(double at, double gradient, double steepness) const {
    double v = at - gradient / steepness, cut = l1 / steepness;
    return v > cut ? v - cut : v < -cut ? v + cut : 0.0;
  }
};

template <class T>
struct Descent {
  Lines<T> columns;
  const int32_t* picked;
  double* weights;
  Penalty penalty;
  const double* slope;              // of the model at its start
  std::vector<Row> rows{};          // slopes of the model now, but for the leader: add shift * curvature * leader
  std::vector<double> leader{};     // ones for a bias, or a dense column; empty when nothing leads
  int64_t pivot = -1;               // position of the leading column
  double level = kSmallest;         // second derivative along the leader
  double shift = 0;                 // how far the leader has gone
  std::vector<double> leaning{};    // how much each picked column pulls at the leader
  std::vector<double> steepness{};  // second derivative along each picked column, the leader following
  std::vector<int32_t> visited{};   // positions in `picked`

  // One pass over the columns visited. Returned: the largest slope met.
  double pass() {
    double worst = 0;
    size_t kept = 0;
    for (int32_t p : visited) {
      double met = p == pivot ? 0 : move(size_t(p));
      worst = std::max(worst, met);
      if (met != 0 || weights[p] != 0) visited[kept++] = p;
    }
    visited.resize(kept);
    return worst;
  }

  double move(size_t p) {
    size_t j = size_t(picked[p]);
    int64_t begin = columns.offsets[j], end = columns.offsets[j + 1];
    double gradient = penalty.l2 * weights[p] + shift * leaning[p] + sum_in_lanes(begin, end, [&](int64_t i) {
                        return double(columns.values[i]) * rows[size_t(columns.indices[i])].slope;
                      });
    double next = penalty.minimize(weights[p], gradient, steepness[p]), step = next - weights[p];
    if (step == 0) return 0;
    double follow = shift - step * leaning[p] / level;
    if (crosses(weights, follow)) {
      dismiss();
      return move(p);
    }
    weights[p] = next;
    shift = follow;
    for (int64_t i = begin; i < end; ++i) {
      Row& row = rows[size_t(columns.indices[i])];
      row.slope += step * double(columns.values[i]) * row.curvature;
    }
    return std::fabs(step) * steepness[p];
  }

  // Whether the leading column would change its sign, where its penalty has a kink.
  bool crosses(const double* at, double follow) const {
    return pivot >= 0 && penalty.l1 > 0 && (at[pivot] + follow) * weights[pivot] <= 0;
  }

  void start(size_t count, bool bias) {
    if (bias) leader.assign(rows.size(), 1.0);
    else lead(count);
    for (size_t i = 0; i < leader.size(); ++i) {
      level += rows[i].curvature * leader[i] * leader[i];
      shift -= slope[i] * leader[i];
    }
    if (pivot >= 0) {
      level += penalty.l2;
      shift -= penalty.l2 * weights[pivot] + std::copysign(penalty.l1, weights[pivot]);
    }
    shift /= level;
    steepness.resize(count);
    if (!crosses(weights, shift)) return measure(count);
    shift = 0;
    dismiss();
  }

  // Without a bias, a dense column with a weight stands in for it: the one that adds most to the scores.
  void lead(size_t count) {
    double most = 0;
    for (size_t p = 0; p < count; ++p) {
      double stored = double(columns.offsets[picked[p] + 1] - columns.offsets[picked[p]]);
      if (stored * 4 < double(rows.size()) || stored * std::fabs(weights[p]) <= most) continue;
      most = stored * std::fabs(weights[p]);
      pivot = int64_t(p);
    }
    if (pivot < 0) return;
    leader.assign(rows.size(), 0.0);
    add_line(columns, size_t(picked[pivot]), 1.0, leader.data());
  }

  // The leader stays where it is, and from now on is a column like others.
  void dismiss() {
    for (size_t i = 0; i < leader.size(); ++i) rows[i].slope += shift * rows[i].curvature * leader[i];
    weights[pivot] += shift;
    shift = 0;
    pivot = -1;
    leader.clear();
    measure(steepness.size());
  }

  void measure(size_t count) {
    leaning.assign(count, 0);
    steepness.resize(count);
    for (size_t p = 0; p < count; ++p) {
      int64_t begin = columns.offsets[picked[p]], end = columns.offsets[picked[p] + 1];
      auto pull = [&](int64_t i) { return double(columns.values[i]) * rows[size_t(columns.indices[i])].curvature; };
      if (!leader.empty())
        leaning[p] = sum_in_lanes(begin, end, [&](int64_t i) { return leader[size_t(columns.indices[i])] * pull(i); });
      double full = sum_in_lanes(begin, end, [&](int64_t i) { return double(columns.values[i]) * pull(i); });
      steepness[p] = penalty.l2 + kSmallest + std::max(full - leaning[p] * leaning[p] / level, kFlattest * full);
    }
  }

  // Weights, slopes and shift in one row of numbers: all of them are affine in the weights.
  std::vector<double> point() const {
    std::vector<double> numbers(weights, weights + steepness.size());
    for (const Row& row : rows) numbers.push_back(row.slope);
    numbers.push_back(shift);
    return numbers;
  }

  void go_to(const std::vector<double>& numbers) {
    size_t count = steepness.size();
    std::copy_n(numbers.begin(), count, weights);
    for (size_t i = 0; i < rows.size(); ++i) rows[i].slope = numbers[count + i];
    shift = numbers.back();
  }

  // The penalized model at a point. How far a row has moved is told by its slope, where it has curvature.
  double value(const std::vector<double>& numbers) const {
    size_t count = steepness.size();
    double sum = 0;
    for (size_t p = 0; p < count; ++p) {
      double v = numbers[p] + (int64_t(p) == pivot ? numbers.back() : 0.0);
      sum += penalty.l1 * std::fabs(v) + 0.5 * penalty.l2 * v * v;
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      double now = numbers[count + i] + (leader.empty() ? 0.0 : numbers.back() * rows[i].curvature * leader[i]);
      if (rows[i].curvature > 0) sum += 0.5 * (now + slope[i]) * (now - slope[i]) / rows[i].curvature;
    }
    return sum;
  }

  // After some passes, try where they lead to, and stay there if the model is lower.
  void leap(Extrapolation& passes) {
    std::vector<double> here = point();
    passes.add(std::vector<double>(here));
    if (!passes.ready()) return;
    std::vector<double> there = passes.point();
    passes.clear();
    if (!there.empty() && !crosses(there.data(), there.back()) && value(there) < value(here)) go_to(there);
  }

  void visit_all() {
    visited.resize(steepness.size());
    for (size_t p = 0; p < visited.size(); ++p) visited[p] = int32_t(p);
  }
};

using Model = std::tuple<In<double>, In<double>>;                       // slope, curvature (n)
using Place = std::tuple<InOut<double>, InOut<double>, InOut<double>>;  // weights (picked), bias (0 or 1), moved (n)

// Given: columns (d); which are picked; the model; penalty (l1, l2); the most passes, and which fraction of the slope
// met in the first pass counts as rest. Changed: weights and bias; `moved` becomes m.  Returned: the largest slope met
// in the first and last pass; the passes.
template <class T>
std::tuple<double, double, int64_t> descend(Sparse<T> arrays, In<int32_t> picked, Model model, Place place,
                                            std::tuple<double, double> penalty, std::tuple<int64_t, double> limits) {
  Lines<T> columns(arrays, "descend");
  auto& [slope, curvature] = model;
  auto& [weights, bias, moved] = place;
  auto [most, fraction] = limits;
  auto [l1, l2] = penalty;
  size_t n = slope.size();
  columns.check_picked(picked.data(), picked.size(), n, "descend");
  if (weights.size() != picked.size()) throw std::invalid_argument("descend: not one weight for each picked column");
  if (curvature.size() != n || moved.size() != n || bias.size() > 1)
    throw std::invalid_argument(
        "descend: slope, curvature and moved have one value for each row, the bias at most one");
  nb::gil_scoped_release release;
  Descent<T> work{columns, picked.data(), weights.data(), {l1, l2}, slope.data()};
  work.rows.resize(n);
  for (size_t i = 0; i < n; ++i) work.rows[i] = {slope.data()[i], curvature.data()[i]};
  std::vector<double> before(weights.data(), weights.data() + picked.size());
  work.start(picked.size(), bias.size() == 1);
  work.visit_all();
  Extrapolation sequence(picked.size());
  double first = 0, last = 0;
  int64_t passes = 0;
  for (bool all = true; passes < most;) {
    int64_t leading = work.pivot;
    last = work.pass();
    if (work.pivot != leading) sequence.clear();
    if (!passes++) first = last;
    bool rest = last <= fraction * first;
    if (rest && all && passes > 1) break;
    work.leap(sequence);
    all = rest;
    if (all) work.visit_all();
  }
  if (work.pivot >= 0) work.dismiss();
  if (bias.size()) bias.data()[0] += work.shift;
  std::fill_n(moved.data(), n, work.shift);
  for (size_t p = 0; p < before.size(); ++p)
    add_line(columns, size_t(picked.data()[p]), weights.data()[p] - before[p], moved.data());
  return {first, last, passes};
}

}  // namespace

void bind_descend(nb::module_& m) {
  using namespace nb::literals;
  m.def("descend", &descend<float>, "columns"_a, "picked"_a, "model"_a, "place"_a, "penalty"_a, "limits"_a);
  m.def("descend", &descend<double>, "columns"_a, "picked"_a, "model"_a, "place"_a, "penalty"_a, "limits"_a);
}

}  // namespace linnaeus
