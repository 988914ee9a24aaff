// Problem: G = X^T D, for sparse rows X (n, d) and D (n, k); G (d, k) in float64.
//
// Each row of G sums the rows of D that have a value in its column, in the order of the rows, one after the other. That
// order is the meaning; it does not depend on who does the sum, so the columns are cut into ranges of about as many
// stored values each, and whoever has a range walks over all rows, in order, and takes the values inside. Columns
// ascend within a row, so these stand side by side. A range narrow enough for its part of G to stay in the cache is
// also the faster order on one thread. Rows whose columns do not ascend are noticed, and then one range is all.
#include <atomic>

#include "blocks.hpp"
#include "parallel.hpp"
#include "sparse.hpp"

namespace linnaeus {
namespace {

constexpr size_t kFewClasses = 4;
constexpr size_t kCheckedRows = 16;          // whose columns are checked in one go, few enough to stay in the cache
constexpr size_t kLong = 32;                 // a row of more values than this for each thread can be cut further
constexpr size_t kCache = size_t(16) << 20;  // a result of more bytes than this is made range by range

template <class X, class D>
struct Work {
  Lines<X> rows;
  const D* factors;
  size_t width, k;
  double* out;
};

struct Range {
  uint32_t begin, end;  // columns
};

// How many columns are smaller than `bound`: they ascend.
LINNAEUS_INLINE size_t below(const int32_t* columns, size_t n, uint32_t bound) {
  if (n > 512)
    return size_t(std::lower_bound(columns, columns + n, bound, [](int32_t a, uint32_t b) { return uint32_t(a) < b; }) -
                  columns);
  uint32_t count = 0;
  for (size_t i = 0; i < n; ++i) count += uint32_t(columns[i]) < bound;
  return count;
}

LINNAEUS_INLINE bool inside(const int32_t* columns, size_t n, Range range) {
  uint32_t outside = 0;
  for (size_t i = 0; i < n; ++i) outside |= uint32_t(columns[i]) - range.begin >= range.end - range.begin;
  return !outside;
}

// The part of row r inside the range, asked for early: where a range is not all, parts of rows lie apart.
template <class X, class D>
LINNAEUS_INLINE Stretch<X> find_part(const Work<X, D>& work, Range range, size_t r) {
  if (r >= work.rows.count) return {};
  int64_t begin = work.rows.offsets[r];
  const int32_t* columns = work.rows.indices + begin;
  size_t n = size_t(work.rows.offsets[r + 1] - begin);
  size_t from = range.begin ? below(columns, n, range.begin) : 0;
  size_t to = range.end < work.width ? below(columns, n, range.end) : n;
  Stretch<X> part{columns + from, work.rows.values + begin + from, to - from, to - from};
  if (part.size < n)
    for (size_t i = 0; i < part.size; i += 64 / sizeof(X)) prefetch(part.values + i, 0);
  if (work.k > 1)
    for (size_t i = 0; i < std::min(part.size, kAhead); ++i) prefetch_row(work.out, part.indices[i], work.k);
  return part;
}

// Adds what lies in the range; false where a row does not ascend.
template <class X, class D>
LINNAEUS_CLONES bool add_range(const Work<X, D>& work, Range range) {
  const size_t k = work.k;
  std::fill(work.out + range.begin * k, work.out + range.end * k, 0.0);
  bool fits = true;
  const bool all = range.begin == 0 && range.end == work.width;
  auto walk = [&](auto add) LINNAEUS_LAMBDA {
    Stretch<X> next = find_part(work, range, 0);
    for (size_t r = 0; r < work.rows.count; ++r) {
      Stretch<X> part = next;
      next = find_part(work, range, r + 1);
      if (!all) {
        fits = inside(part.indices, part.size, range);
      } else if (r % kCheckedRows == 0) {
        fits = work.rows.fit(r, std::min(work.rows.count, r + kCheckedRows), work.width);
      }
      if (!fits) return;
      add(part, work.factors + r * k);
    }
  };
  if (k > kWide) {
    walk([&](const Stretch<X>& part, const D* d) LINNAEUS_LAMBDA { add_outer_wide(part, d, work.out, k); });
  } else {
    with_shape(k, [&](auto s) LINNAEUS_LAMBDA {
      walk([&](const Stretch<X>& part, const D* d) LINNAEUS_LAMBDA { add_outer<decltype(s)>(part, d, work.out, k); });
    });
  }
  return fits;
}

// Ranges of about as many stored values each, by the columns of a sample of them.
template <class X>
std::vector<Range> cut_columns(const Lines<X>& rows, size_t width, size_t count) {
  std::vector<uint32_t> sample;
  size_t stored = rows.size(), step = std::max<size_t>(1, stored / (64 * count));
  for (size_t i = step / 2; count > 1 && i < stored; i += step)
    sample.push_back(uint32_t(rows.indices[rows.offsets[0] + int64_t(i)]));
  std::sort(sample.begin(), sample.end());
  std::vector<Range> ranges;
  uint32_t begin = 0;
  for (size_t p = 1; p < count && !sample.empty(); ++p) {
    uint32_t end = std::min(sample[p * sample.size() / count], uint32_t(width));
    if (end > begin) ranges.push_back({begin, end}), begin = end;
  }
  ranges.push_back({begin, uint32_t(width)});
  return ranges;
}

// How many ranges pay: each walks over all rows, and with few classes finding the parts costs as much as adding them.
template <class X, class D>
size_t count_ranges(const Work<X, D>& work, int workers) {
  if (work.k < kFewClasses) return workers < 4 ? 1 : size_t(workers);
  size_t length = work.rows.size() / std::max<size_t>(work.rows.count, 1);
  if (workers > 1) return length > kLong * size_t(workers) ? 2 * size_t(workers) : size_t(workers);
  return work.width * work.k * sizeof(double) > kCache ? 4 : 1;
}

template <class X, class D>
void rows_tdot(Sparse<X> rows, Table<D> factors, TableOut<double> out, int threads) {
  Lines<X> matrix(rows, "rows_tdot");
  if (factors.shape(0) != matrix.count || out.shape(1) != factors.shape(1) || out.shape(0) > size_t(1) << 31)
    throw std::invalid_argument("rows_tdot: the result does not fit the rows and the factors");
  Work<X, D> work{matrix, factors.data(), out.shape(0), out.shape(1), out.data()};
  if (!work.k) return;
  nb::gil_scoped_release release;
  int workers = worth(threads, matrix.size() * work.k);
  std::vector<Range> ranges = cut_columns(matrix, work.width, count_ranges(work, workers));
  std::atomic<bool> ascend{true};
  for_each_piece(ranges.size(), workers, [&](size_t piece, int) {
    if (!add_range(work, ranges[piece])) ascend = false;
  });
  if (!ascend && !add_range(work, Range{0, uint32_t(work.width)}))
    throw std::invalid_argument("rows_tdot: a column is outside the result");
}

template <class X, class D>
void bind(nb::module_& m) {
  using namespace nb::literals;
  m.def("rows_tdot", &rows_tdot<X, D>, "rows"_a.noconvert(), "factors"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
}

}  // namespace

void bind_rows_tdot(nb::module_& m) {
  bind<float, float>(m);
  bind<float, double>(m);
  bind<double, float>(m);
  bind<double, double>(m);
}

}  // namespace linnaeus
