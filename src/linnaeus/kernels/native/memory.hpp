// Large memory on pages of its own: large pages, because a probe into tens of megabytes would otherwise miss the
// address cache too, and given back to the system at once when it is freed.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace linnaeus {

inline constexpr size_t LARGE = size_t(4) << 20;

// Memory of `least` bytes or more gets pages of its own.
inline void* allocate(size_t bytes, size_t least = LARGE) {
#if defined(__linux__)
  if (bytes >= least) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    if (bytes >= LARGE) madvise(p, bytes, MADV_HUGEPAGE);
    return p;
  }
#endif
  (void)least;
  void* p = std::malloc(bytes ? bytes : 1);
  if (!p) throw std::bad_alloc();
  return p;
}

// What `allocate` gave for the same sizes.
inline void release(void* p, size_t bytes, size_t least = LARGE) noexcept {
#if defined(__linux__)
  if (bytes >= least) {
    munmap(p, bytes);
    return;
  }
#endif
  (void)bytes, (void)least;
  std::free(p);
}

template <class T, size_t Least>
struct OwnPages {
  using value_type = T;
  template <class U>
  struct rebind {
    using other = OwnPages<U, Least>;
  };
  OwnPages() = default;
  template <class U>
  OwnPages(const OwnPages<U, Least>&) {}
  T* allocate(size_t n) { return static_cast<T*>(linnaeus::allocate(n * sizeof(T), Least)); }
  void deallocate(T* p, size_t n) { linnaeus::release(p, n * sizeof(T), Least); }
  bool operator==(const OwnPages&) const { return true; }
};

// For tables that are probed, and for what is soon handed back.
template <class T>
using LargeAllocator = OwnPages<T, LARGE>;
template <class T>
using PageAllocator = OwnPages<T, size_t(64) << 10>;

// For what grows with a text: a short one stays in the heap, a long one takes few faults.
template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace linnaeus
