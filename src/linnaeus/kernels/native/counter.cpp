// Sorting and counting the keys of a row.
//
// Hashes spread evenly, and so, nearly, do the columns of a vocabulary. One pass puts the keys into half as many
// buckets as there are keys; passes that exchange neighbors, without a branch, finish all but the fullest buckets, and
// insertion mends the rest. Where many keys crowd into one bucket they are sorted by digits, the lowest first.
#include "counter.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "targets.hpp"

namespace linnaeus {
namespace {

constexpr size_t FEW = 16, MANY = 32768;  // a bucket's place is 16 bits wide
constexpr size_t SPARE = 16;              // keys behind the last one that the exchanges may touch

void insert_sort(uint32_t* keys, size_t n) {
  for (size_t i = 1; i < n; ++i) {
    if (keys[i - 1] <= keys[i]) continue;
    uint32_t key = keys[i];
    size_t j = i;
    for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
    keys[j] = key;
  }
}

#if defined(__GNUC__)
typedef uint32_t Eight __attribute__((vector_size(32)));

// The four pairs of neighbors put in order, each the smaller first.
inline __attribute__((always_inline)) void exchange_eight(uint32_t* keys) {
  Eight v;
  std::memcpy(&v, keys, sizeof v);
  Eight swapped = __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
  Eight low = v < swapped ? v : swapped, high = v < swapped ? swapped : v;
  v = __builtin_shufflevector(low, high, 0, 9, 2, 11, 4, 13, 6, 15);
  std::memcpy(keys, &v, sizeof v);
}
#else
inline void exchange_eight(uint32_t* keys) {
  for (int i = 0; i < 8; i += 2)
    if (keys[i] > keys[i + 1]) std::swap(keys[i], keys[i + 1]);
}
#endif

// Odd-even transposition: each pass exchanges neighbors that are out of order, at even places, then at odd ones.
LINNAEUS_CLONES void exchange_neighbors(uint32_t* keys, size_t n, int passes) {
  for (size_t i = 0; i < SPARE; ++i) keys[n + i] = ~0u;
  for (int pass = 0; pass < passes; ++pass)
    for (size_t at = pass & 1; at < n; at += 8) exchange_eight(keys + at);
}

// Counts become starts: four 16-bit sums at a time in a word.
void start_buckets(uint16_t* buckets, size_t count) {
  if constexpr (std::endian::native != std::endian::little) {
    for (uint16_t start = 0; count--; ++buckets) start = uint16_t(start + std::exchange(*buckets, start));
    return;
  }
  constexpr uint64_t ones = 0x0001000100010001ull;
  uint64_t start = 0;
  for (size_t b = 0; b < count; b += 4) {
    uint64_t four;
    std::memcpy(&four, buckets + b, 8);
    uint64_t sums = four + (four << 16);
    sums += sums << 32;
    uint64_t starts = (sums << 16) + ones * start;
    start = (start + (sums >> 48)) & 0xFFFF;
    std::memcpy(buckets + b, &starts, 8);
  }
}

// Whether insertion would have much to mend: a bucket too full, or most of them empty.
LINNAEUS_CLONES bool crowded(const uint16_t* buckets, size_t count, size_t n) {
  int16_t largest = 0, filled = 0;
  for (size_t b = 0; b < count; ++b) {
    largest = std::max(largest, int16_t(buckets[b]));
    filled = int16_t(filled + (buckets[b] != 0));
  }
  return size_t(filled) < n / 4 || size_t(largest) > 128 + n / 64;  // a frequent word fills one by itself
}

template <int D>
const uint32_t* by_digits(uint32_t* keys, uint32_t* spare, size_t n, int bits) {
  constexpr uint32_t size = 1u << D;
  int passes = (bits + D - 1) / D;
  uint32_t counts[(32 + D - 1) / D][size];
  std::memset(counts, 0, sizeof(uint32_t) * size * passes);
  for (size_t i = 0; i < n; ++i)
    for (int p = 0; p < passes; ++p) ++counts[p][keys[i] >> (p * D) & (size - 1)];
  for (int p = 0; p < passes; ++p) {
    uint32_t sum = 0;
    for (uint32_t d = 0; d < size; ++d) sum += std::exchange(counts[p][d], sum);
    for (size_t i = 0; i < n; ++i) spare[counts[p][keys[i] >> (p * D) & (size - 1)]++] = keys[i];
    std::swap(keys, spare);
  }
  return keys;
}

// The distinct keys in order, and behind which place the last of each stands. No branch depends on the keys: whether a
// key is new only moves the place where the next one is written.
size_t find_distinct(const uint32_t* keys, size_t n, int32_t* distinct, int32_t* ends) {
  if (n == 0) return 0;
  size_t at = 0;
  distinct[0] = int32_t(keys[0]);
  ends[0] = 1;
  for (size_t i = 1; i < n; ++i) {
    at += keys[i] != keys[i - 1];
    distinct[at] = int32_t(keys[i]);
    ends[at] = int32_t(i + 1);
  }
  return at + 1;
}

// Keys become columns, lengths of runs signed counts; true where a column stands twice, with both signs.
LINNAEUS_CLONES bool split_signs(int32_t* __restrict columns, const int32_t* __restrict ends, float* __restrict values,
                                 size_t n) {
  if (n == 0) return false;
  values[0] = float(ends[0] * (1 - 2 * (columns[0] & 1)));
  for (size_t i = 1; i < n; ++i) values[i] = float((ends[i] - ends[i - 1]) * (1 - 2 * (columns[i] & 1)));
  int32_t twice = 0;
  for (size_t i = 1; i < n; ++i) twice |= (columns[i] ^ columns[i - 1]) == 1;
  for (size_t i = 0; i < n; ++i) columns[i] = int32_t(uint32_t(columns[i]) >> 1);
  return twice;
}

// Equal neighbors become one with the sum of their values, which is left out where it is zero.
size_t join_signs(int32_t* columns, float* values, size_t n) {
  size_t kept = 0;
  for (size_t i = 0; i < n; ++i) {
    int32_t column = columns[i];
    float sum = values[i];
    if (i + 1 < n && columns[i + 1] == column) sum += values[++i];
    columns[kept] = column;
    values[kept] = sum;
    kept += sum != 0;
  }
  return kept;
}

LINNAEUS_CLONES void count_runs(const int32_t* __restrict ends, float* __restrict values, size_t n) {
  if (n) values[0] = float(ends[0]);
  for (size_t i = 1; i < n; ++i) values[i] = float(ends[i] - ends[i - 1]);
}

}  // namespace

const uint32_t* Counter::sort(const uint32_t* keys, size_t n, int bits) {
  if (sorted_.size() < n + SPARE) sorted_.resize(n + n / 2 + SPARE);
  uint32_t* out = sorted_.data();
  if (n <= FEW) {
    std::copy_n(keys, n, out);
    insert_sort(out, n);
    return out;
  }
  if (n < MANY) {
    int wanted = std::min(std::clamp(int(std::bit_width(n)) - 1, 2, 12), bits), shift = bits - wanted;
    size_t count = size_t(1) << wanted;
    uint16_t* buckets = buckets_;
    std::memset(buckets, 0, sizeof(uint16_t) * count);
    for (size_t i = 0; i < n; ++i) ++buckets[keys[i] >> shift];
    if (!crowded(buckets, count, n)) {
      start_buckets(buckets, count);
      for (size_t i = 0; i < n; ++i) out[buckets[keys[i] >> shift]++] = keys[i];
      exchange_neighbors(out, n, 4);
      insert_sort(out, n);
      return out;
    }
  }
  if (spare_.size() < n) spare_.resize(n + n / 2);
  std::copy_n(keys, n, out);
  if (n < 768 || bits <= 16) return by_digits<8>(out, spare_.data(), n, bits);
  return bits <= 20 ? by_digits<10>(out, spare_.data(), n, bits) : by_digits<11>(out, spare_.data(), n, bits);
}

// A long row is counted where its columns are not many more than its keys: nothing is sorted, and beside the keys it
// takes only the memory of the columns.
void Counter::add_many(const uint32_t* keys, size_t n, int bits, RowBlock& block) {
  counts_.resize(std::max(counts_.size(), size_t(1) << bits));
  for (size_t i = 0; i < n; ++i) ++counts_[keys[i]];
  size_t width = size_t(1) << bits, distinct = 0, at = 0;
  for (size_t i = 0; i < width; ++i) distinct += counts_[i] != 0;
  block.reserve(distinct + 1);
  auto [columns, values] = block.room();
  for (size_t i = 0; i < width; ++i) {
    columns[at] = int32_t(i);
    values[at] = float(counts_[i]);
    at += std::exchange(counts_[i], 0u) != 0;
  }
  block.finish_row(distinct);
}

void Counter::add_counts(const uint32_t* keys, size_t n, int bits, RowBlock& block) {
  if (n >= MANY && n >> bits >= 1) return add_many(keys, n, bits, block);
  keys = sort(keys, n, bits);
  block.reserve(n + 1);
  auto [columns, values] = block.room();
  size_t distinct = find_distinct(keys, n, columns, ends(n));
  count_runs(ends(n), values, distinct);
  block.finish_row(distinct);
}

void Counter::add_signed(const uint32_t* keys, size_t n, int bits, RowBlock& block) {
  keys = sort(keys, n, bits);
  block.reserve(n + 1);
  auto [columns, values] = block.room();
  size_t distinct = find_distinct(keys, n, columns, ends(n));
  if (split_signs(columns, ends(n), values, distinct)) distinct = join_signs(columns, values, distinct);
  block.finish_row(distinct);
}

}  // namespace linnaeus
