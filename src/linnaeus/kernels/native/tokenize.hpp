// Tokens of a normalized text, as spans of its bytes.
//
// 64 bytes at a time are turned into bit masks (word character or not), so that token edges fall out of shifts and
// counts of bits. Bytes outside ASCII count as part of a run at first; only runs that hold one are cut again by
// character. kernels/reference/tokens.py defines every tokenizer.
#pragma once
#include <cstdint>
#include <vector>

#include "normalize.hpp"

namespace linnaeus {

enum class Tokenizer : int { words = 0, scikit = 1, whitespace = 2, characters = 3, bytes = 4 };

struct Span {
  uint32_t start, end;
};

class Tokens {
 public:
  // The tokens of `text`; they live until the next call.
  const std::vector<Span>& split(const Text& text, Tokenizer tokenizer);

 private:
  void find_runs(const Text& text, Tokenizer tokenizer);
  void cut_runs(const Text& text, Tokenizer tokenizer);

  std::vector<uint64_t> masks_, joined_;
  std::vector<uint32_t> edges_;  // starts and ends in turn; only grows: the first edge_count_ are valid
  size_t edge_count_ = 0;
  std::vector<Span> spans_;
};

}  // namespace linnaeus
