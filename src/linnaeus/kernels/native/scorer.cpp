#include "scorer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "lengths.hpp"
#include "row_dot.hpp"

namespace linnaeus {
namespace {

LINNAEUS_CLONES void dot(const Stretch<float>& row, const float* weights, size_t k, double* out) {
  if (k > kWide) return dot_wide(row, weights, k, out);
  with_shape(k, [&](auto s) LINNAEUS_LAMBDA { dot_row<decltype(s)>(row, weights, k, out); });
}

// The weights of many columns lie far from each other: they are asked for early.
void weigh(const float* weights, const int32_t* columns, size_t n, double* values) {
  constexpr size_t ahead = 32;
  for (size_t i = 0; i < std::min(ahead, n); ++i) prefetch(weights + columns[i]);
  size_t i = 0;
  for (; i + ahead < n; ++i) {
    prefetch(weights + columns[i + ahead]);
    values[i] *= double(weights[columns[i]]);
  }
  for (; i < n; ++i) values[i] *= double(weights[columns[i]]);
}

int key_bits(uint32_t width) { return std::max(1, int(std::bit_width(std::max(width, 1u) - 1))); }

}  // namespace

Scoring::Scoring(const Model& model) {
  for (const Group& group : model.groups)
    for (const Part& part : group.parts) parts_.emplace_back(part.plan);
}

void Scoring::score(const Model& model, const Bytes* sources, double* out) {
  size_ = 0;
  auto scratch = parts_.begin();
  for (const Group& group : model.groups) {
    size_t first = size_;
    int32_t shift = 0;
    for (const Part& part : group.parts) {
      count(part, *scratch++, sources[part.source]);
      append(shift);
      shift += int32_t(part.width);
    }
    value(group, first);
    keep(group, first);
  }
  if (model.guard) model.guard->check_rows(columns_.data(), size_, model.k * sizeof(float));
  dot({columns_.data(), values_.data(), size_, size_}, model.weights, model.k, out);
  for (size_t c = 0; c < model.k; ++c) out[c] += model.bias[c];
}

// The counts of one part become a row of their own.
void Scoring::count(const Part& part, Scratch& s, Bytes text) {
  Spans spans = s.reader.read(text.data, text.size);
  const uint8_t* data = s.reader.text().data;
  counted_.clear();
  if (!part.vocabulary) {
    s.hashed.find(s.reader, part.plan, spans, part.hashed);
    int bits = part.hashed.bits + int(part.hashed.is_signed);
    if (part.hashed.is_signed) return counter_.add_signed(s.hashed.data(), s.hashed.size(), bits, counted_);
    return counter_.add_counts(s.hashed.data(), s.hashed.size(), bits, counted_);
  }
  LargeVector<uint32_t>& keys = s.lookup.keys;
  keys.clear();
  if (part.plan.unit == Unit::words) {
    word_keys(s.lookup, part.plan, *part.vocabulary, data, spans);
  } else if (part.plan.unit == Unit::skips) {
    skip_keys(s.lookup, part.plan, *part.vocabulary, data, spans);
  } else {
    s.cache.read(s.reader, data, spans, KnownTerms{*part.vocabulary});
    if (count_densely(part, s, text.size)) return s.cache.bound();
    s.cache.use_terms([&](uint32_t column, uint32_t times) {
      if (column != ABSENT) keys.insert(keys.end(), times, column);
    });
    s.cache.bound();
  }
  counter_.add_counts(keys.data(), keys.size(), key_bits(part.width), counted_);
}

// The n-grams of a long text, each word's once for all its occurrences. Short ones are sorted in less time.
bool Scoring::count_densely(const Part& part, Scratch& s, size_t size) {
  constexpr size_t LONG = 512, WIDE = size_t(1) << 20;
  if (size < LONG || part.width > WIDE) return false;
  if (!s.dense) s.dense.emplace(part.width);
  s.cache.use_terms([&](uint32_t column, uint32_t times) {
    if (column != ABSENT) s.dense->add(column, times);
  });
  s.dense->finish_row(counted_);
  return true;
}

void Scoring::append(int32_t shift) {
  size_t n = counted_.size();
  if (columns_.size() < size_ + n) {
    columns_.resize(2 * (size_ + n));
    values_.resize(2 * (size_ + n));
    exact_.resize(2 * (size_ + n));
  }
  for (size_t i = 0; i < n; ++i) columns_[size_ + i] = counted_.columns()[i] + shift;
  std::copy_n(counted_.values(), n, values_.data() + size_);
  size_ += n;
}

// Counts become values, as weigh.cpp makes them.
void Scoring::value(const Group& group, size_t first) {
  if (group.saturation) saturate(*group.saturation, first);
  float* values = values_.data() + first;
  double* exact = exact_.data();
  size_t n = size_ - first;
  if (group.largest) {
    for (size_t i = 0; i < n; ++i) {
      double count = std::fabs(double(values[i]));
      if (!(count < double(group.largest))) throw std::overflow_error("score: a count is not in the table");
      exact[i] = std::copysign(double(group.table[size_t(count)]), double(values[i]));
    }
  } else {
    std::copy_n(values, n, exact);
  }
  if (group.weights) weigh(group.weights, columns_.data() + first, n, exact);
  double by = inverse_length(exact, n, group.length);
  for (size_t i = 0; i < n; ++i) values[i] = float(exact[i] * by);
}

void Scoring::saturate(const Saturation& by, size_t first) {
  double length = 0;
  for (size_t i = first; i < size_; ++i) length += std::fabs(double(values_[i]));
  double discount = by.k1 * (1 - by.b + by.b * length / by.mean);
  for (size_t i = first; i < size_; ++i) {
    double tf = std::fabs(double(values_[i]));
    values_[i] = float(std::copysign(tf * (by.k1 + 1) / (tf + discount), double(values_[i])));
  }
}

// Columns become rows of weights; those that are not kept are left out.
void Scoring::keep(const Group& group, size_t first) {
  size_t at = first;
  for (size_t i = first; i < size_; ++i) {
    int32_t column = group.kept ? group.kept[columns_[i]] : columns_[i];
    columns_[at] = column + group.shift;
    values_[at] = values_[i];
    at += column >= 0;
  }
  size_ = at;
}

}  // namespace linnaeus
