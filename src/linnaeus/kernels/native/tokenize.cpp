#include "tokenize.hpp"

#include <bit>

#include "hash.hpp"
#include "targets.hpp"
#include "unicode.hpp"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace linnaeus {
namespace {

// Bit i is set where byte i of `flags` (0 or 255) is.
inline uint64_t to_mask(const uint8_t* flags) {
  uint64_t mask = 0;
#if defined(__SSE2__)
  for (int i = 0; i < 4; ++i) {
    __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(flags + 16 * i));
    mask |= uint64_t(uint16_t(_mm_movemask_epi8(part))) << (16 * i);
  }
#else
  for (int i = 0; i < 64; ++i) mask |= uint64_t(flags[i] & 1) << i;
#endif
  return mask;
}

template <class Test>
inline uint64_t mask_of(const uint8_t* p, Test test) {
  alignas(64) uint8_t flags[64];
  for (int i = 0; i < 64; ++i) flags[i] = test(p[i]) ? 255 : 0;
  return to_mask(flags);
}

inline bool high(uint8_t c) { return c >= 0x80; }
inline bool digit(uint8_t c) { return uint8_t(c - '0') < 10; }
inline bool word(uint8_t c) { return (uint8_t((c | 32) - 'a') < 26) | digit(c) | (c == '_') | high(c); }
inline bool space(uint8_t c) { return (c == ' ') | (uint8_t(c - 9) < 5) | (uint8_t(c - 28) < 4); }

// Positions where runs start and end, in turn: written eight at a time without looking how many there are.
uint32_t* write_edges(uint64_t edges, uint32_t base, uint32_t* out) {
  int count = std::popcount(edges);
  uint32_t* at = out;
  for (int done = 0; done < count; done += 8) {
    for (int i = 0; i < 8; ++i) {
      at[i] = base + uint32_t(std::countr_zero(edges));
      edges &= edges - 1;
    }
    at += 8;
  }
  return out + count;
}

// Bits of `mark` that stand between two bits of `side`, across the borders of 64-bit words.
inline uint64_t between(uint64_t mark, uint64_t before, uint64_t side, uint64_t after) {
  return mark & (side << 1 | before >> 63) & (side >> 1 | after << 63);
}

bool apostrophe(uint32_t code) { return code == '\'' || code == 0x2019; }
bool part_of_word(uint8_t kind) { return (kind & (WORD | MARK)) && !(kind & UNSPACED); }

// One run cut into words by character: see kernels/reference/tokens.py, `words`.
class WordCutter {
 public:
  WordCutter(const uint8_t* data, uint32_t end, std::vector<Span>& out) : data_(data), end_(end), out_(out) {}

  void cut(uint32_t at) {
    while (at < end_) {
      Decoded c = decode_valid(data_ + at);
      uint8_t kind = classify(c.code);
      if (kind & UNSPACED) {
        at = unspaced(at);
      } else if (kind & WORD) {
        at = one_word(at);
      } else {
        if (kind & SYMBOL) out_.push_back({at, at + c.size});
        at += c.size;
      }
    }
  }

 private:
  Decoded at(uint32_t i) const { return i < end_ ? decode_valid(data_ + i) : Decoded{' ', 1}; }

  uint32_t one_word(uint32_t start) {
    uint32_t i = start;
    bool after_digit = false;
    for (;;) {
      Decoded c = at(i);
      uint8_t kind = i < end_ ? classify(c.code) : 0;
      if (part_of_word(kind)) {
        after_digit = kind & DIGIT;
        i += c.size;
        continue;
      }
      uint8_t next = i + c.size < end_ ? classify(at(i + c.size).code) : 0;
      bool inside = (apostrophe(c.code) && (next & WORD) && !(next & UNSPACED)) ||
                    ((c.code == '.' || c.code == ',') && after_digit && (next & DIGIT) && !(next & UNSPACED));
      if (i >= end_ || !inside) break;
      i += c.size;
    }
    out_.push_back({start, i});
    return i;
  }

  // Scripts without spaces: every two neighbors make a token, a lone character one of its own.
  uint32_t unspaced(uint32_t start) {
    uint32_t previous = start, i = start + at(start).size;
    if (!(i < end_ && classify(at(i).code) & UNSPACED)) out_.push_back({start, i});
    while (i < end_ && classify(at(i).code) & UNSPACED) {
      uint32_t next = i + at(i).size;
      out_.push_back({previous, next});
      previous = i;
      i = next;
    }
    return i;
  }

  const uint8_t* data_;
  uint32_t end_;
  std::vector<Span>& out_;
};

// Maximal parts of a run whose characters pass `inside`, when they have at least `shortest` characters.
template <class Inside>
void cut_class(const uint8_t* data, Span run, Inside inside, uint32_t shortest, std::vector<Span>& out) {
  uint32_t start = run.start, length = 0;
  for (uint32_t i = run.start; i <= run.end;) {
    Decoded c = i < run.end ? decode_valid(data + i) : Decoded{0, 1};
    if (i < run.end && inside(classify(c.code))) {
      if (length++ == 0) start = i;
    } else {
      if (length >= shortest) out.push_back({start, i});
      length = 0;
    }
    i += c.size;
  }
}

// Up to eight bytes behind the span may be read: texts are padded.
bool has_high(const uint8_t* data, Span span) {
  uint64_t seen = 0;
  uint32_t i = span.start;
  for (; i + 8 < span.end; i += 8) seen |= load8(data + i);
  seen |= load_short(data + i, span.end - i);
  return seen & 0x8080808080808080ull;
}

}  // namespace

LINNAEUS_CLONES void Tokens::find_runs(const Text& text, Tokenizer tokenizer) {
  size_t blocks = (text.size + 63) / 64;
  masks_.resize(blocks);
  const uint8_t* p = text.data;
  if (tokenizer == Tokenizer::whitespace) {
    for (size_t b = 0; b < blocks; ++b) masks_[b] = ~mask_of(p + 64 * b, space);
  } else {
    for (size_t b = 0; b < blocks; ++b) masks_[b] = mask_of(p + 64 * b, word);
  }
  if (tokenizer == Tokenizer::words) {
    joined_.resize(blocks);
    uint64_t word_before = 0, digit_before = 0, digits = 0, digits_next = 0;
    auto is_number = [](uint8_t c) { return digit(c) | high(c); };
    if (blocks) digits_next = mask_of(p, is_number);
    for (size_t b = 0; b < blocks; ++b) {
      digits = digits_next;
      digits_next = b + 1 < blocks ? mask_of(p + 64 * b + 64, is_number) : 0;
      uint64_t words = masks_[b], words_next = b + 1 < blocks ? masks_[b + 1] : 0;
      uint64_t quotes = mask_of(p + 64 * b, [](uint8_t c) { return c == '\''; });
      uint64_t points = mask_of(p + 64 * b, [](uint8_t c) { return (c == '.') | (c == ','); });
      joined_[b] =
          words | between(quotes, word_before, words, words_next) | between(points, digit_before, digits, digits_next);
      word_before = words;
      digit_before = digits;
    }
    masks_.swap(joined_);
  }
  if (size_t rest = text.size % 64) masks_[blocks - 1] &= ~0ull >> (64 - rest);

  if (runs_.size() < text.size / 2 + 16) runs_.resize(text.size / 2 + 16);
  uint32_t *edges = &runs_.data()->start, *at = edges;  // a run is two edges, one behind the other
  uint64_t carry = 0;
  for (size_t b = 0; b < blocks; ++b) {
    at = write_edges(masks_[b] ^ (masks_[b] << 1 | carry), uint32_t(64 * b), at);
    carry = masks_[b] >> 63;
  }
  if ((at - edges) % 2) *at++ = uint32_t(text.size);
  run_count_ = size_t(at - edges) / 2;
}

void Tokens::cut_runs(const Text& text, Tokenizer tokenizer) {
  cut_.clear();
  for (Span run : Spans(runs_.data(), run_count_)) {
    if (!has_high(text.data, run)) {
      if (tokenizer != Tokenizer::scikit || run.end - run.start >= 2) cut_.push_back(run);
    } else if (tokenizer == Tokenizer::words) {
      WordCutter(text.data, run.end, cut_).cut(run.start);
    } else if (tokenizer == Tokenizer::scikit) {
      cut_class(text.data, run, [](uint8_t kind) { return kind & WORD; }, 2, cut_);
    } else {
      cut_class(text.data, run, [](uint8_t kind) { return !(kind & SPACE); }, 1, cut_);
    }
  }
}

// The mark is the zero byte behind the text, which no word holds.
Spans Tokens::with_edges(const Text& text) {
  Spans words = split(text, Tokenizer::words);
  if (words.empty()) return words;
  Span mark{uint32_t(text.size), uint32_t(text.size + 1)};
  edged_.clear();
  edged_.push_back(mark);
  edged_.insert(edged_.end(), words.begin(), words.end());
  edged_.push_back(mark);
  return edged_;
}

Spans Tokens::split(const Text& text, Tokenizer tokenizer) {
  if (tokenizer == Tokenizer::edges) return with_edges(text);
  if (tokenizer == Tokenizer::characters || tokenizer == Tokenizer::bytes) {
    cut_.clear();
    for (uint32_t i = 0; i < text.size;) {
      uint32_t size = tokenizer == Tokenizer::bytes ? 1 : decode_valid(text.data + i).size;
      cut_.push_back({i, i + size});
      i += size;
    }
    return cut_;
  }
  find_runs(text, tokenizer);
  if (!text.ascii) {
    cut_runs(text, tokenizer);
    return cut_;
  }
  if (tokenizer != Tokenizer::scikit) return {runs_.data(), run_count_};
  size_t kept = 0;
  for (size_t i = 0; i < run_count_; ++i) {
    Span run = runs_[i];
    runs_[kept] = run;
    kept += run.end - run.start >= 2;
  }
  return {runs_.data(), kept};
}

}  // namespace linnaeus
