// Memory that grows without copying where the system can move pages, and becomes a NumPy array at the end.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "arrays.hpp"

namespace linnaeus {

// A block of memory that can be resized. Large ones are mapped pages of their own: the C library's realloc may copy,
// and keeps what is freed. Large pages make one fault of five hundred.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept { swap(other); }
  Block& operator=(Block&& other) noexcept { return swap(other), *this; }
  ~Block() { free(); }

  void* data() const { return data_; }

  // Address space for as much as may be needed, so that growing moves nothing; pages cost memory once written. False
  // where the system does not promise more than it has.
  bool reserve(size_t bytes) {
#if defined(__linux__)
    if (data_ || bytes < LARGE) return false;
    size_t rounded = round_up(bytes);
    void* p = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return false;
    check(p, rounded);
    return true;
#else
    (void)bytes;
    return false;
#endif
  }

  void resize(size_t bytes) {
#if defined(__linux__)
    size_t rounded = round_up(bytes);
    if (mapped_) return check(mremap(data_, mapped_, rounded, MREMAP_MAYMOVE), rounded);
    if (bytes >= LARGE) {
      void* p = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (p != MAP_FAILED && data_) std::memcpy(p, data_, std::min(bytes, size_));
      if (p != MAP_FAILED) std::free(data_);
      return check(p, rounded);
    }
#endif
    void* p = std::realloc(data_, std::max<size_t>(bytes, 1));
    if (!p) throw std::bad_alloc();
    data_ = p;
    size_ = bytes;
  }

 private:
#if defined(__linux__)
  static constexpr size_t PAGE = 4096, LARGE = size_t(1) << 20;
  static size_t round_up(size_t bytes) { return std::max((bytes + PAGE - 1) & ~(PAGE - 1), PAGE); }

  void check(void* p, size_t bytes) {
    if (p == MAP_FAILED) throw std::bad_alloc();
    data_ = p;
    mapped_ = bytes;
    madvise(p, bytes, MADV_HUGEPAGE);
  }
#endif
  void free() {
#if defined(__linux__)
    if (mapped_) {
      munmap(data_, mapped_);
      return;
    }
#endif
    std::free(data_);
  }
  void swap(Block& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
  }

  void* data_ = nullptr;
  size_t size_ = 0, mapped_ = 0;
};

template <class T>
class Growing {
 public:
  // At most this many values will come.
  void reserve(size_t most) {
    if (block_.reserve(most * sizeof(T))) capacity_ = fixed_ = most;
  }
  // Whether what `extend` returned stays where it is for ever.
  bool stays() const { return fixed_ && capacity_ == fixed_; }

  T* extend(size_t count) {
    if (size_ + count > capacity_) {
      capacity_ = std::max(size_ + count, capacity_ + capacity_ / 2 + 256);
      block_.resize(capacity_ * sizeof(T));
    }
    T* at = data() + size_;
    size_ += count;
    return at;
  }
  size_t size() const { return size_; }
  size_t room() const { return capacity_ - size_; }
  T* data() { return static_cast<T*>(block_.data()); }

  // The values as a NumPy array that owns the memory.
  auto release() {
    block_.resize(size_ * sizeof(T));
    auto* block = new Block(std::move(block_));
    nb::capsule owner(block, [](void* p) noexcept { delete static_cast<Block*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(static_cast<T*>(block->data()), {size_}, owner);
  }

 private:
  Block block_;
  size_t size_ = 0, capacity_ = 0, fixed_ = 0;
};

}  // namespace linnaeus
