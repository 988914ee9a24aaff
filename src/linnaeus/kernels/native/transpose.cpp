// The transposed sparse matrix: rows become columns, by a counting sort.
//
// Each worker counts the columns of its share of the rows, the counts become places, and the worker puts its values
// there. Within a column the values stay in the order of the rows, so the result is one and the same however the rows
// were shared out: a share per thread, and no more counters than that.
#include <nanobind/stl/vector.h>

#include "parallel.hpp"
#include "sparse.hpp"

namespace linnaeus {
namespace {

constexpr size_t kMostShares = 16;
constexpr int64_t kAhead = 16;

inline void prefetch(const void* p) {
#if defined(__GNUC__)
  __builtin_prefetch(p, 1);
#else
  (void)p;
#endif
}

template <class T>
struct Transposing {
  Lines<T> rows;
  size_t width;
  std::vector<size_t> cuts;                  // rows cuts[s] .. cuts[s+1] belong to share s
  std::vector<std::vector<int64_t>> places;  // where the next value of a column goes, for each share

  Transposing(const Sparse<T>& arrays, size_t width, int threads) : rows(arrays, "transpose"), width(width) {
    size_t shares = std::min<size_t>(kMostShares, size_t(std::max(threads, 1)));
    int64_t total = rows.count ? rows.offsets[rows.count] : 0;
    for (size_t s = 0; s < shares; ++s) {
      int64_t wanted = total / int64_t(shares) * int64_t(s);
      cuts.push_back(size_t(std::lower_bound(rows.offsets, rows.offsets + rows.count, wanted) - rows.offsets));
    }
    cuts[0] = 0;
    cuts.push_back(rows.count);
    places.resize(shares);
  }

  void count(size_t share) {
    places[share].assign(width, 0);
    for (size_t r = cuts[share]; r < cuts[share + 1]; ++r) {
      if (!rows.fits(r, width)) throw std::invalid_argument("transpose: an index is not below the width");
      for (int64_t i = rows.offsets[r]; i < rows.offsets[r + 1]; ++i) ++places[share][size_t(rows.indices[i])];
    }
  }

  void place(int64_t* offsets) {
    int64_t next = 0;
    for (size_t j = 0; j < width; ++j) {
      offsets[j] = next;
      for (auto& counts : places) next += std::exchange(counts[j], next);
    }
    offsets[width] = next;
  }

  // Values go all over memory: the lines they will be written to are asked for some values ahead.
  void put(size_t share, int32_t* indices, T* values) {
    int64_t* next = places[share].data();
    int64_t end = rows.offsets[cuts[share + 1]];
    for (size_t r = cuts[share]; r < cuts[share + 1]; ++r)
      for (int64_t i = rows.offsets[r]; i < rows.offsets[r + 1]; ++i) {
        if (i + 2 * kAhead < end) {
          prefetch(next + rows.indices[i + 2 * kAhead]);
          int64_t soon = next[rows.indices[i + kAhead]];
          prefetch(indices + soon);
          prefetch(values + soon);
        }
        int64_t at = next[rows.indices[i]]++;
        indices[at] = int32_t(r);
        values[at] = rows.values[i];
      }
  }
};

// Given: rows (n) and their width d.  Returned: the columns (d), each with its rows in order.
template <class T>
auto transpose(Sparse<T> arrays, int64_t width, int threads) {
  if (width < 0) throw std::invalid_argument("transpose: the width is negative");
  Transposing<T> work(arrays, size_t(width), threads);
  if (work.rows.count > size_t(INT32_MAX)) throw std::invalid_argument("transpose: too many rows for int32");
  size_t stored = work.rows.count ? size_t(work.rows.offsets[work.rows.count] - work.rows.offsets[0]) : 0;
  Buffer<int64_t> offsets(size_t(width) + 1);
  Buffer<int32_t> indices(stored);
  Buffer<T> values(stored);
  {
    nb::gil_scoped_release release;
    for_each_piece(work.places.size(), threads, [&](size_t share, int) { work.count(share); });
    work.place(offsets.get());
    for_each_piece(work.places.size(), threads,
                   [&](size_t share, int) { work.put(share, indices.get(), values.get()); });
  }
  return std::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(indices)), to_numpy(std::move(values)));
}

}  // namespace

void bind_transpose(nb::module_& m) {
  using namespace nb::literals;
  m.def("transpose", &transpose<float>, "rows"_a, "width"_a, "threads"_a);
  m.def("transpose", &transpose<double>, "rows"_a, "width"_a, "threads"_a);
}

}  // namespace linnaeus
