#include "grams.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "unicode.hpp"

namespace linnaeus {

void Reader::refuse_enormous(size_t size) {
  if (size >= (size_t(1) << 30))
    throw std::length_error("a text of 1 GiB or more cannot be read in one piece; split it");
}

// Behind the last white space of the stretch, or behind the next one where it has none.
size_t Reader::stretch_end(const uint8_t* data, size_t size, size_t start) {
  auto space = [](uint8_t c) { return c == ' ' || uint8_t(c - 9) < 5; };
  if (size - start <= STRETCH) return size;
  for (size_t end = start + STRETCH; end > start; --end)
    if (space(data[end - 1])) return end;
  const uint8_t* next = std::find_if(data + start + STRETCH, data + size, space);
  return next == data + size ? size : size_t(next - data) + 1;
}

Spans Reader::read(const uint8_t* data, size_t size) {
  refuse_enormous(size);
  text_ = normalize(data, size, plan_.change, scratch_);
  if (plan_.unit == Unit::across) {
    collapse_spaces();
    return pieces_;
  }
  return cut(plan_.tokenizer);
}

Spans Reader::cut(Tokenizer tokenizer) {
  const auto& words = tokens_.split(text_, tokenizer);
  if (plan_.of_words()) return words;
  bool marks = plan_.unit == Unit::subwords;
  pad_words(words, marks ? '<' : ' ', marks ? '>' : ' ');
  return pieces_;
}

void Reader::pad_words(Spans words, uint8_t before, uint8_t after) {
  size_t total = 0;
  for (Span w : words) total += w.end - w.start + 2;
  if (total > ~uint32_t(0)) throw std::length_error("a text has too many words to be read in one piece; split it");
  uint8_t* out = padded_.reserve(total + PADDING);
  uint32_t at = 0;
  pieces_.clear();
  for (Span w : words) {
    uint32_t size = w.end - w.start;
    out[at] = before;
    std::memcpy(out + at + 1, text_.data + w.start, size);
    out[at + size + 1] = after;
    pieces_.push_back({at, at + size + 2});
    at += size + 2;
  }
  std::memset(out + at, 0, PADDING);
  text_.data = out;
  text_.size = at;
}

// Two or more white space characters become one space; a single one stays.
void Reader::collapse_spaces() {
  uint8_t* out = padded_.reserve(text_.size + PADDING);
  size_t at = 0;
  for (size_t i = 0; i < text_.size;) {
    size_t start = i, count = 0;
    Decoded c = decode_valid(text_.data + i);
    while (i < text_.size && (c = decode_valid(text_.data + i), classify(c.code) & SPACE)) i += c.size, ++count;
    if (count >= 2) {
      out[at++] = ' ';
    } else {
      if (count == 0) i += c.size;
      std::memcpy(out + at, text_.data + start, i - start);
      at += i - start;
    }
  }
  std::memset(out + at, 0, PADDING);
  text_.data = out;
  text_.size = at;
  pieces_.clear();
  if (at) pieces_.push_back({0, uint32_t(at)});
}

}  // namespace linnaeus
