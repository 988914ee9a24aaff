// The texts of a counter, as the numbers of their terms.
#pragma once
#include <cstdint>
#include <vector>

#include "join_terms.hpp"

namespace linnaeus {

using Numbers = std::vector<uint32_t, PageAllocator<uint32_t>>;

// The terms of the texts of one piece of work, by the numbers of the thread that counted them; where pairs are counted
// later, theirs stand apart, by those of the thread that counted these.
struct Recording {
  size_t worker = 0, rows = 0;
  Numbers numbers;
  size_t pair_worker = 0;
  Numbers pairs;
};

// Counts the pairs of neighbors in texts that were recorded as `how many tokens, tokens`, into the threads' tables, and
// records them. Tokens get their joint numbers. Where pairs are wanted that stand in two texts or more, the others are
// told apart first: most of them then never enter a table. Returned: how often those occur.
int64_t count_pairs_later(std::vector<Recording>& recordings, AllCounted& counted, const Ranks& ranks, int64_t least,
                          int threads);

}  // namespace linnaeus
