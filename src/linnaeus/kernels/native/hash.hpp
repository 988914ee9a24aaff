// The feature hash, fixed for ever: tests/kernels/test_hash.py holds its test vectors.
//
// A short multiply-fold hash in the manner of wyhash (Wang Yi 2019): one 64 x 64 -> 128 bit product, its halves
// exclusive-ored. A token of at most 8 bytes costs one product, an n-gram one more for each further token.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace linnaeus {

inline constexpr uint64_t K0 = 0x9E3779B97F4A7C15ull, K1 = 0xD6E8FEB86659FD93ull, K2 = 0xA0761D6478BD642Full,
                          K3 = 0xE7037ED1A0B428DBull;

inline uint64_t fold(uint64_t a, uint64_t b) {
#if defined(_MSC_VER)
  uint64_t high, low = _umul128(a, b, &high);
  return low ^ high;
#else
  unsigned __int128 product = (unsigned __int128)a * b;
  return uint64_t(product) ^ uint64_t(product >> 64);
#endif
}

// Little-endian whatever the machine.
inline uint64_t load8(const uint8_t* p) {
  uint64_t x;
  std::memcpy(&x, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  x = __builtin_bswap64(x);
#endif
  return x;
}

// The first n <= 8 bytes, zero behind them; eight bytes may be read.
inline uint64_t load_short(const uint8_t* p, size_t n) { return n == 0 ? 0 : load8(p) & (~0ull >> (64 - 8 * n)); }

inline uint64_t hash_short(uint64_t bytes, size_t n) { return fold(bytes ^ K0, K1 ^ n); }

inline uint64_t hash_long(const uint8_t* p, size_t n) {
  uint64_t h = K2 ^ n;
  for (size_t i = 0; i + 16 < n; i += 16) h = fold(load8(p + i) ^ K0 ^ h, load8(p + i + 8) ^ K1);
  const uint8_t* tail = p + n - (n < 16 ? 8 : 16);
  h = fold((n < 16 ? load8(p) : load8(tail)) ^ K0 ^ h, load8(p + n - 8) ^ K1);
  return fold(h ^ K3, K1);
}

// Eight bytes may be read from p whatever n is.
inline uint64_t hash_bytes(const uint8_t* p, size_t n) {
  return n <= 8 ? hash_short(load_short(p, n), n) : hash_long(p, n);
}

// The hash of an n-gram from that of its first n-1 tokens and of its last.
inline uint64_t hash_join(uint64_t prefix, uint64_t last) { return fold(prefix ^ K2, last ^ K3); }

// Stands between the two words of a skip-gram.
inline constexpr uint64_t GAP = K1;

}  // namespace linnaeus
