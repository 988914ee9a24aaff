// Problem: for each query the `count` rows of a matrix with the best scores, best first, of equals the lowest row.
//
// Given: rows X (n, d), sparse (columns in order) or dense, and queries Q (m, d) of the same kind in float64.
// Returned: rows (m * count) and their scores.
//   inner      sum_j q_j x_j, over the columns in order
//   cosine     the same over |q| |x|, within -1 and 1; 0 where a length is 0
//   euclidean  -sum_j (q_j - x_j)^2, over the columns in order
//
// Algorithm: a quick look at every row in float32, then float64 for those that may be among the best: what comes out is
// what float64 alone would say, whatever the order of the quick sums. Columns that few rows have are lists of (row,
// value), an inverted index; the others, where most of the work is, are panels without gaps for vector instructions.
// Rows go in blocks, so that sums stay in the nearest cache and the panels of a block in the next one, for a group of
// queries. With u = 2^-24, a query of m values, and all numbers scaled below 1, such a sum is off by less than
// (m + 8) u |q| |x| + m 2^-140 (Higham, Accuracy and Stability of Numerical Algorithms, 2002, chapter 3).
#include <nanobind/stl/variant.h>

#include <variant>

#include "blocks.hpp"
#include "nearest_exact.hpp"
#include "nearest_index.hpp"
#include "parallel.hpp"
#include "sparse.hpp"

namespace linnaeus {
namespace {

constexpr size_t kQueriesPerPiece = 16;
constexpr size_t kStretch = 4096;  // rows whose lists are walked through at a time, a whole number of blocks
constexpr size_t kAheadLists = 6;  // lists that are asked for early
constexpr size_t kTogether = 8;    // panels that are added in one walk
constexpr double kUnit = 0x1p-24;

struct Term {
  const float* panel;  // in the first block
  float weight;
};

struct Cursor {
  int64_t at, end;
  float weight;
};

struct Asking {
  Query query;
  float ratio = 0;  // what half a squared length is multiplied by
  std::vector<Term> terms;
  std::vector<Cursor> cursors;
  Candidates best{1, 0};
};

// What makes orders of the sums of one block.
struct Ordering {
  const Asking& asking;
  size_t shift;  // from the panels of the first block to those of this one
  const float *units, *factors, *halves;
  float floor;
};

// sums += the panels of the terms first .. first + Count times their weights, in one walk over the sums.
template <size_t Count>
LINNAEUS_INLINE void add_panels(const Term* terms, size_t shift, float* __restrict sums, size_t rows) {
  const float* __restrict p[Count];
  float w[Count];
  for (size_t t = 0; t < Count; ++t) p[t] = terms[t].panel + shift, w[t] = terms[t].weight;
  for (size_t i = 0; i < rows; ++i) {
    float sum = sums[i];
    for (size_t t = 0; t < Count; ++t) sum += w[t] * p[t][i];
    sums[i] = sum;
  }
}

// Adds the panels of all terms to the sums and makes them orders; tells of each strip whether one is not below the
// floor.
template <class Metric>
LINNAEUS_CLONES void order_block(const Ordering& work, float* __restrict sums, size_t rows, uint8_t* hits) {
  const Term* terms = work.asking.terms.data();
  size_t count = work.asking.terms.size(), t = 0;
  for (; t + kTogether <= count; t += kTogether) add_panels<kTogether>(terms + t, work.shift, sums, rows);
  for (; t < count; ++t) add_panels<1>(terms + t, work.shift, sums, rows);
  const float* __restrict units = work.units, * __restrict factors = work.factors, * __restrict halves = work.halves;
  float ratio = work.asking.ratio, floor = work.floor;
  for (size_t first = 0; first < rows; first += kStrip) {
    int any = 0;
    for (size_t r = first; r < first + kStrip; ++r) {
      sums[r] = Metric::order(sums[r], units[r], factors[r], halves[r], ratio);
      any |= !(sums[r] < floor);
    }
    hits[first / kStrip] = uint8_t(any);
  }
}

using Asked = std::variant<Sparse<double>, Table<double>>;

// The queries as they were given, checked.
class Queries {
 public:
  Queries(const Asked& asked, const StoredRows& rows) {
    if ((asked.index() == 0) != (rows.columns != nullptr))
      throw std::invalid_argument("Nearest: queries are sparse where the rows are, and dense where they are");
    if (const auto* dense = std::get_if<Table<double>>(&asked)) {
      if (dense->shape(1) != rows.d) throw std::invalid_argument("Nearest: the queries have another width");
      values_ = dense->data(), size = dense->shape(0), width_ = rows.d;
      return;
    }
    Lines<double> lines(std::get<0>(asked), "Nearest");
    if (!lines.fit(0, lines.count, rows.d)) throw std::invalid_argument("Nearest: the queries have another width");
    offsets_ = lines.offsets, columns_ = lines.indices, values_ = lines.values, size = lines.count;
  }

  Query operator[](size_t i) const {
    if (!offsets_) return {nullptr, values_ + i * width_, width_};
    return {columns_ + offsets_[i], values_ + offsets_[i], size_t(offsets_[i + 1] - offsets_[i])};
  }

  size_t size = 0;

 private:
  const int64_t* offsets_ = nullptr;
  const int32_t* columns_ = nullptr;
  const double* values_ = nullptr;
  size_t width_ = 0;
};

// What a thread works with: a group of queries, sums of a block, rows that are scored again.
struct Worker {
  std::vector<Asking> group;
  std::vector<float> sums;
  std::vector<uint8_t> hits;
  std::vector<int32_t> among;
  Distinct distinct;
  Scorings scorings;
};

// Where the answer to one of so many queries goes.
struct Out {
  int32_t* rows;
  double* scores;
  size_t count, queries;
};

class Nearest {
 public:
  explicit Nearest(const StoredRows& rows) : index_(rows) {}
  NearestIndex index_;

  template <class Metric>
  Asking ask(const Query& query, size_t count) const {
    Asking asking;
    asking.query = query;
    double largest = 0, scaled = 0;
    bool finite = true;
    for (size_t t = 0; t < query.size; ++t) {
      finite &= std::isfinite(query.values[t]);
      largest = std::max(largest, std::fabs(query.values[t]));
    }
    if (!finite) throw std::invalid_argument("Nearest: a value is not finite");
    double scale = power_for(largest);
    if (Metric::kDistance) scale = std::min(scale, index_.scale);
    for (size_t t = 0; t < query.size; ++t) {
      double weight = query.values[t] * scale;
      scaled += weight * weight;
      add_term(asking, query.column(t), float(weight));
    }
    asking.ratio = float(scale / index_.scale);
    double reach = std::sqrt(scaled) * (Metric::kCosine ? 1.0 : index_.longest), m = double(query.size);
    double error = 1.01 * (m + 8) * kUnit * reach + m * 0x1p-139;
    if (Metric::kDistance) error += 8 * kUnit * (reach + index_.longest * index_.longest) + 0x1p-139;
    asking.best = Candidates(count, error);
    return asking;
  }

  void add_term(Asking& asking, size_t column, float weight) const {
    size_t place = index_.place(column);
    if (weight == 0 || place == NearestIndex::kNone) return;
    int32_t panel = index_.panel_of[place];
    if (panel >= 0) {
      asking.terms.push_back({index_.table.data() + size_t(panel) * index_.block_rows, weight});
    } else if (index_.starts[place] < index_.starts[place + 1]) {
      asking.cursors.push_back({index_.starts[place], index_.starts[place + 1], weight});
    }
  }

  // Sums of the lists of a query over the rows first .. last.
  void add_lists(Asking& asking, size_t first, size_t last, float* sums) const {
    std::fill(sums, sums + (last - first), 0.0f);
    const Posting* lists = index_.lists.data();
    Cursor* cursors = asking.cursors.data();
    for (size_t c = 0, count = asking.cursors.size(); c < count; ++c) {
      if (c + kAheadLists < count) prefetch(lists, size_t(cursors[c + kAheadLists].at) * sizeof(Posting));
      int64_t i = cursors[c].at, end = cursors[c].end;
      float weight = cursors[c].weight;
      for (; i < end && size_t(lists[i].row) < last; ++i) sums[size_t(lists[i].row) - first] += weight * lists[i].value;
      cursors[c].at = i;
    }
  }

  // Adds the panels of a block, and keeps the rows that may be among the best.
  template <class Metric>
  void look(Asking& asking, size_t block, float* sums, uint8_t* hits) const {
    size_t rows = index_.block_rows, first = block * rows;
    Ordering work{asking,
                  block * index_.panels * rows,
                  index_.units.data() + first,
                  index_.factors.data() + first,
                  index_.halves.data() + first,
                  asking.best.floor()};
    order_block<Metric>(work, sums, rows, hits);
    size_t last = std::min(rows, index_.rows.n - first);
    for (size_t strip = 0; strip * kStrip < last; ++strip) {
      if (!hits[strip]) continue;
      for (size_t r = strip * kStrip, stop = std::min(last, r + kStrip); r < stop; ++r)
        if (!(sums[r] < asking.best.floor())) asking.best.add(sums[r], first + r);
    }
  }

  // A group of queries over all rows: stretch by stretch, and inside block by block.
  template <class Metric>
  void look_at_all(Worker& worker) const {
    size_t size = index_.block_rows, stretch = std::max<size_t>(1, kStretch / size);
    worker.sums.resize(worker.group.size() * stretch * size);
    worker.hits.resize(size / kStrip);
    for (size_t from = 0; from < index_.blocks; from += stretch) {
      size_t to = std::min(index_.blocks, from + stretch);
      for (size_t q = 0; q < worker.group.size(); ++q)
        add_lists(worker.group[q], from * size, to * size, worker.sums.data() + q * stretch * size);
      for (size_t block = from; block < to; ++block)
        for (size_t q = 0; q < worker.group.size(); ++q) {
          float* sums = worker.sums.data() + (q * stretch + block - from) * size;
          look<Metric>(worker.group[q], block, sums, worker.hits.data());
        }
    }
  }

  // The best of some rows by float64, best first; where there are fewer, -1 and 0.
  template <class Metric>
  void choose(const Query& query, const std::vector<int32_t>& among, Scorings& scorings, const Out& out) const {
    scorings.score<Metric>(index_.rows, index_.lengths, among, {query, out.count, out.queries});
    auto& scored = scorings.scored;
    size_t found = std::min(out.count, scored.size());
    std::partial_sort(scored.begin(), scored.begin() + std::ptrdiff_t(found), scored.end(), [](auto& a, auto& b) {
      return a.first > b.first || (a.first == b.first && a.second < b.second);
    });
    for (size_t i = 0; i < found; ++i) out.rows[i] = scored[i].second, out.scores[i] = scored[i].first;
    for (size_t i = found; i < out.count; ++i) out.rows[i] = -1, out.scores[i] = 0;
  }

  template <class Metric>
  void finish(Asking& asking, Worker& worker, const Out& out) const {
    asking.best.prune();
    worker.among.clear();
    for (const Found& found : asking.best.found()) worker.among.push_back(found.row);
    choose<Metric>(asking.query, worker.among, worker.scorings, out);
  }
};

// Rows that are named for each query: in stretches of one array, several for each query.
struct Named {
  using Given = std::tuple<Table<int64_t>, Table<int64_t>, In<int32_t>>;

  Named(const Given& given, size_t m) {
    auto& [from, to, named] = given;
    starts = from.data(), ends = to.data(), rows = named.data(), each = from.shape(1);
    bool fits = from.shape(0) == m && to.shape(0) == m && to.shape(1) == each;
    for (size_t i = 0; fits && i < m * each; ++i)
      fits = starts[i] >= 0 && starts[i] <= ends[i] && ends[i] <= int64_t(named.size());
    if (!fits) throw std::invalid_argument("Nearest: the candidates do not fit the queries");
  }

  void gather(size_t query, size_t n, Distinct& found) const {
    found.begin(n);
    for (size_t i = query * each; i < (query + 1) * each; ++i)
      for (int64_t at = starts[i]; at < ends[i]; ++at) found.add(rows[at]);
  }

  const int64_t *starts, *ends;
  const int32_t* rows;
  size_t each;
};

// The class as Python sees it: it keeps the arrays of the rows alive.
class Kept : public Nearest {
 public:
  using Rows = std::variant<Sparse<float>, Sparse<double>, Table<float>, Table<double>>;

  Kept(Rows rows, int64_t width) : Nearest(opened(rows, width)), rows_(std::move(rows)) {}

  template <class Metric>
  auto search(Asked asked, int64_t wanted, int threads) const {
    Queries queries(asked, index_.rows);
    if (wanted < 1 || size_t(wanted) > index_.rows.n) throw std::invalid_argument("Nearest: not so many rows");
    size_t count = size_t(wanted), m = queries.size;
    Buffer<int32_t> rows(m * count);
    Buffer<double> scores(m * count);
    {
      nb::gil_scoped_release release;
      auto workers = std::vector<Worker>(size_t(std::max(threads, 1)));
      for_each_piece((m + kQueriesPerPiece - 1) / kQueriesPerPiece, threads, [&](size_t piece, int number) {
        Worker& worker = workers[size_t(number)];
        worker.group.clear();
        size_t first = piece * kQueriesPerPiece, last = std::min(m, first + kQueriesPerPiece);
        for (size_t q = first; q < last; ++q) worker.group.push_back(ask<Metric>(queries[q], count));
        look_at_all<Metric>(worker);
        for (size_t q = first; q < last; ++q)
          finish<Metric>(worker.group[q - first], worker, {rows.get() + q * count, scores.get() + q * count, count, m});
      });
    }
    return std::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(scores)));
  }

  // The same among named rows: those of query i are rows[starts[i, t]] .. rows[ends[i, t]] for each t.
  template <class Metric>
  auto search_among(Asked asked, Named::Given given, int64_t wanted, int threads) const {
    Queries queries(asked, index_.rows);
    size_t m = queries.size, count = size_t(std::max<int64_t>(wanted, 0));
    Named named(given, m);
    if (wanted < 1 || count > index_.rows.n) throw std::invalid_argument("Nearest: not so many rows");
    Buffer<int32_t> rows(m * count);
    Buffer<double> scores(m * count);
    {
      nb::gil_scoped_release release;
      auto workers = std::vector<Worker>(size_t(std::max(threads, 1)));
      for_each_piece((m + kQueriesPerPiece - 1) / kQueriesPerPiece, threads, [&](size_t piece, int number) {
        Worker& worker = workers[size_t(number)];
        size_t last = std::min(m, (piece + 1) * kQueriesPerPiece);
        for (size_t q = piece * kQueriesPerPiece; q < last; ++q) {
          named.gather(q, index_.rows.n, worker.distinct);
          choose<Metric>(queries[q], worker.distinct.rows, worker.scorings,
                         {rows.get() + q * count, scores.get() + q * count, count, m});
        }
      });
    }
    return std::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(scores)));
  }

 private:
  static StoredRows opened(const Rows& rows, int64_t width) {
    StoredRows found;
    if (width < 0 || width > int64_t(INT32_MAX)) throw std::invalid_argument("Nearest: the width is out of range");
    found.d = size_t(width);
    if (const auto* one = std::get_if<0>(&rows)) found.singles = open(*one, found);
    if (const auto* one = std::get_if<1>(&rows)) found.doubles = open(*one, found);
    if (const auto* one = std::get_if<2>(&rows)) found.singles = open(*one, found);
    if (const auto* one = std::get_if<3>(&rows)) found.doubles = open(*one, found);
    if (found.n > size_t(INT32_MAX)) throw std::invalid_argument("Nearest: too many rows for int32");
    return found;
  }

  template <class T>
  static const T* open(const Sparse<T>& rows, StoredRows& found) {
    static constexpr int32_t nothing = 0;
    Lines<T> lines(rows, "Nearest");
    found.offsets = lines.offsets, found.columns = lines.indices ? lines.indices : &nothing, found.n = lines.count;
    return lines.values;
  }

  template <class T>
  static const T* open(const Table<T>& rows, StoredRows& found) {
    if (rows.shape(1) != found.d) throw std::invalid_argument("Nearest: the rows do not have this width");
    found.n = rows.shape(0);
    return rows.data();
  }

  Rows rows_;
};

}  // namespace

void bind_nearest(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Kept>(m, "Nearest")
      .def(nb::init<Kept::Rows, int64_t>(), "rows"_a, "width"_a)
      .def("inner", &Kept::search<Inner>, "queries"_a, "count"_a, "threads"_a)
      .def("cosine", &Kept::search<Cosine>, "queries"_a, "count"_a, "threads"_a)
      .def("euclidean", &Kept::search<Euclidean>, "queries"_a, "count"_a, "threads"_a)
      .def("inner_among", &Kept::search_among<Inner>, "queries"_a, "among"_a, "count"_a, "threads"_a)
      .def("cosine_among", &Kept::search_among<Cosine>, "queries"_a, "among"_a, "count"_a, "threads"_a)
      .def("euclidean_among", &Kept::search_among<Euclidean>, "queries"_a, "among"_a, "count"_a, "threads"_a);
}

}  // namespace linnaeus
