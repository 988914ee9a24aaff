// What a plan asks for: which units of a text become terms.
#pragma once
#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "normalize.hpp"
#include "tokenize.hpp"

namespace linnaeus {

enum class Unit : int { words = 0, inside = 1, across = 2, subwords = 3, skips = 4 };

// (unit, case, tokenizer, low, high, gap): n-grams of low to high units; skip-grams over at most `gap` words.
using PlanCode = std::array<int, 6>;

struct Plan {
  Unit unit;
  Case change;
  Tokenizer tokenizer;
  int low, high, gap;

  explicit Plan(const PlanCode& code)
      : unit(Unit(code[0])),
        change(Case(code[1])),
        tokenizer(Tokenizer(code[2])),
        low(code[3]),
        high(code[4]),
        gap(code[5]) {
    check();
  }
  // A bound on the terms that a byte of text can make: a rough one, used for address space only.
  size_t terms_per_byte() const { return 3 * (size_t(unit == Unit::skips ? gap : high - low) + 2); }
  bool of_words() const { return unit == Unit::words || unit == Unit::skips; }

 private:
  // As kernels/plan.py checks it: numbers out of range would lead loops out of their arrays.
  void check() const {
    auto within = [](int value, int least, int most) { return least <= value && value <= most; };
    bool cut = unit == Unit::inside || unit == Unit::subwords;
    if (!within(int(unit), 0, 4) || !within(int(change), 0, 2) || !within(int(tokenizer), 0, 5))
      throw std::invalid_argument("the plan names a unit, a case or a tokenizer that does not exist");
    if (!within(low, 1, high) || !within(high, 1, 64) || !within(gap, 0, 64))
      throw std::invalid_argument("the plan's n-grams do not run from at least 1 to at most 64, or its gap does not");
    if (unit == Unit::skips && (low != 2 || high != 2))
      throw std::invalid_argument("the plan's skip-grams are not pairs");
    if (cut && (tokenizer == Tokenizer::bytes || tokenizer == Tokenizer::edges))
      throw std::invalid_argument("the plan cuts bytes or marks into characters");
  }
};

// The words or padded words of a text, and the character n-grams of one of them. One reader serves one thread.
class Reader {
 public:
  explicit Reader(const Plan& plan) : plan_(plan) {}

  // Normalizes the text and cuts it into what the plan's n-grams are taken from.
  Spans read(const uint8_t* data, size_t size);

  // The same in stretches that fit the cache, so that a long text takes no more memory than a short one: calls
  // use(spans) for one after the other. Stretches end behind white space, where no word and no change of case reaches
  // across; a text without any is one stretch, and so is one whose n-grams cross words.
  template <class Use>
  void read_stretches(const uint8_t* data, size_t size, Use&& use);
  const Text& text() const { return text_; }

  // Calls use(start, size) for each character n-gram of the bytes p[0..n): a padded word, or a whole text.
  template <class Use>
  void grams(const uint8_t* p, size_t n, Use&& use);

  // Hands back the memory of an enormous text.
  void trim() {
    scratch_.trim(1 << 22);
    padded_.trim(1 << 22);
  }

 private:
  static constexpr size_t STRETCH = size_t(32) << 10;

  static void refuse_enormous(size_t size);
  static size_t stretch_end(const uint8_t* data, size_t size, size_t start);
  Spans mark_edge() {
    edge_ = {uint32_t(text_.size), uint32_t(text_.size + 1)};
    return {&edge_, 1};
  }
  Spans cut(Tokenizer tokenizer);
  void pad_words(Spans words, uint8_t before, uint8_t after);
  void collapse_spaces();

  Plan plan_;
  Scratch scratch_, padded_;
  Tokens tokens_;
  Text text_;
  Span edge_;
  std::vector<Span> pieces_;
  std::vector<uint32_t> bounds_;
};

template <class Use>
void Reader::read_stretches(const uint8_t* data, size_t size, Use&& use) {
  if (size <= STRETCH || plan_.unit == Unit::across) return use(read(data, size));
  refuse_enormous(size);
  bool edges = plan_.tokenizer == Tokenizer::edges, begun = false;
  for (size_t start = 0, end; start < size; start = end) {
    end = stretch_end(data, size, start);
    text_ = normalize(data + start, end - start, plan_.change, scratch_);
    Spans spans = cut(edges ? Tokenizer::words : plan_.tokenizer);
    if (spans.empty()) continue;
    if (edges && !begun) use(mark_edge());
    begun = true;
    use(spans);
  }
  if (edges && begun) use(mark_edge());
}

template <class Use>
void Reader::grams(const uint8_t* p, size_t n, Use&& use) {
  bounds_.clear();
  for (size_t i = 0; i < n; ++i)
    if ((p[i] & 0xC0) != 0x80) bounds_.push_back(uint32_t(i));
  size_t length = bounds_.size();
  bounds_.push_back(uint32_t(n));
  bool whole = plan_.unit == Unit::subwords;
  if (whole) use(p, n);
  for (size_t size = plan_.low; size <= size_t(plan_.high); ++size) {
    if (size > length || (whole && size == length)) {
      // A padded word shorter than its n-grams counts once, as scikit-learn's char_wb does.
      if (plan_.unit == Unit::inside && length) use(p, n);
      break;
    }
    for (size_t i = 0; i + size <= length; ++i) use(p + bounds_[i], bounds_[i + size] - bounds_[i]);
    if (plan_.unit == Unit::inside && size == length) break;
  }
}

}  // namespace linnaeus
