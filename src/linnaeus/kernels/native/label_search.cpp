// Problem: the best labels of each row, by a beam search down a label tree.
//
// A node has children; each child has linear weights w and a bias b, and leads to a node or is a label. A child's score
// is s = b + w x; what it adds to the score of its path is t(s) <= 0, times `share` if it leads to a node. A path's
// score never rises on its way down, so a node that is behind the k best labels found so far is never opened, and with
// a beam as wide as the tree the answer is that of scoring everything.
//
// The weights of the children of a node are one chunk: ascending columns, and for each column children and values in 8
// or 16 bits. One pass over a row's values scores all children. A node is checked when it is first used; that it has
// one parent, which lies before it, is among this, so that no search opens a node twice.
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <limits>

#include "digests.hpp"
#include "parallel.hpp"
#include "sparse.hpp"

namespace linnaeus {
namespace {

constexpr size_t kRowsPerPiece = 32;
constexpr int64_t kTogether = 32;  // columns of a row that are looked for at a time
constexpr int64_t kNear = 8;       // columns of a node among which one is looked for, about
constexpr float kWorst = -1e30f;

template <class T>
using Grid = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// What a child of score s adds: -(1 - s)^3 below 1, and nothing above it. It is finite: rows that are too large, or not
// a number, lead to the worst score, never to one that cannot be compared.
inline float step_of(float s) {
  if (s >= 1.0f) return 0.0f;
  float off = 1.0f - s, step = -(off * off * off);
  return step > kWorst ? step : kWorst;
}

// Children: where those of each node begin (m+1), where each leads (a node, or ~label), and its bias.
using Children = std::tuple<In<int64_t>, In<int32_t>, In<float>>;
// Where the columns of each node begin (m+1), the columns, and where the values of each begin, within the node.
using Columns = std::tuple<In<int64_t>, In<int32_t>, In<uint32_t>>;
// Where the values of each node begin (m+1), the child of each, the values, and what those of a node are multiplied by.
template <class L, class V>
using Values = std::tuple<In<int64_t>, In<L>, In<V>, In<float>>;

struct Path {
  float score;
  int32_t to;
};

// The better first; of equals the lower number.
inline bool before(const Path& a, const Path& b) { return a.score > b.score || (a.score == b.score && a.to < b.to); }

// The k best labels so far: a few are kept sorted, many as a heap, whose top is the last of them.
class Best {
 public:
  void begin(size_t k) { k_ = k, paths_.clear(); }

  // Whether nothing of this score would be kept.
  bool closed(float score) const { return full() && (k_ == 0 || score < last().score); }

  void keep(Path found) {
    if (full()) {
      if (k_ == 0 || !before(found, last())) return;
      if (many()) std::pop_heap(paths_.begin(), paths_.end(), before);
      paths_.pop_back();
    }
    if (many()) {
      paths_.push_back(found);
      std::push_heap(paths_.begin(), paths_.end(), before);
    } else {
      paths_.insert(std::upper_bound(paths_.begin(), paths_.end(), found, before), found);
    }
  }

  const std::vector<Path>& sorted() {
    if (many()) std::sort_heap(paths_.begin(), paths_.end(), before);
    return paths_;
  }

 private:
  size_t k_ = 0;
  std::vector<Path> paths_;

  bool full() const { return paths_.size() == k_; }
  bool many() const { return k_ > 256; }
  const Path& last() const { return many() ? paths_.front() : paths_.back(); }
};

// Memory of one thread.
struct Walk {
  std::vector<float> sums;
  std::vector<Path> frontier, next;
  Best best;
};

// Where the columns of a node lie: those from c * 2^shift on begin at starts[c]. There are few for each c.
struct Places {
  int shift = 0;
  std::unique_ptr<uint32_t[]> starts;

  Places(const int32_t* columns, size_t count, int64_t width) {
    const int64_t last = std::max<int64_t>(width - 1, 0), most = std::max<int64_t>(int64_t(count) / kNear, 1);
    while ((last >> shift) >= most) ++shift;
    const size_t size = size_t(last >> shift) + 2;
    starts.reset(new uint32_t[size]);
    for (size_t c = 0, i = 0; c < size; ++c) {
      while (i < count && size_t(columns[i] >> shift) < c) ++i;
      starts[c] = uint32_t(i);
    }
  }
};

[[noreturn]] void refuse(const char* why) { throw std::runtime_error(std::string("LabelSearch: ") + why); }

template <class L, class V>
class LabelSearch {
 public:
  LabelSearch(Children children, Columns columns, Values<L, V> values, In<uint64_t> digests,
              std::tuple<int64_t, int64_t, float> facts)
      : children_(children), columns_(columns), values_(values), digests_(digests) {
    std::tie(labels_, width_, share_) = facts;
    auto& [starts, targets, biases] = children_;
    auto& [firsts, names, spots] = columns_;
    auto& [begins, lanes, numbers, scales] = values_;
    size_t m = scales.size();
    bool fits = m > 0 && starts.size() == m + 1 && firsts.size() == m + 1 && begins.size() == m + 1 &&
                targets.size() == biases.size() && names.size() == spots.size() && lanes.size() == numbers.size() &&
                (digests.size() == m || digests.size() == 0);
    if (!fits) throw std::invalid_argument("LabelSearch: the arrays do not fit each other");
    if (m > INT32_MAX || width_ < 0 || labels_ <= 0 || !(share_ >= 0 && std::isfinite(share_)))
      throw std::invalid_argument("LabelSearch: width, labels or share are no sizes of a tree");
    places_.reset(new std::atomic<Places*>[m]());
    parents_.reset(new std::atomic<int32_t>[m]());
    check_node(0);
  }

  ~LabelSearch() {
    for (size_t v = 0; v < std::get<3>(values_).size(); ++v) delete places_[v].load();
  }
  LabelSearch(const LabelSearch&) = delete;
  LabelSearch& operator=(const LabelSearch&) = delete;

  // The k best labels of each row and their scores, best first; -1 and minus infinity where there are no more.
  void best(Sparse<float> given, Grid<int32_t> labels, Grid<float> scores, int64_t beam, int threads) {
    Lines<float> rows(given, "LabelSearch");
    size_t n = rows.count, k = labels.shape(1);
    if (labels.shape(0) != n || scores.shape(0) != n || scores.shape(1) != k || beam < 1)
      throw std::invalid_argument("LabelSearch: the answers do not fit the rows");
    nb::gil_scoped_release release;
    check_rows(rows);
    auto walks = make_workers<Walk>(threads);
    for_each_piece((n + kRowsPerPiece - 1) / kRowsPerPiece, threads, [&](size_t piece, int worker) {
      Walk& walk = walks[size_t(worker)];
      for (size_t i = piece * kRowsPerPiece; i < std::min(n, (piece + 1) * kRowsPerPiece); ++i) {
        walk.best.begin(k);
        search(rows, i, size_t(beam), walk);
        const std::vector<Path>& found = walk.best.sorted();
        for (size_t j = 0; j < k; ++j) {
          labels.data()[i * k + j] = j < found.size() ? found[j].to : -1;
          scores.data()[i * k + j] = j < found.size() ? found[j].score : -std::numeric_limits<float>::infinity();
        }
      }
    });
  }

  // The scores of the children of a node, for a matrix of one row.
  auto children(Sparse<float> given, int64_t node) {
    Lines<float> rows(given, "LabelSearch");
    if (rows.count != 1 || node < 0 || size_t(node) >= std::get<3>(values_).size())
      throw std::invalid_argument("LabelSearch: there is no such row or node");
    check_rows(rows);
    Walk walk;
    score(rows, 0, size_t(node), walk);
    auto& [starts, targets, biases] = children_;
    for (size_t c = 0; c < walk.sums.size(); ++c)
      walk.sums[c] = biases.data()[size_t(starts.data()[node]) + c] + std::get<3>(values_).data()[node] * walk.sums[c];
    return to_numpy(walk.sums);
  }

  // Every node: that its arrays lead nowhere else, and that it has one parent.
  void check() {
    auto& [starts, targets, biases] = children_;
    auto& [firsts, names, spots] = columns_;
    auto& [begins, lanes, numbers, scales] = values_;
    size_t m = scales.size();
    nb::gil_scoped_release release;
    Interrupts interrupts;
    for (size_t v = 0; v < m; ++v, interrupts.ask()) check_node(v);
    for (size_t v = 1; v < m; ++v) require(parents_[v].load() != 0, "a node has no parent");
    require(size_t(starts.data()[m]) == targets.size() && size_t(firsts.data()[m]) == names.size() &&
                size_t(begins.data()[m]) == lanes.size(),
            "its arrays are longer than its nodes");
  }

  // The digest of each node's chunk, as the file has it.
  auto digests() {
    Buffer<uint64_t> found(std::get<3>(values_).size());
    {
      nb::gil_scoped_release release;
      Interrupts interrupts;
      for (size_t v = 0; v < found.size(); ++v, interrupts.ask()) {
        check_node(v);
        found[v] = digest(v);
      }
    }
    return to_numpy(std::move(found));
  }

 private:
  Children children_;
  Columns columns_;
  Values<L, V> values_;
  In<uint64_t> digests_;
  int64_t labels_, width_;
  float share_;
  std::unique_ptr<std::atomic<Places*>[]> places_;   // null while a node has not been checked
  std::unique_ptr<std::atomic<int32_t>[]> parents_;  // + 1, and 0 while a node's parent has not been checked

  static void require(bool fits, const char* why) {
    if (!fits) [[unlikely]]
      refuse(why);
  }

  void check_rows(const Lines<float>& rows) const {
    if (rows.count && !rows.fit(0, rows.count, size_t(width_)))
      throw std::invalid_argument("LabelSearch: a column is outside the rows");
    bool fall = false;
    for (size_t row = 0; row < rows.count; ++row)
      for (int64_t j = rows.offsets[row] + 1; j < rows.offsets[row + 1]; ++j)
        fall |= rows.indices[j] < rows.indices[j - 1];
    if (fall) throw std::invalid_argument("LabelSearch: the columns of a row fall");
  }

  static void check_range(const In<int64_t>& firsts, size_t v, size_t size, const char* why) {
    int64_t from = firsts.data()[v], to = firsts.data()[v + 1];
    require(from >= 0 && from <= to && size_t(to) <= size && (v || from == 0), why);
  }

  const Places& check_node(size_t v) {
    if (const Places* known = places_[v].load(std::memory_order_acquire)) return *known;
    auto& [starts, targets, biases] = children_;
    auto& [firsts, names, spots] = columns_;
    auto& [begins, lanes, numbers, scales] = values_;
    check_range(starts, v, targets.size(), "the children of a node are outside its arrays");
    check_range(firsts, v, names.size(), "the columns of a node are outside its arrays");
    check_range(begins, v, lanes.size(), "the values of a node are outside its arrays");
    if (digests_.size()) require(digest(v) == digests_.data()[v], "a chunk does not match its digest");
    int64_t count = starts.data()[v + 1] - starts.data()[v], m = int64_t(scales.size());
    require(count <= int64_t(std::numeric_limits<L>::max()) + 1, "a node has too many children");
    require(std::isfinite(scales.data()[v]), "a scale is not finite");
    int32_t last = int32_t(v);
    for (int64_t c = starts.data()[v]; c < starts.data()[v + 1]; ++c) {
      int32_t to = targets.data()[c];
      require(to >= 0 ? to > last && to < m : ~to < labels_, "a child leads outside the tree, or back");
      require(std::isfinite(biases.data()[c]), "a bias is not finite");
      last = std::max(last, to);
    }
    check_chunk(v, count);
    adopt(v);
    return publish(v);
  }

  // Two threads may check a node at the same time: the places of the first stay.
  const Places& publish(size_t v) {
    auto& [firsts, names, spots] = columns_;
    const int64_t first = firsts.data()[v];
    auto made = std::make_unique<Places>(names.data() + first, size_t(firsts.data()[v + 1] - first), width_);
    Places* known = nullptr;
    if (places_[v].compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) known = made.release();
    return *known;
  }

  // Two threads may check a node at the same time, so a node may get its own parent twice.
  void adopt(size_t v) {
    auto& [starts, targets, biases] = children_;
    for (int64_t c = starts.data()[v]; c < starts.data()[v + 1]; ++c) {
      int32_t to = targets.data()[c], none = 0;
      if (to >= 0 && !parents_[size_t(to)].compare_exchange_strong(none, int32_t(v) + 1))
        require(none == int32_t(v) + 1, "a node has two parents");
    }
  }

  void check_chunk(size_t v, int64_t count) {
    auto& [firsts, names, spots] = columns_;
    auto& [begins, lanes, numbers, scales] = values_;
    int64_t size = begins.data()[v + 1] - begins.data()[v], last = -1, at = 0;
    for (int64_t i = firsts.data()[v]; i < firsts.data()[v + 1]; ++i) {
      require(names.data()[i] > last && names.data()[i] < width_, "the columns of a node do not rise");
      require(spots.data()[i] >= at && spots.data()[i] <= size && (i > firsts.data()[v] || spots.data()[i] == 0),
              "the values of a column are outside its node");
      last = names.data()[i], at = spots.data()[i];
    }
    require(firsts.data()[v] < firsts.data()[v + 1] || size == 0, "a node has values without columns");
    for (int64_t e = begins.data()[v]; e < begins.data()[v + 1]; ++e)
      require(lanes.data()[e] < count, "a value is of a child that is not there");
  }

  uint64_t digest(size_t v) const {
    auto& [firsts, names, spots] = columns_;
    auto& [begins, lanes, numbers, scales] = values_;
    auto part = [](const auto& array, int64_t from, int64_t to) {
      return xxh64::digest(reinterpret_cast<const uint8_t*>(array.data() + from),
                           size_t(to - from) * sizeof(*array.data()));
    };
    int64_t a = firsts.data()[v], b = firsts.data()[v + 1], c = begins.data()[v], d = begins.data()[v + 1];
    uint64_t parts[4] = {part(names, a, b), part(spots, a, b), part(lanes, c, d), part(numbers, c, d)};
    return xxh64::digest(reinterpret_cast<const uint8_t*>(parts), sizeof parts);
  }

  LINNAEUS_INLINE void add(size_t v, int64_t i, float x, float* sums) const {
    auto& [firsts, names, spots] = columns_;
    auto& [begins, lanes, numbers, scales] = values_;
    int64_t from = begins.data()[v] + spots.data()[i];
    int64_t to = i + 1 < firsts.data()[v + 1] ? begins.data()[v] + spots.data()[i + 1] : begins.data()[v + 1];
    for (int64_t e = from; e < to; ++e) sums[lanes.data()[e]] += x * float(numbers.data()[e]);
  }

  // The sums of values for all children of a node, in the order of the row's columns. Some columns are looked for at a
  // time, so that the processor waits for the memory of all of them at once.
  void score(const Lines<float>& rows, size_t row, size_t v, Walk& walk) {
    const Places& places = check_node(v);
    auto& [starts, targets, biases] = children_;
    auto& [firsts, names, spots] = columns_;
    walk.sums.assign(size_t(starts.data()[v + 1] - starts.data()[v]), 0.0f);
    const int64_t end = rows.offsets[row + 1], first = firsts.data()[v];
    const int32_t* own = names.data() + first;
    for (int64_t j = rows.offsets[row]; j < end; j += kTogether) {
      const size_t count = size_t(std::min(end - j, kTogether));
      const int32_t* columns = rows.indices + j;
      uint32_t at[kTogether], to[kTogether], which[kTogether], found = 0;
      for (size_t b = 0; b < count; ++b) prefetch(places.starts.get(), size_t(columns[b] >> places.shift) * 4);
      for (size_t b = 0; b < count; ++b) {
        const uint32_t* place = places.starts.get() + (columns[b] >> places.shift);
        at[b] = place[0], to[b] = place[1];
        prefetch(own, at[b] * sizeof(*own));
      }
      for (size_t b = 0; b < count; ++b) {
        const uint32_t i = uint32_t(std::lower_bound(own + at[b], own + to[b], columns[b]) - own);
        if (i == to[b] || own[i] != columns[b]) continue;
        at[found] = i, which[found++] = uint32_t(b);
        prefetch(spots.data(), size_t(first + i) * sizeof(uint32_t));
      }
      for (size_t h = 0; h < found; ++h) fetch(v, first + at[h]);
      for (size_t h = 0; h < found; ++h) add(v, first + at[h], rows.values[size_t(j) + which[h]], walk.sums.data());
    }
  }

  // Ask for the memory of a column's values before they are added.
  LINNAEUS_INLINE void fetch(size_t v, int64_t i) const {
    auto& [begins, lanes, numbers, scales] = values_;
    const int64_t at = begins.data()[v] + std::get<2>(columns_).data()[i];
    prefetch(lanes.data(), size_t(at) * sizeof(L));
    prefetch(numbers.data(), size_t(at) * sizeof(V));
  }

  void search(const Lines<float>& rows, size_t row, size_t beam, Walk& walk) {
    walk.frontier.assign(1, {0.0f, 0});
    while (!walk.frontier.empty()) {
      walk.next.clear();
      for (const Path& path : walk.frontier) {
        if (walk.best.closed(path.score)) break;
        open(rows, row, path, walk);
      }
      size_t kept = std::min(beam, walk.next.size());
      std::partial_sort(walk.next.begin(), walk.next.begin() + int64_t(kept), walk.next.end(), before);
      walk.next.resize(kept);
      std::swap(walk.frontier, walk.next);
    }
  }

  void open(const Lines<float>& rows, size_t row, const Path& path, Walk& walk) {
    auto& [starts, targets, biases] = children_;
    size_t v = size_t(path.to);
    score(rows, row, v, walk);
    float scale = std::get<3>(values_).data()[v];
    for (size_t c = 0; c < walk.sums.size(); ++c) {
      size_t child = size_t(starts.data()[v]) + c;
      float step = step_of(biases.data()[child] + scale * walk.sums[c]);
      int32_t to = targets.data()[child];
      if (to >= 0) {
        walk.next.push_back({path.score + share_ * step, to});
      } else {
        walk.best.keep({path.score + step, ~to});
      }
    }
  }
};

template <class L, class V>
void bind_search(nb::module_& m, const char* name) {
  using namespace nb::literals;
  using Search = LabelSearch<L, V>;
  nb::class_<Search>(m, name)
      .def(nb::init<Children, Columns, Values<L, V>, In<uint64_t>, std::tuple<int64_t, int64_t, float>>(),
           "children"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "digests"_a.noconvert(),
           "facts"_a)
      .def("best", &Search::best, "rows"_a.noconvert(), "labels"_a.noconvert(), "scores"_a.noconvert(), "beam"_a,
           "threads"_a)
      .def("children", &Search::children, "rows"_a.noconvert(), "node"_a)
      .def("digests", &Search::digests)
      .def("check", &Search::check);
}

}  // namespace

void bind_label_search(nb::module_& m) {
  bind_search<uint8_t, int8_t>(m, "LabelSearch8");
  bind_search<uint16_t, int8_t>(m, "LabelSearchWide8");
  bind_search<uint8_t, int16_t>(m, "LabelSearch16");
  bind_search<uint16_t, int16_t>(m, "LabelSearchWide16");
}

}  // namespace linnaeus
