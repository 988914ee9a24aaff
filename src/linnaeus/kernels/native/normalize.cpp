#include "normalize.hpp"

#include <algorithm>
#include <cstring>

#include "targets.hpp"
#include "unicode.hpp"

namespace linnaeus {
namespace {

constexpr size_t BLOCK = 64;

// Copies one block, lowering A-Z where `step` is 32 and nothing where it is 0; false, with nothing promised about
// `out`, when a byte is outside ASCII. Fixed-size loops: every compiler makes vector code of them.
inline bool copy_block(const uint8_t* in, uint8_t* out, uint8_t step) {
  uint8_t seen = 0;
  for (size_t i = 0; i < BLOCK; ++i) seen |= in[i];
  for (size_t i = 0; i < BLOCK; ++i) out[i] = uint8_t(in[i] + (uint8_t(in[i] - 'A') < 26 ? step : 0));
  return seen < 0x80;
}

size_t put(uint8_t* out, const uint8_t* bytes, size_t size) {
  std::memcpy(out, bytes, size);
  return size;
}

// Whether a capital sigma at `at` ends a word: a cased letter before it and none after, skipping what does not count.
bool final_sigma(const uint8_t* data, size_t size, size_t at) {
  bool before = false;
  for (size_t i = at; i > 0;) {
    size_t start = i - 1;
    while (start > 0 && i - start < 4 && is_continuation(data[start])) --start;
    Decoded c = decode(data + start, i - start);
    if (c.size != i - start) c = {REPLACEMENT, 1}, start = i - 1;
    uint8_t kind = classify(c.code);
    i = start;
    if (kind & IGNORABLE) continue;
    before = kind & CASED;
    break;
  }
  if (!before) return false;
  for (size_t i = at + 2; i < size;) {
    Decoded c = decode(data + i, size - i);
    uint8_t kind = classify(c.code);
    i += c.size;
    if (!(kind & IGNORABLE)) return !(kind & CASED);
  }
  return true;
}

// Writes the character at `i` with its case changed; returns the bytes written and moves `i` past it.
size_t change_one(const uint8_t* data, size_t size, size_t& i, Case change, uint8_t* out) {
  static constexpr uint8_t replacement[] = {0xEF, 0xBF, 0xBD}, sigma[] = {0xCF, 0x83}, end_sigma[] = {0xCF, 0x82};
  size_t at = i;
  Decoded c = decode(data + i, size - i);
  i += c.size;
  if (c.code == REPLACEMENT) return put(out, replacement, 3);
  if (change == Case::keep) return put(out, data + at, c.size);
  if (change == Case::lower && c.code == 0x3A3) return put(out, final_sigma(data, size, at) ? end_sigma : sigma, 2);
  bool lower = change == Case::lower;
  const uint16_t *stage1 = lower ? lower_stage1 : fold_stage1, *stage2 = lower ? lower_stage2 : fold_stage2;
  uint16_t which = stage2[stage1[c.code >> 7] * size_t(128) + (c.code & 127)];
  if (which == 0) return put(out, data + at, c.size);
  const Replacement* texts = lower ? lower_text : fold_text;
  const Replacement& text = texts[which];
  return put(out, text.bytes, text.size);
}

}  // namespace

LINNAEUS_CLONES Text normalize(const uint8_t* data, size_t size, Case change, Scratch& scratch) {
  // No character grows to more than three times its bytes.
  uint8_t* out = scratch.reserve(3 * size + 2 * PADDING);
  uint8_t step = change == Case::keep ? 0 : 32;
  size_t i = 0, o = 0;
  bool ascii = true;
  while (i < size) {
    while (i + BLOCK <= size && copy_block(data + i, out + o, step)) i += BLOCK, o += BLOCK;
    size_t stop = std::min(size, i + BLOCK);
    while (i < stop) {
      uint8_t c = data[i];
      if (c < 0x80) {
        out[o++] = uint8_t(c + (uint8_t(c - 'A') < 26 ? step : 0));
        ++i;
      } else {
        ascii = false;
        o += change_one(data, size, i, change, out + o);
      }
    }
  }
  std::memset(out + o, 0, PADDING);
  return {out, o, ascii};
}

}  // namespace linnaeus
