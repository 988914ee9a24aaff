// Problem: an order of labels in which similar ones are near each other, and its halves, quarters and so on are groups
// of similar labels: balanced spherical 2-means, again and again.
//
// Each label has a vector of length 1. A group is halved: two of its vectors, drawn by the seed, are the first centers;
// then, round by round, the half of the vectors that are nearer to the first center than to the second (of equals the
// lower number) is one group, and the centers are the directions of the sums of the two. It ends when nothing moves.
// Of an odd number the first half has one more. What a label has added to a center itself does not count for it.
//
// Reference: R. Agrawal et al. (2013), Y. Prabhu et al., Parabel (2018).
#include <cmath>

#include "parallel.hpp"
#include "sparse.hpp"
#include "strips.hpp"

namespace linnaeus {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;
constexpr size_t kLabelsPerPiece = 4096;
constexpr size_t kAlone = size_t(1) << 16;  // groups from this size on are worked on by all threads together

// The centers of one group: dense sums, of which only the columns in `touched` are not 0.
struct Centers {
  std::vector<float> sums[2];
  std::vector<uint8_t> there[2];
  std::vector<int32_t> touched[2];
  std::vector<std::pair<float, int32_t>> ranked;
  float factors[2] = {0, 0};

  explicit Centers(size_t width) {
    for (int side : {0, 1}) sums[side].assign(width, 0.0f), there[side].assign(width, 0);
  }

  void clear(int side) {
    for (int32_t column : touched[side]) sums[side][size_t(column)] = 0.0f, there[side][size_t(column)] = 0;
    touched[side].clear();
  }
};

void add_up(const Lines<float>& labels, const int32_t* from, const int32_t* to, Centers& centers, int side) {
  centers.clear(side);
  float* sums = centers.sums[side].data();
  for (; from < to; ++from)
    for (int64_t i = labels.offsets[*from]; i < labels.offsets[*from + 1]; ++i) {
      size_t column = size_t(labels.indices[i]);
      if (!centers.there[side][column])
        centers.there[side][column] = 1, centers.touched[side].push_back(int32_t(column));
      sums[column] += labels.values[i];
    }
  double square = 0;
  for (int32_t column : centers.touched[side]) square += double(sums[size_t(column)]) * double(sums[size_t(column)]);
  float factor = square > 0 ? float(1 / std::sqrt(square)) : 0.0f;
  for (int32_t column : centers.touched[side]) sums[size_t(column)] *= factor;
  centers.factors[side] = factor;
}

// How much nearer a label is to the first center than to the second; 0 where sums were too large to tell. What it has
// added itself to the center of its side (-1: to none) does not count: rare words would keep it where it is.
float lean_of(const Lines<float>& labels, int32_t label, int side, const Centers& centers) {
  float first = 0, second = 0, square = 0;
  for (int64_t i = labels.offsets[label]; i < labels.offsets[label + 1]; ++i) {
    square += labels.values[i] * labels.values[i];
    first += labels.values[i] * centers.sums[0][size_t(labels.indices[i])];
    second += labels.values[i] * centers.sums[1][size_t(labels.indices[i])];
  }
  if (side == 0) first -= square * centers.factors[0];
  if (side == 1) second -= square * centers.factors[1];
  float lean = first - second;
  return lean == lean ? lean : 0.0f;
}

// Sorts a group by how it leans; whether its first half has changed.
bool part(const Lines<float>& labels, int32_t* group, size_t size, size_t half, bool first, int threads,
          Centers& centers) {
  centers.ranked.resize(size);
  for_each_piece((size + kLabelsPerPiece - 1) / kLabelsPerPiece, threads, [&](size_t piece, int) {
    for (size_t i = piece * kLabelsPerPiece; i < std::min(size, (piece + 1) * kLabelsPerPiece); ++i)
      centers.ranked[i] = {-lean_of(labels, group[i], first ? -1 : int(i >= half), centers), group[i]};
  });
  auto middle = centers.ranked.begin() + int64_t(half);
  std::nth_element(centers.ranked.begin(), middle, centers.ranked.end());
  auto lower = [](const auto& a, const auto& b) { return a.second < b.second; };
  std::sort(centers.ranked.begin(), middle, lower), std::sort(middle, centers.ranked.end(), lower);
  bool moved = false;
  for (size_t i = 0; i < size; ++i) {
    moved = moved || group[i] != centers.ranked[i].second;
    group[i] = centers.ranked[i].second;
  }
  return moved;
}

void halve(const Lines<float>& labels, int32_t* group, size_t size, uint64_t seed, int rounds, int threads,
           Centers& centers, Interrupts* interrupts) {
  if (size < 2) return;
  if (seed == 0) seed = kGolden;
  size_t half = (size + 1) / 2, one = size_t(draw(seed, int64_t(size))), other = size_t(draw(seed, int64_t(size - 1)));
  if (other >= one) ++other;
  add_up(labels, group + one, group + one + 1, centers, 0);
  add_up(labels, group + other, group + other + 1, centers, 1);
  for (int round = 0; round < rounds; ++round) {
    if (interrupts) interrupts->ask();
    if (!part(labels, group, size, half, round == 0, threads, centers)) break;
    for_each_piece(2, threads, [&](size_t side, int) {
      add_up(labels, side ? group + half : group, side ? group + size : group + half, centers, int(side));
    });
  }
  centers.clear(0), centers.clear(1);
}

// Given: vectors of labels (k, width); how often groups are halved, rounds for each, and a seed. Returned: the labels
// in order (k), and where each of the 2^halvings groups begins.
auto order(Sparse<float> given, int64_t width, std::tuple<int, int, uint64_t> by, int threads) {
  Lines<float> labels(given, "label_order");
  auto [halvings, rounds, seed] = by;
  size_t k = labels.count;
  if (k > INT32_MAX || halvings < 0 || halvings > 30 || ((size_t(1) << halvings) >> 1) > std::max<size_t>(k, 1))
    throw std::invalid_argument("label_order: there are not so many halves of the labels");
  Buffer<int32_t> found(k);
  std::vector<int64_t> bounds{0, int64_t(k)};
  {
    nb::gil_scoped_release release;
    if (width < 0 || width > INT32_MAX || (k && !labels.fit(0, k, size_t(width))))
      throw std::invalid_argument("label_order: a column is outside the vectors");
    for (size_t i = 0; i < labels.size(); ++i)
      if (!std::isfinite(labels.values[size_t(labels.offsets[0]) + i]))
        throw std::invalid_argument("label_order: a vector is not finite");
    for (size_t i = 0; i < k; ++i) found[i] = int32_t(i);
    auto centers = make_workers<Centers>(std::min(threads, 1 << std::max(halvings - 1, 0)), size_t(width));
    Interrupts interrupts;
    for (int halving = 0; halving < halvings; ++halving) {
      size_t groups = bounds.size() - 1;
      bool together = k / groups >= kAlone;
      auto work = [&](size_t g, int worker, int inside) {
        uint64_t own = (seed + 1) * kGolden + (groups + g) * 0xBF58476D1CE4E5B9u;
        halve(labels, found.get() + bounds[g], size_t(bounds[g + 1] - bounds[g]), own, rounds, inside,
              centers[size_t(worker)], worker == 0 ? &interrupts : nullptr);
      };
      if (together) {
        for (size_t g = 0; g < groups; ++g) work(g, 0, threads);
      } else {
        for_each_piece(groups, threads, [&](size_t g, int worker) { work(g, worker, 1); });
      }
      std::vector<int64_t> halves(1, 0);
      for (size_t g = 0; g < groups; ++g) {
        halves.push_back(bounds[g] + (bounds[g + 1] - bounds[g] + 1) / 2);
        halves.push_back(bounds[g + 1]);
      }
      bounds = halves;
    }
  }
  return std::make_tuple(to_numpy(std::move(found)), to_numpy(bounds));
}

}  // namespace

void bind_label_order(nb::module_& m) {
  using namespace nb::literals;
  m.def("label_order", &order, "labels"_a.noconvert(), "width"_a, "by"_a, "threads"_a);
}

}  // namespace linnaeus
