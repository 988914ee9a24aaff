// Large tables on large pages: a probe into a table of tens of megabytes would otherwise miss the address cache too.
#pragma once
#include <cstdlib>
#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace linnaeus {

inline void* allocate_large(size_t bytes) {
#if defined(__linux__)
  constexpr size_t page = size_t(2) << 20;
  if (bytes >= 2 * page) {
    void* p = std::aligned_alloc(page, (bytes + page - 1) & ~(page - 1));
    if (!p) throw std::bad_alloc();
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
  }
#endif
  void* p = std::malloc(bytes ? bytes : 1);
  if (!p) throw std::bad_alloc();
  return p;
}

template <class T>
struct LargeAllocator {
  using value_type = T;
  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(allocate_large(n * sizeof(T))); }
  void deallocate(T* p, size_t) { std::free(p); }
  bool operator==(const LargeAllocator&) const { return true; }
};

}  // namespace linnaeus
