// Sparse rows put together: the columns of one row sorted and counted, the rows of all pieces joined in order.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "arrays.hpp"
#include "parallel.hpp"

namespace linnaeus {

// Sorts keys below 2^bits: by insertion when few, by counting digits from the lowest when many.
class KeySorter {
 public:
  // Returns the sorted keys, which lie in `keys` or in memory of the sorter.
  uint32_t* sort(uint32_t* keys, size_t n, int bits) {
    if (n <= 32) return insertion(keys, n), keys;
    if (spare_.size() < n) spare_.resize(n + n / 2);
    return n < 4096 ? by_digits<8>(keys, n, bits) : by_digits<11>(keys, n, bits);
  }

 private:
  static void insertion(uint32_t* keys, size_t n) {
    for (size_t i = 1; i < n; ++i) {
      uint32_t key = keys[i];
      size_t j = i;
      for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
      keys[j] = key;
    }
  }

  template <int D>
  uint32_t* by_digits(uint32_t* keys, size_t n, int bits) {
    constexpr uint32_t size = 1u << D;
    int passes = (bits + D - 1) / D;
    uint32_t counts[(32 + D - 1) / D][size];
    std::memset(counts, 0, sizeof(uint32_t) * size * passes);
    for (size_t i = 0; i < n; ++i)
      for (int p = 0; p < passes; ++p) ++counts[p][keys[i] >> (p * D) & (size - 1)];
    uint32_t *from = keys, *to = spare_.data();
    for (int p = 0; p < passes; ++p) {
      uint32_t* at = counts[p];
      uint32_t sum = 0;
      for (uint32_t d = 0; d < size; ++d) {
        uint32_t count = at[d];
        at[d] = sum;
        sum += count;
      }
      for (size_t i = 0; i < n; ++i) to[at[from[i] >> (p * D) & (size - 1)]++] = from[i];
      std::swap(from, to);
    }
    return from;
  }

  std::vector<uint32_t> spare_;
};

// Memory that grows by realloc, which moves pages instead of copying them where the system can.
template <class T>
class Growing {
 public:
  Growing() = default;
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;
  ~Growing() { std::free(data_); }

  T* extend(size_t count) {
    if (size_ + count > capacity_) resize(std::max(size_ + count, capacity_ + capacity_ / 2 + 1024));
    T* at = data_ + size_;
    size_ += count;
    return at;
  }
  size_t size() const { return size_; }
  T* data() { return data_; }

  auto release() {
    if (capacity_ > size_) resize(size_ ? size_ : 1);
    else if (!data_) resize(1);
    T* p = data_;
    data_ = nullptr;
    nb::capsule owner(p, [](void* q) noexcept { std::free(q); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(p, {size_}, owner);
  }

 private:
  void resize(size_t capacity) {
    void* p = std::realloc(data_, capacity * sizeof(T));
    if (!p) throw std::bad_alloc();
    data_ = static_cast<T*>(p);
    capacity_ = capacity;
  }
  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

// The rows of one piece of work.
struct RowBlock {
  std::vector<uint32_t> lengths;
  std::vector<int32_t> columns;
  std::vector<float> values;

  void clear() { lengths.clear(), columns.clear(), values.clear(); }

  // Appends a row from sorted keys: a key is a column, its count the value.
  void add_counts(const uint32_t* keys, size_t n) {
    size_t before = columns.size(), at = before;
    columns.resize(before + n);
    values.resize(before + n);
    for (size_t i = 0; i < n;) {
      size_t j = i + 1;
      while (j < n && keys[j] == keys[i]) ++j;
      columns[at] = int32_t(keys[i]);
      values[at++] = float(j - i);
      i = j;
    }
    finish(before, at);
  }

  // The same where a key is column * 2 + (1 for minus); columns whose signs cancel are left out.
  void add_signed(const uint32_t* keys, size_t n) {
    size_t before = columns.size(), at = before;
    columns.resize(before + n);
    values.resize(before + n);
    for (size_t i = 0; i < n;) {
      uint32_t column = keys[i] >> 1;
      int sum = 0;
      size_t j = i;
      for (; j < n && keys[j] >> 1 == column; ++j) sum += 1 - 2 * int(keys[j] & 1);
      columns[at] = int32_t(column);
      values[at] = float(sum);
      at += sum != 0;
      i = j;
    }
    finish(before, at);
  }

 private:
  void finish(size_t before, size_t at) {
    columns.resize(at);
    values.resize(at);
    lengths.push_back(uint32_t(at - before));
  }
};

// Joins the rows of numbered pieces in the order of their numbers, whoever is done first.
class OrderedRows {
 public:
  void append(size_t piece, const RowBlock& block) {
    std::unique_lock<std::mutex> lock(guard_);
    turn_.wait(lock, [&] { return next_ == piece || failed_; });
    if (failed_) return;
    for (uint32_t length : block.lengths) *offsets_.extend(1) = total_ += length;
    std::copy(block.columns.begin(), block.columns.end(), columns_.extend(block.columns.size()));
    std::copy(block.values.begin(), block.values.end(), values_.extend(block.values.size()));
    ++next_;
    turn_.notify_all();
  }

  // After an error nobody waits for a turn that will not come.
  void fail() {
    std::lock_guard<std::mutex> lock(guard_);
    failed_ = true;
    turn_.notify_all();
  }

  nb::tuple release() { return nb::make_tuple(offsets_.release(), columns_.release(), values_.release()); }

  OrderedRows() { *offsets_.extend(1) = 0; }

 private:
  std::mutex guard_;
  std::condition_variable turn_;
  size_t next_ = 0;
  bool failed_ = false;
  int64_t total_ = 0;
  Growing<int64_t> offsets_;
  Growing<int32_t> columns_;
  Growing<float> values_;
};

// Texts cut into pieces of about 256 kB, whatever the number of threads: piece i is rows [cuts[i], cuts[i+1]).
inline std::vector<size_t> cut_pieces(const int64_t* offsets, size_t n) {
  constexpr int64_t bytes = 256 * 1024;
  constexpr size_t most = 8192;
  std::vector<size_t> cuts{0};
  for (size_t i = 0; i < n; ++i) {
    size_t first = cuts.back();
    if (i > first && (offsets[i] - offsets[first] >= bytes || i - first >= most)) cuts.push_back(i);
  }
  if (n > cuts.back()) cuts.push_back(n);
  return cuts;
}

// Calls make(first, last, block, worker) for each piece and joins the blocks.
template <class Make>
nb::tuple build_rows(const int64_t* offsets, size_t n, int threads, Make&& make) {
  OrderedRows rows;
  {
    nb::gil_scoped_release release;
    std::vector<size_t> cuts = cut_pieces(offsets, n);
    std::vector<RowBlock> blocks(std::max(threads, 1));
    for_each_piece(cuts.size() - 1, threads, [&](size_t piece, int worker) {
      try {
        blocks[worker].clear();
        make(cuts[piece], cuts[piece + 1], blocks[worker], worker);
        rows.append(piece, blocks[worker]);
      } catch (...) {
        rows.fail();
        throw;
      }
    });
  }
  return rows.release();
}

}  // namespace linnaeus
