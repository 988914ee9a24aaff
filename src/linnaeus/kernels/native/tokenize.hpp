// Tokens of a normalized text, as spans of its bytes.
//
// 64 bytes at a time are turned into bit masks (word character or not), so that token edges fall out of shifts and
// counts of bits. Bytes outside ASCII count as part of a run at first; only runs that hold one are cut again by
// character. kernels/reference/tokens.py defines every tokenizer.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "normalize.hpp"

namespace linnaeus {

enum class Tokenizer : int { words = 0, scikit = 1, whitespace = 2, characters = 3, bytes = 4, edges = 5 };

struct Span {
  uint32_t start, end;
};
using Spans = std::span<const Span>;

class Tokens {
 public:
  // The tokens of `text`; they live until the next call.
  Spans split(const Text& text, Tokenizer tokenizer);

 private:
  void find_runs(const Text& text, Tokenizer tokenizer);
  void cut_runs(const Text& text, Tokenizer tokenizer);
  Spans with_edges(const Text& text);

  std::vector<uint64_t> masks_, joined_;
  std::vector<Span> runs_;  // only grows: the first run_count_ are valid
  size_t run_count_ = 0;
  std::vector<Span> cut_, edged_;
};

}  // namespace linnaeus
