// A linear chain of tags: the best tagging and the marginals of one sequence.
//
// A tagging z of n tokens scores start[z_0] + sum_t E[t, z_t] + sum_{t>0} T[z_{t-1}, z_t]. Rows of scores have `lanes`
// numbers, k tags filled up to whole vectors; what stands in the fill is never an answer.
//   Viterbi 1967: D[t, j] = E[t, j] + max_i D[t-1, i] + T[i, j]; the maximizers are found again on the way back.
//   Rabiner 1989: forward and backward sums of products of e^score, each position scaled to a sum of one. Where that
//   leaves the range of numbers, the sequence is done once more with logarithms.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace linnaeus::chain {

template <class S>
struct Links {
  const S* start;
  const S* T;     // k rows
  size_t stride;  // numbers from one row of T to the next
  size_t k, lanes;
};

// D (n, lanes) from E (n, lanes).
void best_forward(const Links<float>& links, const float* E, size_t n, float* D);
void best_forward(const Links<double>& links, const double* E, size_t n, double* D);

// The lowest of the largest values; `against` only where no other is as large.
template <class Value>
size_t pick(size_t k, int32_t against, Value&& value) {
  size_t found = 0;
  auto best = value(size_t(0));
  for (size_t i = 1; i < k; ++i) {
    auto v = value(i);
    if (v > best || (v == best && int32_t(found) == against)) {
      best = v;
      found = i;
    }
  }
  return found;
}

// The tags of the best tagging, from the end on. Of equals the lowest tag; `gold` (or null) is found only where no
// other tagging is as good: every best tagging that leaves gold has a last place where it does, and there it is taken.
template <class S>
void trace_back(const Links<S>& links, const S* D, size_t n, const int32_t* gold, int32_t* z) {
  const S* last = D + (n - 1) * links.lanes;
  z[n - 1] = int32_t(pick(links.k, gold ? gold[n - 1] : -1, [&](size_t i) { return last[i]; }));
  for (size_t t = n - 1; t-- > 0;) {
    const S *from = D + t * links.lanes, *to = links.T + z[t + 1];
    z[t] = int32_t(pick(links.k, gold ? gold[t] : -1, [&](size_t i) { return from[i] + to[i * links.stride]; }));
  }
}

// Marginals of sequences under one set of links.
class Soft {
 public:
  // Takes e^start and e^T; what `run` adds to the pairs is multiplied by e^T only in `finish`.
  template <class S>
  void prepare(const Links<S>& links);

  // Log of the sum over all taggings; marginals `tags` (n, lanes); weight times the pairs is added to `pairs`.
  template <class S>
  double run(const S* E, size_t n, double weight, double* tags);

  // The pairs (k, lanes) so far, and zeros from then on.
  const double* finish();

 private:
  double by_logs(size_t n, double weight, double* tags);

  size_t k_ = 0, lanes_ = 0;
  double start_high_ = 0, links_high_ = 0;
  std::vector<double> start_, T_, e_start_, e_links_, e_across_;  // scores; e^scores; e^T transposed
  std::vector<double> raw_, slow_, pairs_;                        // pairs over e^T; pairs by logarithms; their sum
  std::vector<double> E_, X_, A_, high_, scale_, v_, B_;
};

}  // namespace linnaeus::chain
