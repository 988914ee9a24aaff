// Problem: a matrix in which columns with the same values in the same rows are one. With an L2 penalty m equal columns
// have equal weights, so one column with sqrt(m) times the values stands for all of them: a product with its weight w
// is that of the m columns with w / sqrt(m) each, and the squares of the weights have the same sum.
//
// Two 64-bit sums over the rows of a column, of hashes of row and value, tell columns apart.
#include <bit>
#include <cmath>

#include "parallel.hpp"
#include "sparse.hpp"

namespace linnaeus {
namespace {

constexpr size_t kRowsPerPiece = 1024;
constexpr int kMostTables = 4;  // each thread needs one

struct Mark {
  uint64_t one = 0, other = 0;
  bool operator==(const Mark& mark) const { return one == mark.one && other == mark.other; }
};

inline uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// The sums of all columns; those without values have none.
std::vector<Mark> marks_of(const Lines<float>& rows, size_t width, int threads) {
  threads = std::clamp(threads, 1, kMostTables);
  std::vector<std::vector<Mark>> tables(static_cast<size_t>(threads));
  size_t pieces = (rows.count + kRowsPerPiece - 1) / kRowsPerPiece;
  for (auto& table : tables) table.resize(width);
  for_each_piece(pieces, threads, [&](size_t piece, int worker) {
    Mark* table = tables[size_t(worker)].data();
    for (size_t r = piece * kRowsPerPiece; r < std::min(rows.count, (piece + 1) * kRowsPerPiece); ++r)
      for (int64_t i = rows.offsets[r]; i < rows.offsets[r + 1]; ++i) {
        uint64_t hash = mixed((uint64_t(r) << 32 | std::bit_cast<uint32_t>(rows.values[i])) + 0x9E3779B97F4A7C15u);
        Mark& mark = table[size_t(rows.indices[i])];
        mark.one += hash, mark.other += mixed(hash);
      }
  });
  for (size_t t = 1; t < tables.size(); ++t)
    for (size_t j = 0; j < width; ++j) {
      tables[0][j].one += tables[t][j].one, tables[0][j].other += tables[t][j].other;
    }
  return std::move(tables[0]);
}

// For each column the first that is equal, or -1 if it has no values.
std::vector<int32_t> firsts_of(const std::vector<Mark>& marks) {
  size_t room = std::bit_ceil(2 * marks.size() + 2);
  std::vector<int32_t> table(room, -1), firsts(marks.size(), -1);
  for (size_t j = 0; j < marks.size(); ++j) {
    if (marks[j] == Mark()) continue;
    size_t at = size_t(marks[j].one) & (room - 1);
    while (table[at] >= 0 && !(marks[size_t(table[at])] == marks[j])) at = (at + 1) & (room - 1);
    if (table[at] < 0) table[at] = int32_t(j);
    firsts[j] = table[at];
  }
  return firsts;
}

// Given: rows (n, width). Returned: the rows of different columns as offsets, columns and values; and for each column
// which of these it is (-1: it has no values), and how many are equal to it.
auto fold(Sparse<float> given, int64_t width, int threads) {
  Lines<float> rows(given, "fold_columns");
  if (width < 0 || width > INT32_MAX || rows.count > UINT32_MAX)
    throw std::invalid_argument("fold_columns: no such size");
  size_t d = size_t(width);
  Buffer<int32_t> places(d), counts(d);
  std::vector<int64_t> offsets(rows.count + 1, 0);
  std::vector<float> factors(d, 1.0f);
  std::vector<uint8_t> kept(d, 0);
  size_t pieces = (rows.count + kRowsPerPiece - 1) / kRowsPerPiece;
  auto each_row = [&](auto&& visit) {
    for_each_piece(pieces, threads, [&](size_t piece, int) {
      for (size_t r = piece * kRowsPerPiece; r < std::min(rows.count, (piece + 1) * kRowsPerPiece); ++r) visit(r);
    });
  };
  {
    nb::gil_scoped_release release;
    if (rows.count && !rows.fit(0, rows.count, d))
      throw std::invalid_argument("fold_columns: a column is outside the rows");
    std::vector<int32_t> firsts = firsts_of(marks_of(rows, d, threads)), sizes(d, 0);
    for (int32_t first : firsts)
      if (first >= 0) ++sizes[size_t(first)];
    int32_t count = 0;
    for (size_t j = 0; j < d; ++j) {
      kept[j] = firsts[j] == int32_t(j);
      factors[j] = float(std::sqrt(double(sizes[j])));
      places[j] = firsts[j] < 0 ? -1 : kept[j] ? count++ : places[size_t(firsts[j])];
      counts[j] = firsts[j] < 0 ? 0 : sizes[size_t(firsts[j])];
    }
    each_row([&](size_t r) {
      for (int64_t i = rows.offsets[r]; i < rows.offsets[r + 1]; ++i) offsets[r + 1] += kept[size_t(rows.indices[i])];
    });
    for (size_t r = 0; r < rows.count; ++r) offsets[r + 1] += offsets[r];
  }
  Buffer<int32_t> indices(size_t(offsets.back()));
  Buffer<float> values(size_t(offsets.back()));
  {
    nb::gil_scoped_release release;
    each_row([&](size_t r) {
      size_t at = size_t(offsets[r]);
      for (int64_t i = rows.offsets[r]; i < rows.offsets[r + 1]; ++i) {
        size_t column = size_t(rows.indices[i]);
        if (kept[column]) indices[at] = places[column], values[at++] = rows.values[i] * factors[column];
      }
    });
  }
  return std::make_tuple(to_numpy(offsets), to_numpy(std::move(indices)), to_numpy(std::move(values)),
                         to_numpy(std::move(places)), to_numpy(std::move(counts)));
}

}  // namespace

void bind_fold_columns(nb::module_& m) {
  using namespace nb::literals;
  m.def("fold_columns", &fold, "rows"_a.noconvert(), "width"_a, "threads"_a);
}

}  // namespace linnaeus
