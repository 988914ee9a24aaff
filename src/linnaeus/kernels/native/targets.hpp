// One function, compiled for several processors and chosen when the module is loaded: the build ships for all of them.
// Every version gives the same bits: only integer code is compiled this way, and floating-point loops whose result does
// not depend on the width of the vectors (elementwise, or with a fixed number of lanes).
#pragma once
#include <cstddef>
#include <cstdint>
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__ELF__) && \
    !defined(__SANITIZE_ADDRESS__)
#define LINNAEUS_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LINNAEUS_CLONES
#endif

// For the parts of such a function that are templates of their own: they must become code of their caller's version.
#if defined(__GNUC__)
#define LINNAEUS_INLINE inline __attribute__((always_inline))
#define LINNAEUS_LAMBDA __attribute__((always_inline))
#else
#define LINNAEUS_INLINE inline
#define LINNAEUS_LAMBDA
#endif

namespace linnaeus {

// Asks for the line of memory `bytes` after `base` before it is needed. The address may be anything: it is not read.
// Always inline: a function that does nothing else has no effect, and a compiler leaves out its calls.
LINNAEUS_INLINE void prefetch(const void* base, size_t bytes) {
#if defined(__GNUC__)
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(base) + bytes));
#else
  (void)base, (void)bytes;
#endif
}

}  // namespace linnaeus
