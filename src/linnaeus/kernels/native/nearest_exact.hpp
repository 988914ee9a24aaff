// Float64 scores of some rows, the same bits whichever way the sums are made: over the columns in order.
#pragma once
#include <functional>
#include <utility>

#include "nearest.hpp"

namespace linnaeus {

constexpr size_t kAbreast = 8;       // sums that are made at a time
constexpr size_t kSpreadOver = 512;  // columns for which laying out one query more is worth it
constexpr size_t kEarly = 4;         // rows whose values are asked for before they are summed
constexpr size_t kMostBytes = 2048;  // of these

// One query of several, and how many rows it asks for.
struct Question {
  const Query& query;
  size_t count, queries;
};

// Sums of dense rows in eight lanes: other bits than those of a sum in order, but as good for a look.
template <class Metric, class T>
LINNAEUS_CLONES void rough_sums(const T* values, size_t d, const std::vector<int32_t>& rows, const double* q,
                                double* sums) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + kEarly < rows.size())
      for (size_t b = 0, bytes = d * sizeof(T); b < std::min(bytes, kMostBytes); b += 64)
        prefetch(values, size_t(rows[i + kEarly]) * bytes + b);
    const T* x = values + size_t(rows[i]) * d;
    double lanes[kAbreast] = {};
    size_t j = 0;
    for (; j + kAbreast <= d; j += kAbreast)
      for (size_t r = 0; r < kAbreast; ++r) Metric::add(lanes[r], double(x[j + r]), q[j + r]);
    for (; j < d; ++j) Metric::add(lanes[j % kAbreast], double(x[j]), q[j]);
    for (size_t half = kAbreast / 2; half; half /= 2)
      for (size_t r = 0; r < half; ++r) lanes[r] += lanes[r + half];
    sums[i] = lanes[0];
  }
}

// What a thread scores with.
class Scorings {
 public:
  std::vector<std::pair<double, int32_t>> scored;

  // The scores of some rows, or of those of them that may be among the best. `lengths` are those of all rows.
  template <class Metric>
  void score(const StoredRows& rows, const std::vector<double>& lengths, const std::vector<int32_t>& among,
             const Question& asked) {
    double squares = 0;
    for (size_t t = 0; t < asked.query.size; ++t) squares += asked.query.values[t] * asked.query.values[t];
    length_ = std::sqrt(squares);
    bool many = !rows.columns && among.size() > 2 * asked.count;
    if (many) look<Metric>(rows, lengths, among, asked);
    const std::vector<int32_t>& chosen = many ? kept_ : among;
    sums_.resize(chosen.size());
    rows.singles ? sum<Metric>(rows.singles, rows, chosen, asked) : sum<Metric>(rows.doubles, rows, chosen, asked);
    scored.clear();
    for (size_t i = 0; i < chosen.size(); ++i) {
      double found = Metric::score(sums_[i], length_ * lengths[size_t(chosen[i])]);
      scored.emplace_back(std::isnan(found) ? -std::numeric_limits<double>::infinity() : found, chosen[i]);
    }
  }

 private:
  // Keeps the rows whose score may be among the best, whatever the order of the sum. A sum of d products is off by at
  // most d 2^-53 times the sum of their sizes (Higham 2002, chapter 3).
  template <class Metric>
  void look(const StoredRows& rows, const std::vector<double>& lengths, const std::vector<int32_t>& among,
            const Question& asked) {
    sums_.resize(among.size()), tops_.resize(among.size()), lows_.resize(among.size());
    rows.singles ? rough_sums<Metric>(rows.singles, rows.d, among, asked.query.values, sums_.data())
                 : rough_sums<Metric>(rows.doubles, rows.d, among, asked.query.values, sums_.data());
    for (size_t i = 0; i < among.size(); ++i) {
      double product = length_ * lengths[size_t(among[i])], found = Metric::score(sums_[i], product);
      double size = Metric::kCosine ? 1.0 : Metric::kDistance ? std::fabs(found) : product;
      double error = double(rows.d + 8) * 0x1p-50 * size, low = found - error;
      tops_[i] = found + error, lows_[i] = std::isnan(low) ? -std::numeric_limits<double>::infinity() : low;
    }
    auto last = lows_.begin() + std::ptrdiff_t(asked.count - 1);
    std::nth_element(lows_.begin(), last, lows_.end(), std::greater<double>());
    kept_.clear();
    for (size_t i = 0; i < among.size(); ++i)
      if (!(tops_[i] < *last)) kept_.push_back(among[i]);
  }

  template <class Metric, class T>
  void sum(const T* values, const StoredRows& rows, const std::vector<int32_t>& among, const Question& asked) {
    if (!rows.columns) return abreast<Metric>(values, rows.d, among, asked.query);
    bool few = asked.queries * kSpreadOver < rows.d;
    Metric::kDistance || few ? merge<Metric>(rows, among, asked.query)
                             : spread<Metric>(values, rows, among, asked.query);
  }

  // Dense rows, some at a time: a sum waits for itself, so there are several.
  template <class Metric, class T>
  void abreast(const T* values, size_t d, const std::vector<int32_t>& among, const Query& query) {
    const T* rows[kAbreast];
    for (size_t first = 0; first < among.size(); first += kAbreast) {
      double sums[kAbreast] = {};
      size_t count = std::min(kAbreast, among.size() - first);
      for (size_t r = 0; r < kAbreast; ++r) rows[r] = values + size_t(among[first + std::min(r, count - 1)]) * d;
      for (size_t j = 0; j < d; ++j)
        for (size_t r = 0; r < kAbreast; ++r) Metric::add(sums[r], double(rows[r][j]), query.values[j]);
      std::copy(sums, sums + count, sums_.begin() + std::ptrdiff_t(first));
    }
  }

  // The query laid out with all its columns, so that a row is walked through alone. A column that the query has not
  // adds zero, which changes no sum. The arrays of the rows are the caller's: a column is not believed.
  template <class Metric, class T>
  void spread(const T* values, const StoredRows& rows, const std::vector<int32_t>& among, const Query& query) {
    full_.resize(rows.d + 1);
    for (size_t t = 0; t < query.size; ++t) full_[size_t(query.columns[t])] = query.values[t];
    for (size_t i = 0; i < among.size(); ++i) {
      double sum = 0;
      for (int64_t at = rows.begin(size_t(among[i])), end = rows.end(size_t(among[i])); at < end; ++at)
        Metric::add(sum, double(values[at]), full_[std::min(size_t(uint32_t(rows.columns[at])), rows.d)]);
      sums_[i] = sum;
    }
    for (size_t t = 0; t < query.size; ++t) full_[size_t(query.columns[t])] = 0;
  }

  template <class Metric>
  void merge(const StoredRows& rows, const std::vector<int32_t>& among, const Query& query) {
    for (size_t i = 0; i < among.size(); ++i) {
      double sum = 0;
      auto add = [&](double x, double q) { Metric::add(sum, x, q); };
      Metric::kDistance ? walk_union(rows, size_t(among[i]), query, add)
                        : walk_common(rows, size_t(among[i]), query, add);
      sums_[i] = sum;
    }
  }

  double length_ = 0;  // of the query
  std::vector<double> sums_, tops_, lows_, full_;
  std::vector<int32_t> kept_;
};

// Rows that are named, each once, in the order in which they are named first.
class Distinct {
 public:
  std::vector<int32_t> rows;

  void begin(size_t n) {
    rows.clear();
    if (seen_.size() < n) seen_.assign(n, 0), mark_ = 0;
    if (++mark_ == 0) std::fill(seen_.begin(), seen_.end(), uint16_t(0)), mark_ = 1;
    n_ = n;
  }

  // What is not among the rows is left out.
  void add(int32_t row) {
    size_t r = size_t(uint32_t(row));
    if (r >= n_ || seen_[r] == mark_) return;
    seen_[r] = mark_;
    rows.push_back(row);
  }

 private:
  std::vector<uint16_t> seen_;
  uint16_t mark_ = 0;
  size_t n_ = 0;
};

}  // namespace linnaeus
