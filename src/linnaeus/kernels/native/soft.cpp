// Problem: for scores S (n, k), log sum_c e^(s_c) and the softmax e^(s_c) / sum of each row.
//
// The largest score is taken off first, so nothing overflows. Rows are independent; a row's sum runs in the order of
// its classes. Rows have few classes, so a block of them is laid out for one long loop of exponentials.
#include <cmath>
#include <stdexcept>

#include "blocks.hpp"
#include "elementary.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {

constexpr size_t kRowsPerPiece = 128;

// Scores without the largest one of their row, and that one.
LINNAEUS_CLONES void lower_rows(const double* scores, size_t rows, size_t k, double* out, double* highest) {
  for (size_t r = 0; r < rows; ++r) {
    const double* s = scores + r * k;
    double high = s[0];
    for (size_t c = 1; c < k; ++c) high = s[c] > high || s[c] != s[c] ? s[c] : high;
    for (size_t c = 0; c < k; ++c) out[r * k + c] = s[c] - high;
    highest[r] = high;
  }
}

LINNAEUS_CLONES void exp_all(double* values, size_t n) {
  for (size_t i = 0; i < n; ++i) values[i] = elementary::exp(values[i]);
}

LINNAEUS_CLONES void divide_rows(double* out, size_t rows, size_t k, double* values) {
  for (size_t r = 0; r < rows; ++r) {
    double* e = out + r * k;
    double total = 0;
    for (size_t c = 0; c < k; ++c) total += e[c];
    for (size_t c = 0; c < k; ++c) e[c] /= total;
    values[r] += elementary::log(total);
  }
}

// Given: scores (n, k).  Changed: parts (n, k), values (n).
void soft_rows(Table<double> scores, TableOut<double> parts, InOut<double> values, int threads) {
  size_t n = scores.shape(0), k = scores.shape(1);
  if (parts.shape(0) != n || parts.shape(1) != k || values.size() != n)
    throw std::invalid_argument("soft_rows: the results do not fit the scores");
  if (!k && n) throw std::invalid_argument("soft_rows: no classes");
  const double* from = scores.data();
  double *to = parts.data(), *value = values.data();
  nb::gil_scoped_release release;
  for_each_piece((n + kRowsPerPiece - 1) / kRowsPerPiece, worth(threads, 8 * n * k), [&](size_t piece, int) {
    size_t first = piece * kRowsPerPiece, rows = std::min(kRowsPerPiece, n - first);
    double* out = to + first * k;
    lower_rows(from + first * k, rows, k, out, value + first);
    exp_all(out, rows * k);
    divide_rows(out, rows, k, value + first);
  });
}

}  // namespace

void bind_soft(nb::module_& m) {
  using namespace nb::literals;
  m.def("soft_rows", &soft_rows, "scores"_a.noconvert(), "parts"_a.noconvert(), "values"_a.noconvert(), "threads"_a);
}

}  // namespace linnaeus
