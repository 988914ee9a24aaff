// What scores mean in a search for the nearest rows, and how rows that may be among the best are kept.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "targets.hpp"

namespace linnaeus {

// Rows as they lie: sparse with their columns in order, or dense (no columns). Values are of one of the two types.
struct StoredRows {
  const int64_t* offsets = nullptr;
  const int32_t* columns = nullptr;
  const float* singles = nullptr;
  const double* doubles = nullptr;
  size_t n = 0, d = 0;

  double value(int64_t i) const { return singles ? double(singles[i]) : doubles[i]; }
  int64_t begin(size_t row) const { return columns ? offsets[row] : int64_t(row * d); }
  int64_t end(size_t row) const { return columns ? offsets[row + 1] : int64_t((row + 1) * d); }
};

// One query; where the rows are dense it has a value for each column, and no columns.
struct Query {
  const int32_t* columns = nullptr;
  const double* values = nullptr;
  size_t size = 0;

  size_t column(size_t t) const { return columns ? size_t(columns[t]) : t; }
};

// Calls step(x, q) for each column that the row or the query has, in order; 0 stands where one of them has none.
template <class Step>
void walk_union(const StoredRows& rows, size_t row, const Query& query, Step&& step) {
  int64_t i = rows.begin(row), end = rows.end(row);
  size_t t = 0;
  while (i < end && t < query.size) {
    int32_t a = rows.columns[i], b = query.columns[t];
    step(a <= b ? rows.value(i) : 0.0, b <= a ? query.values[t] : 0.0);
    i += a <= b;
    t += b <= a;
  }
  for (; i < end; ++i) step(rows.value(i), 0.0);
  for (; t < query.size; ++t) step(0.0, query.values[t]);
}

// The same for each column that both have.
template <class Step>
void walk_common(const StoredRows& rows, size_t row, const Query& query, Step&& step) {
  int64_t i = rows.begin(row), end = rows.end(row);
  for (size_t t = 0; i < end && t < query.size;) {
    int32_t a = rows.columns[i], b = query.columns[t];
    if (a == b) step(rows.value(i), query.values[t]);
    i += a <= b;
    t += b <= a;
  }
}

// A metric says what a score is in float64: a sum over the columns in order, and what is made of it and of the product
// of both lengths; and in which order float32 puts the rows, a function of its sums.
struct Inner {
  static LINNAEUS_INLINE void add(double& sum, double x, double q) { sum += x * q; }
  static double score(double sum, double) { return sum; }
  static LINNAEUS_INLINE float order(float s, float, float factor, float, float) { return s * factor; }
  static constexpr bool kCosine = false, kDistance = false;
};

struct Cosine {
  static LINNAEUS_INLINE void add(double& sum, double x, double q) { sum += x * q; }
  static double score(double sum, double lengths) { return lengths > 0 ? std::clamp(sum / lengths, -1.0, 1.0) : 0.0; }
  static LINNAEUS_INLINE float order(float s, float unit, float, float, float) { return s * unit; }
  static constexpr bool kCosine = true, kDistance = false;
};

struct Euclidean {
  static LINNAEUS_INLINE void add(double& sum, double x, double q) { sum += (q - x) * (q - x); }
  static double score(double sum, double) { return -sum; }
  static LINNAEUS_INLINE float order(float s, float, float factor, float half, float ratio) {
    return s * factor - ratio * half;
  }
  static constexpr bool kCosine = false, kDistance = true;
};

struct Found {
  float order;
  int32_t row;
};

// The rows that may be among the `count` best so far: those whose order is not below that of the count-th by more than
// twice the error.
class Candidates {
 public:
  Candidates(size_t count, double error) : count_(count), error_(error), limit_(std::max<size_t>(2 * count, 64)) {}

  float floor() const { return floor_; }
  const std::vector<Found>& found() const { return found_; }

  void add(float order, size_t row) {
    found_.push_back({order, int32_t(row)});
    if (found_.size() >= limit_) prune();
  }

  void prune() {
    if (found_.size() <= count_) return;
    auto last = found_.begin() + std::ptrdiff_t(count_ - 1);
    std::nth_element(found_.begin(), last, found_.end(), [](Found a, Found b) { return a.order > b.order; });
    floor_ = std::nextafter(float(double(last->order) - 2 * error_), -std::numeric_limits<float>::infinity());
    found_.erase(std::remove_if(found_.begin(), found_.end(), [&](Found f) { return f.order < floor_; }), found_.end());
    limit_ = std::max(limit_, 2 * found_.size());
  }

 private:
  size_t count_;
  double error_;
  size_t limit_;
  float floor_ = -std::numeric_limits<float>::infinity();
  std::vector<Found> found_;
};

}  // namespace linnaeus
