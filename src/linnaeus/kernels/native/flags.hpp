// A quick look at a text: does it need more than the fast paths?
#pragma once
#include <cstring>

#include "unicode.hpp"

namespace linnaeus {

inline constexpr uint8_t NOT_ASCII = 1, SUSPECT = 2, AMPERSAND = 4, INVALID = 8;

inline uint8_t flags_of(const uint8_t* p, size_t n) {
  uint8_t flags = 0, seen = 0;
  for (size_t i = 0; i < n; ++i) seen |= p[i];
  if (std::memchr(p, '&', n)) flags |= AMPERSAND;
  if (seen < 0x80) return flags;
  for (size_t i = 0; i < n;) {
    Decoded c = decode(p + i, n - i);
    // A replacement character that stands in the text is three bytes long and valid.
    if (c.code == REPLACEMENT && !(c.size == 3 && p[i] == 0xEF)) flags |= INVALID;
    if (c.code >= 0xC0 && suspect(c.code)) flags |= SUSPECT;
    i += c.size;
  }
  return flags | NOT_ASCII;
}

}  // namespace linnaeus
