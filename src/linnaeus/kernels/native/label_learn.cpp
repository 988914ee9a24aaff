// Problem: the linear rankers of one level of a label tree. A node has children, each a binary problem: does the row
// have a label below this child? A node learns from the rows that reach it: those with a label below it, and those that
// the level above took for such.
//
// The children of a node are solved in teams of 16. A node's rows are copied with their columns renumbered, so that the
// weights of a team fit a cache, however many columns there are. Columns that only one of these rows has are folded
// into one, whose value is the length of that part of the row: the weights of such a part always point along it, so
// that one number says them all. Then epochs of dual coordinate ascent on all children at once (team_sweep.hpp), until
// no variable is wrong by more than the tolerance: when the rows that are still visited have come so far, those that
// were left out are visited again, and it ends if they are right too. The weights of a child are drawn to a multiple of
// the direction z of the sum of its rows times their costs: min 1/2 |w - prior z|^2 + 1/2 b^2 + sum_i C_i loss_i.
// Weights below a bound are dropped. A child without rows has no weights, and the bias -1.
//
// References: Y. Prabhu et al., Parabel (2018); H. Yu et al., PECOS (2022); the solver: C.-J. Hsieh et al., A Dual
// Coordinate Descent Method for Large-scale Linear SVM (2008).
#include <bit>

#include "parallel.hpp"
#include "team_sweep.hpp"

namespace linnaeus {
namespace {

using namespace team;

constexpr size_t kLanes = 16, kNowhere = SIZE_MAX;
constexpr float kLeast = std::numeric_limits<float>::min(), kMost = std::numeric_limits<float>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Where the labels of each row begin (n+1), and their places in the order of the tree, ascending.
using Truth = std::tuple<In<int64_t>, In<int32_t>>;
// Where the children of each node begin (m+1), and where the labels of each child begin (c+1).
using Level = std::tuple<In<int64_t>, In<int64_t>>;

struct Limits {
  double least, tolerance, prior;
  int epochs;
};

// Rows by node, and what is above them.
struct Nodes {
  const int64_t *starts, *bounds, *offsets;
  const int32_t* places;
  size_t count;
  std::vector<int64_t> begins;
  std::vector<int32_t> rows;
};

// Ctrl-C between epochs: what it raises is thrown by the calling thread, and the others end early.
class Ending {
 public:
  bool asked(int worker) {
    if (worker != 0) return stopped_;
    try {
      interrupts_.ask();
    } catch (...) {
      stopped_ = true;
      throw;
    }
    return false;
  }

 private:
  Interrupts interrupts_;
  std::atomic<bool> stopped_{false};
};

struct Team16 {
  size_t node;
  int64_t first, last;  // its children
};

// The weights that a team keeps: by column, then by child of the node.
struct Kept {
  std::vector<int32_t> columns;
  std::vector<uint16_t> lanes;
  std::vector<float> values;
};

// Memory of one thread: the rows of a node, and a team. The weights of a column are those in its slot times its factor.
// `spots` has how often each column is there, then its number among those of the node, counted from 1: positive if it
// has a slot of its own, negative if it is folded; 0 for the others.
struct Room {
  size_t node = kNowhere, width = 0;  // of the rows as they are copied: the number of slots
  std::vector<int32_t> spots, columns, slots, indices, order;
  std::vector<uint16_t> marks;
  std::vector<int64_t> offsets;
  std::vector<float> factors, values;
  std::vector<double> squares, costs;
  std::vector<float> alpha, weights;
  double facts[kFacts * kLanes];
  Scratch scratch;

  explicit Room(size_t width) : spots(width, 0) {}
};

// A row of no cost is as one that is not there, and so is one whose cost is below the normal numbers of float: the
// solver divides by it.
inline bool counts(double cost) { return float(cost) >= kLeast; }

// Which nodes a row goes to: those above its labels, and those that it was led to.
void find_nodes(const Nodes& nodes, const std::vector<int32_t>& above, const Table<const int32_t>& led, size_t row,
                std::vector<int32_t>& found) {
  found.clear();
  for (int64_t i = nodes.offsets[row]; i < nodes.offsets[row + 1]; ++i) found.push_back(above[size_t(nodes.places[i])]);
  for (size_t j = 0; j < led.shape(1); ++j)
    if (int32_t node = led.data()[row * led.shape(1) + j]; node >= 0) found.push_back(node);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
}

// The rows of each node, ascending.
void sort_rows(Nodes& nodes, const Table<const int32_t>& led, const In<double>& costs) {
  std::vector<int32_t> above(size_t(nodes.bounds[nodes.starts[nodes.count]])), found;
  for (size_t v = 0; v < nodes.count; ++v)
    std::fill(above.begin() + nodes.bounds[nodes.starts[v]], above.begin() + nodes.bounds[nodes.starts[v + 1]],
              int32_t(v));
  nodes.begins.assign(nodes.count + 1, 0);
  auto each = [&](auto&& visit) {
    for (size_t row = 0; row < costs.size(); ++row) {
      if (!counts(costs.data()[row])) continue;
      find_nodes(nodes, above, led, row, found);
      for (int32_t node : found) visit(size_t(node), int32_t(row));
    }
  };
  each([&](size_t v, int32_t) { ++nodes.begins[v + 1]; });
  for (size_t v = 0; v < nodes.count; ++v) nodes.begins[v + 1] += nodes.begins[v];
  nodes.rows.resize(size_t(nodes.begins[nodes.count]));
  std::vector<int64_t> next(nodes.begins.begin(), nodes.begins.end() - 1);
  each([&](size_t v, int32_t row) { nodes.rows[size_t(next[v]++)] = row; });
}

// For each row of the node, which children of the team are above one of its labels; false if there is none at all.
bool mark_rows(const Nodes& nodes, const Team16& team, Room& room) {
  const int32_t *begin = nodes.rows.data() + nodes.begins[team.node],
                *end = nodes.rows.data() + nodes.begins[team.node + 1];
  const int64_t *from = nodes.bounds + team.first, *to = nodes.bounds + team.last + 1;
  room.marks.assign(size_t(end - begin), 0);
  uint16_t all = 0;
  for (size_t r = 0; r < room.marks.size(); ++r) {
    size_t row = size_t(begin[r]);
    for (int64_t i = nodes.offsets[row]; i < nodes.offsets[row + 1]; ++i) {
      int64_t place = nodes.places[i];
      if (place < from[0] || place >= to[-1]) continue;
      room.marks[r] |= uint16_t(1u << (std::upper_bound(from, to, place) - from - 1));
    }
    all |= room.marks[r];
  }
  return all != 0;
}

// The columns of some rows, ascending; those that are there more than once have slots.
void own_columns(const Lines<float>& rows, const int32_t* from, const int32_t* to, Room& room) {
  for (int32_t column : room.columns) room.spots[size_t(column)] = 0;
  room.columns.clear();
  for (; from < to; ++from)
    for (int64_t v = rows.offsets[*from]; v < rows.offsets[*from + 1]; ++v)
      if (!room.spots[size_t(rows.indices[v])]++) room.columns.push_back(rows.indices[v]);
  std::sort(room.columns.begin(), room.columns.end());
  room.slots.assign(room.columns.size(), 0), room.factors.assign(room.columns.size(), 1.0f);
  room.width = 0;
  for (size_t j = 0; j < room.columns.size(); ++j) {
    int32_t& spot = room.spots[size_t(room.columns[j])];
    if (spot > 1) room.slots[j] = int32_t(room.width++);
    spot = spot > 1 ? int32_t(j) + 1 : -int32_t(j) - 1;
  }
}

// A row with the columns that others have, too, in their slots, and after them the others as one.
void copy_row(const Lines<float>& rows, size_t row, Room& room) {
  double square = 0, folded = 0;
  bool some = false;
  for (int64_t v = rows.offsets[row]; v < rows.offsets[row + 1]; ++v) {
    double x = double(rows.values[v]);
    square += x * x;
    if (int32_t spot = room.spots[size_t(rows.indices[v])]; spot > 0)
      room.indices.push_back(room.slots[size_t(spot) - 1]), room.values.push_back(rows.values[v]);
    else folded += x * x, some = true;
  }
  if (some) {
    double length = std::sqrt(folded);
    room.indices.push_back(int32_t(room.width)), room.values.push_back(float(length));
    for (int64_t v = rows.offsets[row]; v < rows.offsets[row + 1]; ++v)
      if (int32_t spot = room.spots[size_t(rows.indices[v])]; spot < 0) {
        room.slots[size_t(-spot) - 1] = int32_t(room.width);
        room.factors[size_t(-spot) - 1] = length > 0 ? float(double(rows.values[v]) / length) : 0.0f;
      }
    ++room.width;
  }
  room.offsets.push_back(int64_t(room.indices.size())), room.squares.push_back(square);
}

// The rows of a node. Teams of one node have them in common, and a thread often comes from one to the next.
void copy_rows(const Lines<float>& rows, const double* costs, const Nodes& nodes, size_t node, Room& room) {
  if (room.node == node) return;
  const int32_t *from = nodes.rows.data() + nodes.begins[node], *to = nodes.rows.data() + nodes.begins[node + 1];
  own_columns(rows, from, to, room);
  room.offsets.assign(1, 0), room.indices.clear(), room.values.clear(), room.squares.clear(), room.costs.clear();
  for (; from < to; ++from) copy_row(rows, size_t(*from), room), room.costs.push_back(costs[*from]);
  room.node = node;
}

// The weights from which the training starts: the direction of the sum of each child's rows times their costs, times
// `prior`.
void start_at_means(double prior, Room& room) {
  size_t d = room.width;
  room.weights.assign(std::max<size_t>(d, 1) * kLanes, 0.0f);
  if (prior == 0) return;
  for (size_t r = 0; r < room.marks.size(); ++r)
    for (uint32_t marks = room.marks[r]; marks; marks &= marks - 1)
      for (int64_t v = room.offsets[r]; v < room.offsets[r + 1]; ++v)
        room.weights[size_t(room.indices[size_t(v)]) * kLanes + size_t(std::countr_zero(marks))] +=
            float(room.costs[r]) * room.values[size_t(v)];
  double squares[kLanes] = {}, factors[kLanes];
  add_squares<float, kLanes>(room.weights.data(), d, squares);
  for (size_t c = 0; c < kLanes; ++c) factors[c] = squares[c] > 0 ? prior / std::sqrt(squares[c]) : 0.0;
  for (size_t j = 0; j < d; ++j)
    for (size_t c = 0; c < kLanes; ++c)
      room.weights[j * kLanes + c] = float(double(room.weights[j * kLanes + c]) * factors[c]);
}

// How far the slopes of one epoch are from those of an optimum.
double spread_of(const double* facts) {
  double spread = 0;
  for (size_t c = 0; c < kLanes; ++c) {
    double low = facts[kLow * kLanes + c], high = facts[kHigh * kLanes + c];
    spread = std::max(spread, (high < kInfinity ? high : 0.0) - (low > -kInfinity ? low : 0.0));
  }
  return spread;
}

// No bounds for leaving out rows, and all rows are visited.
void visit_all(Room& room, int64_t& active) {
  std::fill(room.facts + kLow * kLanes, room.facts + (kLow + 1) * kLanes, -kInfinity);
  std::fill(room.facts + kHigh * kLanes, room.facts + (kHigh + 1) * kLanes, kInfinity);
  active = int64_t(room.marks.size());
  room.order.resize(room.marks.size());
  for (size_t i = 0; i < room.order.size(); ++i) room.order[i] = int32_t(i);
}

template <class Loss>
void solve(const Limits& limits, uint64_t seed, Room& room, auto&& ended) {
  size_t n = room.marks.size(), d = room.width;
  double factors[2 * kLanes], *facts = room.facts;
  int64_t active;
  std::fill(factors, factors + 2 * kLanes, 1.0);
  std::fill(facts, facts + kFacts * kLanes, 0.0);
  std::fill(facts + kBeta * kLanes, facts + (kBeta + 1) * kLanes, 1.0);
  uint16_t all = 0;
  for (uint16_t marks : room.marks) all |= marks;
  for (size_t c = 0; c < kLanes; ++c) facts[kFinished * kLanes + c] = (all >> c) & 1 ? 0.0 : 1.0;
  room.alpha.assign(n * kLanes, 0.0f);
  visit_all(room, active);
  Team<float> team{room.alpha.data(),
                   room.weights.data(),
                   room.marks.data(),
                   room.order.data(),
                   &active,
                   facts,
                   &seed,
                   room.squares.data(),
                   room.costs.data(),
                   factors,
                   n,
                   d};
  Lines<float> lines(room.offsets.data(), room.indices.data(), room.values.data(), n);
  for (int epoch = 0; epoch < limits.epochs; ++epoch) {
    bool whole = active == int64_t(n);
    run_epoch<Loss, float, kLanes>(lines, team, room.scratch);
    if (ended()) return;
    if (active > 0 && spread_of(facts) > limits.tolerance) continue;
    if (whole) break;
    visit_all(room, active);
  }
}

template <class Loss>
Kept learn(const Lines<float>& rows, const double* costs, const Nodes& nodes, const Team16& team, const Limits& limits,
           Room& room, float* biases, auto&& ended) {
  Kept kept;
  if (!mark_rows(nodes, team, room)) return kept;
  copy_rows(rows, costs, nodes, team.node, room);
  start_at_means(limits.prior, room);
  solve<Loss>(limits, uint64_t(team.first) * 0x9E3779B97F4A7C15u + 1, room, ended);
  uint16_t shift = uint16_t(team.first - nodes.starts[team.node]);
  bool finite = true;
  for (size_t j = 0; j < room.columns.size(); ++j)
    for (size_t c = 0; c < size_t(team.last - team.first); ++c) {
      float w = room.weights[size_t(room.slots[j]) * kLanes + c] * room.factors[j];
      finite &= std::abs(w) <= kMost;
      if (std::abs(w) < limits.least || w == 0) continue;
      kept.columns.push_back(room.columns[j]), kept.lanes.push_back(uint16_t(shift + c)), kept.values.push_back(w);
    }
  for (int64_t c = team.first; c < team.last; ++c) {
    if (room.facts[kFinished * kLanes + size_t(c - team.first)] != 0.0) continue;
    biases[c] = float(room.facts[kTotal * kLanes + size_t(c - team.first)]);
    finite &= std::abs(biases[c]) <= kMost;
  }
  if (!finite) throw std::overflow_error("label_learn: the rows, the costs or the prior are too large");
  return kept;
}

// The weights of all teams of a node, by column and then by child.
Kept join(std::vector<Kept>& parts, size_t first, size_t last) {
  if (last - first == 1) return std::move(parts[first]);
  Kept all;
  std::vector<std::pair<int32_t, uint32_t>> order;
  std::vector<std::pair<uint16_t, float>> held;
  size_t size = 0;
  for (size_t t = first; t < last; ++t) size += parts[t].columns.size();
  if (size >> 32)
    throw std::overflow_error("label_learn: a node has 2^32 weights or more, a larger least weight leaves fewer");
  order.reserve(size), held.reserve(size);
  for (size_t t = first; t < last; ++t) {
    for (size_t i = 0; i < parts[t].columns.size(); ++i) {
      order.push_back({parts[t].columns[i], uint32_t(held.size())});
      held.push_back({parts[t].lanes[i], parts[t].values[i]});
    }
    parts[t] = Kept();
  }
  std::sort(order.begin(), order.end());
  all.columns.reserve(size), all.lanes.reserve(size), all.values.reserve(size);
  for (auto [column, at] : order)
    all.columns.push_back(column), all.lanes.push_back(held[at].first), all.values.push_back(held[at].second);
  return all;
}

void require(bool fits, const char* why) {
  if (!fits) throw std::invalid_argument(std::string("label_learn: ") + why);
}

// From 0 on, never falling, and to no more than `last`.
bool rises(const In<int64_t>& array, int64_t last) {
  bool fits = array.size() > 0 && array.data()[0] == 0 && array.data()[array.size() - 1] <= last;
  for (size_t i = 1; fits && i < array.size(); ++i) fits = array.data()[i - 1] <= array.data()[i];
  return fits;
}

void check_level(size_t n, const Truth& truth, const Level& level, const Table<const int32_t>& led) {
  const auto& [offsets, places] = truth;
  const auto& [starts, bounds] = level;
  size_t m = starts.size() ? starts.size() - 1 : 0, c = bounds.size() ? bounds.size() - 1 : 0;
  bool fits = offsets.size() == n + 1 && rises(offsets, int64_t(places.size())) && m > 0 && m <= INT32_MAX &&
              rises(starts, int64_t(c)) && size_t(starts.data()[m]) == c && rises(bounds, INT32_MAX) &&
              led.shape(0) == n;
  for (size_t i = 0; fits && i < places.size(); ++i)
    fits = places.data()[i] >= 0 && places.data()[i] < bounds.data()[c];
  for (size_t i = 0; fits && i < n * led.shape(1); ++i) fits = led.data()[i] < int64_t(m);
  for (size_t v = 0; fits && v < m; ++v) fits = starts.data()[v + 1] - starts.data()[v] <= 1 << 16;
  require(fits, "the arrays do not fit each other");
}

void check_numbers(const Lines<float>& rows, const In<double>& costs, const Limits& limits) {
  bool fits = true;
  for (size_t row = 0; row < rows.count; ++row) {
    double square = 0;
    for (int64_t v = rows.offsets[row]; v < rows.offsets[row + 1]; ++v)
      square += double(rows.values[v]) * double(rows.values[v]);
    fits &= square <= kMost;
  }
  require(fits, "a row is too large, or not finite");
  for (size_t i = 0; i < costs.size(); ++i) fits &= costs.data()[i] >= 0 && costs.data()[i] <= kMost;
  require(fits, "a cost is negative, or not finite");
  require(limits.least >= 0 && limits.tolerance >= 0 && std::abs(limits.prior) <= kMost,
          "least weight, tolerance and prior have to be numbers");
}

std::vector<Team16> teams_of(const Nodes& nodes) {
  std::vector<Team16> teams;
  for (size_t v = 0; v < nodes.count; ++v)
    for (int64_t c = nodes.starts[v]; c < nodes.starts[v + 1]; c += int64_t(kLanes))
      teams.push_back({v, c, std::min(c + int64_t(kLanes), nodes.starts[v + 1])});
  return teams;
}

// The weights of each node, of teams that are learned side by side.
std::vector<Kept> learn_nodes(const Nodes& nodes, int threads, auto&& learn_team) {
  std::vector<Team16> teams = teams_of(nodes);
  std::vector<Kept> parts(teams.size()), found(nodes.count);
  for_each_piece(teams.size(), threads, [&](size_t t, int worker) { parts[t] = learn_team(teams[t], worker); });
  std::vector<size_t> begins(nodes.count + 1, 0);
  for (const Team16& team : teams) ++begins[team.node + 1];
  for (size_t v = 0; v < nodes.count; ++v) begins[v + 1] += begins[v];
  for_each_piece(nodes.count, threads, [&](size_t v, int) {
    if (begins[v] < begins[v + 1]) found[v] = join(parts, begins[v], begins[v + 1]);
  });
  return found;
}

// Given: rows (n, width), their costs (n), their labels, the nodes of a level, and for each row the nodes that it was
// led to (n, b), -1 where there is none; by: least weight, tolerance, prior and epochs. Returned: where the weights of
// each node begin (m+1), their columns, children and values; and the bias of each child.
template <class Loss>
auto learn_level(Sparse<float> given, int64_t width, In<double> costs, Truth truth, Level level,
                 Table<const int32_t> led, std::tuple<double, double, double, int> by, int threads) {
  Lines<float> rows(given, "label_learn");
  Limits limits{std::get<0>(by), std::get<1>(by), std::get<2>(by), std::get<3>(by)};
  const auto& [starts, bounds] = level;
  std::vector<Kept> found;
  std::vector<int64_t> firsts(1, 0);
  std::vector<float> biases(bounds.size() ? bounds.size() - 1 : 0, -1.0f);
  {
    nb::gil_scoped_release release;
    require(costs.size() == rows.count && rows.count <= INT32_MAX, "the costs do not fit the rows");
    check_level(rows.count, truth, level, led);
    require(width >= 0 && width <= INT32_MAX && (!rows.count || columns_fit(rows, size_t(width))),
            "a column is outside the rows");
    check_numbers(rows, costs, limits);
    Nodes nodes{
        starts.data(), bounds.data(), std::get<0>(truth).data(), std::get<1>(truth).data(), starts.size() - 1, {}, {}};
    sort_rows(nodes, led, costs);
    threads = int(std::min<size_t>(size_t(std::max(threads, 1)), 1 + bounds.size() / kLanes + nodes.count));
    auto rooms = make_workers<Room>(threads, size_t(width));
    Ending ending;
    found = learn_nodes(nodes, threads, [&](const Team16& team, int worker) {
      return learn<Loss>(rows, costs.data(), nodes, team, limits, rooms[size_t(worker)], biases.data(),
                         [&] { return ending.asked(worker); });
    });
    for (auto& kept : found) firsts.push_back(firsts.back() + int64_t(kept.values.size()));
  }
  size_t total = size_t(firsts.back());
  Buffer<int32_t> columns(total);
  Buffer<uint16_t> lanes(total);
  Buffer<float> values(total);
  for (size_t v = 0; v < found.size(); ++v) {
    std::copy(found[v].columns.begin(), found[v].columns.end(), columns.get() + firsts[v]);
    std::copy(found[v].lanes.begin(), found[v].lanes.end(), lanes.get() + firsts[v]);
    std::copy(found[v].values.begin(), found[v].values.end(), values.get() + firsts[v]);
    found[v] = Kept();
  }
  return std::make_tuple(to_numpy(firsts), to_numpy(std::move(columns)), to_numpy(std::move(lanes)),
                         to_numpy(std::move(values)), to_numpy(biases));
}

}  // namespace

void bind_label_learn(nb::module_& m) {
  using namespace nb::literals;
  m.def("label_learn_squared_hinge", &learn_level<SquaredHinge>, "rows"_a.noconvert(), "width"_a, "costs"_a.noconvert(),
        "truth"_a.noconvert(), "level"_a.noconvert(), "led"_a.noconvert(), "by"_a, "threads"_a);
}

}  // namespace linnaeus
