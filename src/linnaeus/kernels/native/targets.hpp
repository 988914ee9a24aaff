// One function, compiled for several processors and chosen when the module is loaded: the build ships for all of them.
// Only integer code is compiled this way, so every version gives the same bits.
#pragma once
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__ELF__) && \
    !defined(__SANITIZE_ADDRESS__)
#define LINNAEUS_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LINNAEUS_CLONES
#endif
