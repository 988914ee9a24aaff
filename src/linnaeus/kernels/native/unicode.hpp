// UTF-8 and the character classes. Invalid bytes read as U+FFFD, one for each maximal invalid part, as Python replaces
// them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "unicode_tables.hpp"

namespace linnaeus {

inline constexpr uint32_t REPLACEMENT = 0xFFFD;

struct Decoded {
  uint32_t code;
  uint32_t size;  // bytes read, at least 1
};

inline bool is_continuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

// The character at p; `left` bytes may be read, at least one.
inline Decoded decode(const uint8_t* p, size_t left) {
  uint8_t a = p[0];
  if (a < 0x80) return {a, 1};
  if (a < 0xC2 || a > 0xF4) return {REPLACEMENT, 1};
  if (left < 2) return {REPLACEMENT, 1};
  uint8_t b = p[1];
  if (a < 0xE0) {
    if (!is_continuation(b)) return {REPLACEMENT, 1};
    return {uint32_t((a & 0x1F) << 6 | (b & 0x3F)), 2};
  }
  // The second byte decides about overlong forms, surrogates and codes beyond the last plane.
  uint8_t low = a == 0xE0 ? 0xA0 : a == 0xF0 ? 0x90 : 0x80;
  uint8_t high = a == 0xED ? 0x9F : a == 0xF4 ? 0x8F : 0xBF;
  if (b < low || b > high) return {REPLACEMENT, 1};
  if (left < 3 || !is_continuation(p[2])) return {REPLACEMENT, 2};
  if (a < 0xF0) return {uint32_t((a & 0x0F) << 12 | (b & 0x3F) << 6 | (p[2] & 0x3F)), 3};
  if (left < 4 || !is_continuation(p[3])) return {REPLACEMENT, 3};
  return {uint32_t((a & 0x07) << 18 | (b & 0x3F) << 12 | (p[2] & 0x3F) << 6 | (p[3] & 0x3F)), 4};
}

// The character at p in text that is known to be valid.
inline Decoded decode_valid(const uint8_t* p) {
  uint8_t a = p[0];
  if (a < 0x80) return {a, 1};
  if (a < 0xE0) return {uint32_t((a & 0x1F) << 6 | (p[1] & 0x3F)), 2};
  if (a < 0xF0) return {uint32_t((a & 0x0F) << 12 | (p[1] & 0x3F) << 6 | (p[2] & 0x3F)), 3};
  return {uint32_t((a & 0x07) << 18 | (p[1] & 0x3F) << 12 | (p[2] & 0x3F) << 6 | (p[3] & 0x3F)), 4};
}

inline uint8_t classify(uint32_t code) { return class_stage2[class_stage1[code >> 7] * 128 + (code & 127)]; }
inline bool suspect(uint32_t code) { return suspect_stage2[suspect_stage1[code >> 7] * 128 + (code & 127)]; }

}  // namespace linnaeus
