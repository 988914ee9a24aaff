// Values of a sparse matrix, in place: each count becomes table[count] * weight[column], then each row gets length one.
//
// Given rows (offsets, columns, values). The sign of a count (hashing with signs) is carried over. An
// empty table keeps the values; no weights means weights of one; length 0 leaves rows as they are, 1 divides by the sum
// of absolute values, 2 by the root of the sum of squares. Both are summed in float64 in four lanes, value i of a row
// in lane i mod 4, which keeps the processor busy and the bits the same; a row is then multiplied by the inverse of its
// length. A product of two float32 is exact in float64. A row without length stays as it is.
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <stdexcept>

#include "arrays.hpp"
#include "lengths.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {

constexpr size_t kRowsPerPiece = 1024;

struct Weighing {
  const int64_t* indptr;
  const int32_t* indices;
  float* data;
  const float* table;
  size_t largest;  // counts below this are in the table; 0: no table
  const float* weights;
  size_t width;  // columns below this have a weight; 0: no weights
  int length;

  // The value a count stands for.
  double value(int64_t i) const {
    double v = data[i];
    if (largest) {
      double count = std::fabs(v);
      if (!(count < double(largest))) throw std::invalid_argument("weigh: a count is not in the table");
      v = std::copysign(double(table[size_t(count)]), v);
    }
    if (width) {
      if (size_t(uint32_t(indices[i])) >= width) throw std::invalid_argument("weigh: a column has no weight");
      v *= double(weights[indices[i]]);
    }
    return v;
  }

  void row(int64_t begin, int64_t end, std::vector<double>& scratch) const {
    size_t n = size_t(end - begin);
    if (!largest && !width) return scale(data + begin, data + begin, n);
    if (scratch.size() < n) scratch.resize(n);
    if (largest) {
      for (size_t i = 0; i < n; ++i) scratch[i] = value(begin + int64_t(i));
    } else {
      weigh_columns(begin, n, scratch.data());
    }
    scale(scratch.data(), data + begin, n);
  }

  // Counts times weights, the columns checked first: two loops without a branch.
  void weigh_columns(int64_t begin, size_t n, double* out) const {
    uint32_t highest = 0;
    for (size_t i = 0; i < n; ++i) highest = std::max(highest, uint32_t(indices[begin + int64_t(i)]));
    if (n && highest >= width) throw std::invalid_argument("weigh: a column has no weight");
    for (size_t i = 0; i < n; ++i)
      out[i] = double(data[begin + int64_t(i)]) * double(weights[indices[begin + int64_t(i)]]);
  }

  template <class T>
  void scale(const T* values, float* out, size_t n) const {
    double by = inverse_length(values, n, length);
    for (size_t i = 0; i < n; ++i) out[i] = float(double(values[i]) * by);
  }
};

using Rows = std::tuple<In<int64_t>, In<int32_t>, InOut<float>>;

void weigh(Rows rows, In<float> table, In<float> weights, int length, int threads) {
  auto& [indptr, indices, data] = rows;
  if (length < 0 || length > 2) throw std::invalid_argument("weigh: length is 0, 1 or 2");
  size_t n = indptr.size() ? indptr.size() - 1 : 0;
  int64_t size = int64_t(std::min(indices.size(), data.size()));
  for (size_t i = 0; i <= n && indptr.size(); ++i)
    if (indptr.data()[i] < (i ? indptr.data()[i - 1] : 0) || indptr.data()[i] > size)
      throw std::invalid_argument("weigh: the offsets do not fit the values");
  Weighing work{indptr.data(), indices.data(), data.data(),    table.data(),
                table.size(),  weights.data(), weights.size(), length};
  nb::gil_scoped_release free;
  std::vector<std::vector<double>> scratch(std::max(threads, 1));
  for_each_piece((n + kRowsPerPiece - 1) / kRowsPerPiece, threads, [&](size_t piece, int worker) {
    size_t last = std::min(n, (piece + 1) * kRowsPerPiece);
    for (size_t r = piece * kRowsPerPiece; r < last; ++r) work.row(work.indptr[r], work.indptr[r + 1], scratch[worker]);
  });
}

}  // namespace

void bind_weigh(nb::module_& m) {
  using namespace nb::literals;
  m.def("weigh", &weigh, "rows"_a, "table"_a, "weights"_a, "length"_a, "threads"_a);
}

}  // namespace linnaeus
