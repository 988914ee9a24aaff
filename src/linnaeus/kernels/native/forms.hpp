// The forms of one word: itself, lowered, its shape, its affixes ... reference/token_features.py says what each means.
#pragma once
#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "hash.hpp"
#include "normalize.hpp"
#include "unicode.hpp"

namespace linnaeus {

enum class Kind : int32_t { word, shape, brief, prefix, suffix, caps, digits, hyphen, here, count };

struct Form {
  int32_t change;  // 1: lower, 2: digits as 0, 3: both
  Kind kind;
  int32_t size;
  uint64_t salt;

  Form(const int32_t* row) : change(row[0]), kind(Kind(row[1])), size(row[2]), salt(uint64_t(int64_t(row[3]))) {
    bool known = change >= 0 && change < 4 && row[1] >= 0 && kind < Kind::count;
    bool sized = kind == Kind::prefix || kind == Kind::suffix;
    if (!known || (sized ? size < 1 || size > 64 : size != 0)) throw std::invalid_argument("a form is not known");
  }
};

// Bytes of which eight may be read whatever their number; none at all where data is null.
struct Value {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

inline uint64_t value_key(Value value, uint64_t salt) {
  if (!value.data) return 0;
  uint64_t key = hash_join(hash_bytes(value.data, value.size), salt);
  return key == 0 || key == ~0ull ? 1 : key;
}

// Reads one word after the other; what it gives lives until the next form, or the next word for its affixes.
class FormReader {
 public:
  void read(const uint8_t* data, size_t size) {
    raw_ = {data, size};
    made_ = {};
  }

  Value get(const Form& form) {
    const Text& text = changed(form.change);
    switch (form.kind) {
      case Kind::word:
        return {text.data, text.size};
      case Kind::shape:
        return shape(text, false);
      case Kind::brief:
        return shape(text, true);
      case Kind::prefix:
        return prefix(text, size_t(form.size));
      case Kind::suffix:
        return suffix(text, size_t(form.size));
      case Kind::caps:
        return caps(text);
      case Kind::digits:
        return digits(text);
      case Kind::hyphen:
        return hyphen(text);
      default:
        return said("");
    }
  }

 private:
  static Value said(const char (&text)[1]) { return {pad(text, 0), 0}; }
  template <size_t n>
  static Value said(const char (&text)[n]) {
    static_assert(n > 1 && n <= 8);
    return {pad(text, n - 1), n - 1};
  }
  static const uint8_t* pad(const char* text, size_t n) {
    static thread_local uint8_t room[16];
    std::memset(room, 0, sizeof room);
    std::memcpy(room, text, n);
    return room;
  }

  const Text& changed(int change) {
    if (!made_[size_t(change)]) {
      made_[size_t(change)] = true;
      if (change & 2) texts_[size_t(change)] = zeroed(changed(change & 1), scratch_[size_t(change)]);
      else
        texts_[size_t(change)] =
            normalize(raw_.data, raw_.size, change & 1 ? Case::lower : Case::keep, scratch_[size_t(change)]);
    }
    return texts_[size_t(change)];
  }

  static Text zeroed(const Text& text, Scratch& scratch) {
    uint8_t* out = scratch.reserve(text.size + PADDING);
    size_t o = 0;
    for (size_t i = 0; i < text.size;) {
      Decoded c = decode_valid(text.data + i);
      if (classify(c.code) & DIGIT) out[o++] = '0';
      else std::memcpy(out + o, text.data + i, c.size), o += c.size;
      i += c.size;
    }
    std::memset(out + o, 0, PADDING);
    return {out, o, text.ascii};
  }

  static Value prefix(const Text& text, size_t count) {
    size_t at = 0;
    for (size_t n = 0; n < count; ++n) {
      if (at >= text.size) return {};
      at += text.ascii ? 1 : decode_valid(text.data + at).size;
    }
    return {text.data, at};
  }

  static Value suffix(const Text& text, size_t count) {
    size_t at = text.size;
    for (size_t n = 0; n < count; ++n) {
      if (at == 0) return {};
      do --at;
      while (at > 0 && is_continuation(text.data[at]));
    }
    return {text.data + at, text.size - at};
  }

  // X, x, d, o, or the character itself.
  static uint32_t mark(uint32_t code) {
    if (lower_stage2[lower_stage1[code >> 7] * size_t(128) + (code & 127)]) return 'X';
    uint8_t kind = classify(code);
    if (kind & CASED) return 'x';
    if (kind & DIGIT) return 'd';
    return kind & (WORD | MARK) && code != '_' ? 'o' : code;
  }

  Value shape(const Text& text, bool brief) {
    uint8_t* out = shape_.reserve(text.size + PADDING);
    size_t o = 0;
    uint32_t last = ~0u;
    for (size_t i = 0; i < text.size;) {
      Decoded c = decode_valid(text.data + i);
      uint32_t m = mark(c.code);
      if (!brief || m != last) {
        if (m == c.code) std::memcpy(out + o, text.data + i, c.size), o += c.size;
        else out[o++] = uint8_t(m);
      }
      last = m;
      i += c.size;
    }
    std::memset(out + o, 0, PADDING);
    return {out, o};
  }

  static Value caps(const Text& text) {
    size_t upper = 0, lower = 0;
    bool first = false;
    for (size_t i = 0; i < text.size;) {
      Decoded c = decode_valid(text.data + i);
      uint32_t m = mark(c.code);
      upper += m == 'X';
      lower += m == 'x';
      if (i == 0) first = m == 'X';
      i += c.size;
    }
    if (!upper) return {};
    if (!lower && upper > 1) return said("all");
    return first && upper == 1 ? said("first") : said("mixed");
  }

  static Value digits(const Text& text) {
    bool any = false, all = true, letters = false;
    for (size_t i = 0; i < text.size;) {
      Decoded c = decode_valid(text.data + i);
      uint8_t kind = classify(c.code);
      bool digit = kind & DIGIT;
      any |= digit;
      all &= digit;
      letters |= !digit && (kind & (WORD | MARK));
      i += c.size;
    }
    if (!any) return {};
    return all ? said("all") : letters ? said("some") : said("number");
  }

  static Value hyphen(const Text& text) {
    for (size_t i = 0; i < text.size;) {
      Decoded c = decode_valid(text.data + i);
      if (c.code == '-' || c.code == 0x2010 || c.code == 0x2011) return said("yes");
      i += c.size;
    }
    return {};
  }

  Value raw_;
  std::array<bool, 4> made_{};
  std::array<Text, 4> texts_;
  std::array<Scratch, 4> scratch_;
  Scratch shape_;
};

}  // namespace linnaeus
