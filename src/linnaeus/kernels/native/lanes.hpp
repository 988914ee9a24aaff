// Sums in four lanes: value i goes to lane i mod 4 and the lanes are added in pairs, the same bits on every machine.
#pragma once
#include "sparse.hpp"

namespace linnaeus {

template <class Term>
double sum_in_lanes(int64_t begin, int64_t end, Term&& term) {
  double a = 0, b = 0, c = 0, d = 0;
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    a += term(i);
    b += term(i + 1);
    c += term(i + 2);
    d += term(i + 3);
  }
  if (i < end) a += term(i);
  if (i + 1 < end) b += term(i + 1);
  if (i + 2 < end) c += term(i + 2);
  return (a + b) + (c + d);
}

// The inner product of one line of a sparse matrix and a dense vector.
template <class T>
double dot_line(const Lines<T>& lines, size_t line, const double* vector) {
  return sum_in_lanes(lines.offsets[line], lines.offsets[line + 1],
                      [&](int64_t i) { return double(lines.values[i]) * vector[lines.indices[i]]; });
}

// Adds a multiple of one line to a dense vector.
template <class T>
void add_line(const Lines<T>& lines, size_t line, double times, double* vector) {
  if (times == 0) return;
  for (int64_t i = lines.offsets[line]; i < lines.offsets[line + 1]; ++i)
    vector[lines.indices[i]] += times * double(lines.values[i]);
}

}  // namespace linnaeus
