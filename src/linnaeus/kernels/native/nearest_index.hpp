// Rows laid out for a quick look at all of them in float32: by columns, in lists where few rows have one, else in
// panels.
#pragma once
#include <stdexcept>

#include "memory.hpp"
#include "nearest.hpp"

namespace linnaeus {

constexpr size_t kStrip = 64;                  // rows whose sums are in registers at a time
constexpr size_t kShare = 12;                  // a column that at least one row in so many has gets a panel
constexpr size_t kPanelBytes = 1 << 19;        // of one block, where it can have so few rows
constexpr size_t kFewest = 512, kMost = 4096;  // rows of a block

struct Posting {
  int32_t row;
  float value;
};

// The power of two that brings a number to at least 1/2 and below 1, or as near to it as float64 can say.
inline double power_for(double largest) {
  return largest > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(largest) - 1, -1000, 1000)) : 1.0;
}

// Each row is scaled by a power of two of its own, so that its largest value is below 1: no value is too large for
// float32, and what gets lost of small ones is nothing beside the length of the row.
struct NearestIndex {
  static constexpr size_t kNone = ~size_t(0);

  StoredRows rows;
  size_t block_rows = kStrip, blocks = 0, panels = 0;
  double scale = 1;                           // of the largest of all values
  double longest = 0;                         // the length of the longest row, times scale
  std::vector<int64_t> offsets;               // of the rows, where they are sparse: nobody else can change these
  std::vector<double> lengths;                // of the rows (n)
  std::vector<float> units, factors, halves;  // from a sum to an order, padded to whole blocks
  std::vector<int32_t> present;               // the columns that some row has, in order, where most have none
  size_t places = 0;                          // of these columns, or of all
  std::vector<int32_t> panel_of;              // of each place; -1: it is a list
  std::vector<int64_t> starts;                // of the lists (places + 1)
  std::vector<Posting> lists;
  std::vector<float, LargeAllocator<float>> table;  // block after block, panel after panel

  explicit NearestIndex(const StoredRows& given) : rows(given), lengths(given.n) {
    if (rows.columns && rows.n) {
      offsets.assign(rows.offsets, rows.offsets + rows.n + 1);
      rows.offsets = offsets.data();
    }
    find_places();
    std::vector<double> scales(rows.n);
    measure(scales);
    choose_panels();
    fill(scales);
  }

  // Where a column stands: its number, or among those that are present; kNone where no row has it.
  size_t place(size_t column) const {
    if (present.empty()) return column < places ? column : kNone;
    auto found = std::lower_bound(present.begin(), present.end(), int64_t(column));
    return found != present.end() && size_t(*found) == column ? size_t(found - present.begin()) : kNone;
  }

 private:
  template <class Visit>
  void each(size_t row, Visit&& visit) const {
    int64_t begin = rows.begin(row), end = rows.end(row);
    for (int64_t i = begin; i < end; ++i) visit(size_t(rows.columns ? rows.columns[i] : i - begin), rows.value(i));
  }

  // Tables with an entry for each column are made only where the rows take about as much: hashed rows may have 2^30
  // columns, and almost none of them in use.
  void find_places() {
    places = rows.d;
    size_t stored = rows.columns ? size_t(rows.offsets[rows.n] - rows.offsets[0]) : rows.n * rows.d;
    if (!rows.columns || !rows.n || rows.d <= 4 * stored + (1 << 16)) return;
    present.assign(rows.columns + rows.offsets[0], rows.columns + rows.offsets[rows.n]);
    std::sort(present.begin(), present.end());
    present.erase(std::unique(present.begin(), present.end()), present.end());
    places = present.size();
  }

  // Lengths and scales of the rows; counts of the columns.
  void measure(std::vector<double>& scales) {
    starts.assign(places + 1, 0);
    double top = 0;
    for (size_t r = 0; r < rows.n; ++r) {
      double largest = 0, squares = 0;
      bool finite = true;
      each(r, [&](size_t column, double x) {
        if (column >= rows.d) throw std::invalid_argument("Nearest: a column is not below the width");
        finite &= std::isfinite(x);
        largest = std::max(largest, std::fabs(x));
        squares += x * x;
        size_t at = place(column);
        if (at == kNone) throw std::invalid_argument("Nearest: the rows have changed");
        ++starts[at + 1];
      });
      if (!finite) throw std::invalid_argument("Nearest: a value is not finite");
      lengths[r] = std::sqrt(squares);
      scales[r] = power_for(largest);
      top = std::max(top, largest);
    }
    scale = power_for(top);
  }

  void choose_panels() {
    panel_of.assign(places, -1);
    for (size_t j = 0; j < places; ++j)
      if (starts[j + 1] && size_t(starts[j + 1]) * kShare >= rows.n) {
        panel_of[j] = int32_t(panels++);
        starts[j + 1] = 0;
      }
    for (size_t j = 0; j < places; ++j) starts[j + 1] += starts[j];
    size_t whole = (rows.n + kStrip - 1) / kStrip * kStrip;
    block_rows = kMost;
    while (block_rows > kFewest && panels * block_rows * sizeof(float) > kPanelBytes) block_rows /= 2;
    block_rows = std::max(kStrip, std::min(block_rows, whole));
    blocks = (rows.n + block_rows - 1) / block_rows;
  }

  void fill(const std::vector<double>& scales) {
    size_t padded = blocks * block_rows;
    units.assign(padded, 0), factors.assign(padded, 0), halves.assign(padded, 0);
    table.assign(panels * padded, 0);
    lists.resize(size_t(starts[places]));
    std::vector<int64_t> next(starts.begin(), starts.end() - 1);
    for (size_t r = 0; r < rows.n; ++r) {
      size_t block = r / block_rows, at = block * panels * block_rows + r % block_rows;
      double squares = 0;
      each(r, [&](size_t column, double x) {
        double value = x * scales[r];
        squares += value * value;
        size_t where = place(column);
        if (where == kNone) throw std::invalid_argument("Nearest: the rows have changed");
        int32_t panel = panel_of[where];
        if (panel >= 0) {
          table[at + size_t(panel) * block_rows] = float(value);
          return;
        }
        lists[size_t(next[where]++)] = {int32_t(r), float(value)};
      });
      double length = std::sqrt(squares), factor = scale / scales[r];
      units[r] = length > 0 ? float(1 / length) : 0.0f;
      factors[r] = float(factor);
      halves[r] = float(length * factor * (length * factor) / 2);
      longest = std::max(longest, length * factor);
    }
  }
};

}  // namespace linnaeus
