// Problem: the linear rankers of one level of a label tree. A node has children, each a binary problem: does the row
// have a label below this child? A node learns from the rows that reach it: those with a label below it, and those that
// the level above took for such.
//
// The children of a node are solved in teams of 16. A team's rows are copied with their columns renumbered, so that its
// weights fit a cache, however many columns there are; then epochs of dual coordinate ascent on all children at once
// (team_sweep.hpp), until no variable is wrong by more than the tolerance. The weights of a child are drawn to a
// multiple of the mean direction of its rows: min 1/2 |w - prior z|^2 + sum_i C_i loss_i. Weights below a bound are
// dropped.
//
// References: Y. Prabhu et al., Parabel (2018); H. Yu et al., PECOS (2022); the solver: C.-J. Hsieh et al., A Dual
// Coordinate Descent Method for Large-scale Linear SVM (2008).
#include "parallel.hpp"
#include "team_sweep.hpp"

namespace linnaeus {
namespace {

using namespace team;

constexpr size_t kLanes = 16;
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

// Memory of one thread: `spots` has the number of each column among those of the team, 0 for the others.
struct Room {
  std::vector<int32_t> spots, columns, indices, order, rows;
  std::vector<uint16_t> marks;
  std::vector<int64_t> offsets;
  std::vector<float> values;
  std::vector<double> squares, costs;
  std::vector<float> alpha, weights;
  double facts[kFacts * kLanes];
  Scratch scratch;

  explicit Room(size_t width) : spots(width, 0) {}
};

// Which nodes a row goes to: those above its labels, and those that it was led to.
template <class Visit>
void visit_nodes(const Nodes& nodes, const std::vector<int32_t>& above, const Table<const int32_t>& led, size_t row,
                 std::vector<int32_t>& found, Visit&& visit) {
  found.clear();
  for (int64_t i = nodes.offsets[row]; i < nodes.offsets[row + 1]; ++i)
    if (int32_t node = above[size_t(nodes.places[i])]; node >= 0) found.push_back(node);
  for (size_t j = 0; j < led.shape(1); ++j)
    if (int32_t node = led.data()[row * led.shape(1) + j]; node >= 0) found.push_back(node);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (int32_t node : found) visit(size_t(node));
}

// The rows of each node, ascending.
void sort_rows(Nodes& nodes, const Table<const int32_t>& led, size_t n) {
  std::vector<int32_t> above(size_t(nodes.bounds[nodes.starts[nodes.count]]), -1), found;
  for (size_t v = 0; v < nodes.count; ++v)
    for (int64_t i = nodes.bounds[nodes.starts[v]]; i < nodes.bounds[nodes.starts[v + 1]]; ++i)
      above[size_t(i)] = int32_t(v);
  nodes.begins.assign(nodes.count + 1, 0);
  for (size_t row = 0; row < n; ++row)
    visit_nodes(nodes, above, led, row, found, [&](size_t v) { ++nodes.begins[v + 1]; });
  for (size_t v = 0; v < nodes.count; ++v) nodes.begins[v + 1] += nodes.begins[v];
  nodes.rows.resize(size_t(nodes.begins[nodes.count]));
  std::vector<int64_t> next(nodes.begins.begin(), nodes.begins.end() - 1);
  for (size_t row = 0; row < n; ++row)
    visit_nodes(nodes, above, led, row, found, [&](size_t v) { nodes.rows[size_t(next[v]++)] = int32_t(row); });
}

// For each row of the node, which children of the team are above one of its labels.
bool mark_rows(const Nodes& nodes, const Team16& team, Room& room) {
  const int32_t* begin = nodes.rows.data() + nodes.begins[team.node];
  const int32_t* end = nodes.rows.data() + nodes.begins[team.node + 1];
  room.rows.assign(begin, end), room.marks.assign(size_t(end - begin), 0);
  int64_t low = nodes.bounds[team.first], high = nodes.bounds[team.last];
  bool some = false;
  for (size_t r = 0; r < room.rows.size(); ++r) {
    size_t row = size_t(room.rows[r]);
    for (int64_t i = nodes.offsets[row]; i < nodes.offsets[row + 1]; ++i) {
      int64_t place = nodes.places[i];
      if (place < low || place >= high) continue;
      auto child = std::upper_bound(nodes.bounds + team.first, nodes.bounds + team.last + 1, place) - nodes.bounds - 1;
      room.marks[r] |= uint16_t(1u << (child - team.first));
      some = true;
    }
  }
  return some;
}

// The columns of the team's rows, ascending.
void own_columns(const Lines<float>& rows, Room& room) {
  room.columns.clear();
  for (int32_t given : room.rows) {
    size_t row = size_t(given);
    for (int64_t v = rows.offsets[row]; v < rows.offsets[row + 1]; ++v) {
      int32_t& spot = room.spots[size_t(rows.indices[v])];
      if (!spot) spot = 1, room.columns.push_back(rows.indices[v]);
    }
  }
  std::sort(room.columns.begin(), room.columns.end());
  for (size_t j = 0; j < room.columns.size(); ++j) room.spots[size_t(room.columns[j])] = int32_t(j) + 1;
}

void copy_rows(const Lines<float>& rows, const double* costs, Room& room) {
  room.offsets.assign(1, 0), room.indices.clear(), room.values.clear(), room.squares.clear(), room.costs.clear();
  for (int32_t given : room.rows) {
    size_t row = size_t(given);
    double square = 0;
    for (int64_t v = rows.offsets[row]; v < rows.offsets[row + 1]; ++v) {
      room.indices.push_back(room.spots[size_t(rows.indices[v])] - 1), room.values.push_back(rows.values[v]);
      square += double(rows.values[v]) * double(rows.values[v]);
    }
    room.offsets.push_back(int64_t(room.indices.size()));
    room.squares.push_back(square), room.costs.push_back(costs[row]);
  }
}

// The weights from which the training starts: the direction of the mean of each child's rows, times `prior`.
void start_at_means(double prior, Room& room) {
  size_t d = room.columns.size();
  room.weights.assign(std::max<size_t>(d, 1) * kLanes, 0.0f);
  if (prior == 0) return;
  for (size_t r = 0; r < room.rows.size(); ++r)
    for (size_t c = 0; c < kLanes; ++c)
      if (room.marks[r] >> c & 1)
        for (int64_t v = room.offsets[r]; v < room.offsets[r + 1]; ++v)
          room.weights[size_t(room.indices[size_t(v)]) * kLanes + c] += room.values[size_t(v)];
  double squares[kLanes] = {};
  add_squares<float, kLanes>(room.weights.data(), d, squares);
  float factors[kLanes];
  for (size_t c = 0; c < kLanes; ++c) factors[c] = squares[c] > 0 ? float(prior / std::sqrt(squares[c])) : 0.0f;
  for (size_t j = 0; j < d; ++j)
    for (size_t c = 0; c < kLanes; ++c) room.weights[j * kLanes + c] *= factors[c];
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

template <class Loss>
void solve(const Limits& limits, uint64_t seed, Room& room, Interrupts* interrupts) {
  size_t n = room.rows.size(), d = room.columns.size();
  double factors[2 * kLanes], *facts = room.facts;
  std::fill(factors, factors + 2 * kLanes, 1.0);
  std::fill(facts, facts + kFacts * kLanes, 0.0);
  std::fill(facts + kBeta * kLanes, facts + (kBeta + 1) * kLanes, 1.0);
  std::fill(facts + kLow * kLanes, facts + (kLow + 1) * kLanes, -kInfinity);
  std::fill(facts + kHigh * kLanes, facts + (kHigh + 1) * kLanes, kInfinity);
  uint16_t all = 0;
  for (uint16_t marks : room.marks) all |= marks;
  for (size_t c = 0; c < kLanes; ++c) facts[kFinished * kLanes + c] = (all >> c) & 1 ? 0.0 : 1.0;
  room.alpha.assign(n * kLanes, 0.0f);
  room.order.resize(n);
  for (size_t i = 0; i < n; ++i) room.order[i] = int32_t(i);
  int64_t active = int64_t(n);
  Team<float> team{room.alpha.data(), room.weights.data(), room.marks.data(),   room.order.data(),
                   &active,           facts,               &seed,               room.squares.data(),
                   room.costs.data(), factors,             n,                   d};
  Lines<float> lines(room.offsets.data(), room.indices.data(), room.values.data(), n);
  for (int epoch = 0; epoch < limits.epochs && active > 0; ++epoch) {
    run_epoch<Loss, float, kLanes>(lines, team, room.scratch);
    if (interrupts) interrupts->ask();
    if (spread_of(facts) <= limits.tolerance) break;
  }
}

template <class Loss>
Kept learn(const Lines<float>& rows, const double* costs, const Nodes& nodes, const Team16& team, const Limits& limits,
           Room& room, float* biases, Interrupts* interrupts) {
  Kept kept;
  if (!mark_rows(nodes, team, room)) return kept;
  own_columns(rows, room);
  copy_rows(rows, costs, room);
  start_at_means(limits.prior, room);
  solve<Loss>(limits, uint64_t(team.first) * 0x9E3779B97F4A7C15u + 1, room, interrupts);
  uint16_t shift = uint16_t(team.first - nodes.starts[team.node]);
  for (size_t j = 0; j < room.columns.size(); ++j)
    for (size_t c = 0; c < size_t(team.last - team.first); ++c) {
      float w = room.weights[j * kLanes + c];
      if (std::abs(w) < float(limits.least) || w == 0) continue;
      kept.columns.push_back(room.columns[j]), kept.lanes.push_back(uint16_t(shift + c)), kept.values.push_back(w);
    }
  for (int64_t c = team.first; c < team.last; ++c)
    if (room.facts[kFinished * kLanes + size_t(c - team.first)] == 0.0)
      biases[c] = float(room.facts[kTotal * kLanes + size_t(c - team.first)]);
  for (int32_t column : room.columns) room.spots[size_t(column)] = 0;
  return kept;
}

// The weights of all teams of a node, by column and then by child.
Kept join(std::vector<Kept>& parts, size_t first, size_t last) {
  if (last - first == 1) return std::move(parts[first]);
  Kept all;
  std::vector<std::pair<int32_t, uint32_t>> order;
  std::vector<std::pair<uint16_t, float>> held;
  for (size_t t = first; t < last; ++t) {
    for (size_t i = 0; i < parts[t].columns.size(); ++i) {
      order.push_back({parts[t].columns[i], uint32_t(held.size())});
      held.push_back({parts[t].lanes[i], parts[t].values[i]});
    }
    parts[t] = Kept();
  }
  std::sort(order.begin(), order.end());
  for (auto [column, at] : order)
    all.columns.push_back(column), all.lanes.push_back(held[at].first), all.values.push_back(held[at].second);
  return all;
}

void check(const Lines<float>& rows, size_t width, size_t costs, const Truth& truth, const Level& level,
           const Table<const int32_t>& led) {
  const auto& [offsets, places] = truth;
  const auto& [starts, bounds] = level;
  size_t n = rows.count, m = starts.size() ? starts.size() - 1 : 0, c = bounds.size() ? bounds.size() - 1 : 0;
  auto rises = [](const In<int64_t>& array, int64_t last) {
    bool fits = array.size() > 0 && array.data()[0] == 0 && array.data()[array.size() - 1] <= last;
    for (size_t i = 1; fits && i < array.size(); ++i) fits = array.data()[i - 1] <= array.data()[i];
    return fits;
  };
  bool fits = costs == n && offsets.size() == n + 1 && rises(offsets, int64_t(places.size())) && m > 0 &&
              rises(starts, int64_t(c)) && size_t(starts.data()[m]) == c && rises(bounds, INT32_MAX) &&
              led.shape(0) == n;
  for (size_t i = 0; fits && i < places.size(); ++i)
    fits = places.data()[i] >= 0 && places.data()[i] < bounds.data()[c];
  for (size_t i = 0; fits && i < n * led.shape(1); ++i) fits = led.data()[i] < int64_t(m);
  for (size_t v = 0; fits && v < m; ++v) fits = starts.data()[v + 1] - starts.data()[v] <= 1 << 16;
  if (!fits) throw std::invalid_argument("label_learn: the arrays do not fit each other");
  if (!columns_fit(rows, width)) throw std::invalid_argument("label_learn: a column is outside the rows");
}

std::vector<Team16> teams_of(const Nodes& nodes) {
  std::vector<Team16> teams;
  for (size_t v = 0; v < nodes.count; ++v)
    for (int64_t c = nodes.starts[v]; c < nodes.starts[v + 1]; c += int64_t(kLanes))
      teams.push_back({v, c, std::min(c + int64_t(kLanes), nodes.starts[v + 1])});
  return teams;
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
  size_t m = 0;
  {
    nb::gil_scoped_release release;
    check(rows, size_t(width), costs.size(), truth, level, led);
    m = starts.size() - 1;
    Nodes nodes{starts.data(), bounds.data(), std::get<0>(truth).data(), std::get<1>(truth).data(), m, {}, {}};
    sort_rows(nodes, led, rows.count);
    std::vector<Team16> teams = teams_of(nodes);
    std::vector<Kept> parts(teams.size());
    auto rooms = make_workers<Room>(threads, size_t(width));
    Interrupts interrupts;
    for_each_piece(teams.size(), threads, [&](size_t t, int worker) {
      parts[t] = learn<Loss>(rows, costs.data(), nodes, teams[t], limits, rooms[size_t(worker)], biases.data(),
                             worker == 0 ? &interrupts : nullptr);
    });
    std::vector<size_t> begins(m + 1, 0);
    for (const Team16& team : teams) ++begins[team.node + 1];
    for (size_t v = 0; v < m; ++v) begins[v + 1] += begins[v];
    found.resize(m);
    for_each_piece(m, threads, [&](size_t v, int) {
      if (begins[v] < begins[v + 1]) found[v] = join(parts, begins[v], begins[v + 1]);
    });
    for (auto& kept : found) firsts.push_back(firsts.back() + int64_t(kept.values.size()));
  }
  size_t total = size_t(firsts.back());
  Buffer<int32_t> columns(total);
  Buffer<uint16_t> lanes(total);
  Buffer<float> values(total);
  for (size_t v = 0; v < m; ++v) {
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
