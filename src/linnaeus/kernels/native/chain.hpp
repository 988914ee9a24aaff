// A linear chain of tags: the best tagging and the marginals of one sequence.
//
// A tagging z of n tokens scores start[z_0] + sum_t E[t, z_t] + sum_{t>0} T[z_{t-1}, z_t], of second order also
// sum_{t>1} T2[z_{t-2}, z_{t-1}, z_t]. Rows of scores have `lanes` numbers, k tags filled up to whole vectors; what
// stands in the fill is never an answer. Of second order the loops run over pairs of tags, see chain_second.cpp.
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
  const S* T;     // k rows, and k * k more of second order
  size_t stride;  // numbers from one row of T to the next
  size_t k, lanes;
  bool second;

  const S* pair(size_t before, size_t from) const { return T + (k + before * k + from) * stride; }

  // How much the tags before token t add to tag `to` there.
  S into(const int32_t* z, size_t t, size_t to) const {
    if (!t) return start[to];
    S one = T[size_t(z[t - 1]) * stride + to];
    return second && t > 1 ? one + pair(size_t(z[t - 2]), size_t(z[t - 1]))[to] : one;
  }
};

// Rows that all sequences share: the first tag, transitions, transitions of second order.
inline size_t shared_rows(size_t k, bool second) { return 1 + k + (second ? k * k : 0); }

// D (n, lanes) from E (n, lanes); of second order D (n, k, lanes), where D[0] has one row.
void best_forward(const Links<float>& links, const float* E, size_t n, float* D);
void best_forward(const Links<double>& links, const double* E, size_t n, double* D);
void best_forward_second(const Links<float>& links, const float* E, size_t n, float* D);
void best_forward_second(const Links<double>& links, const double* E, size_t n, double* D);

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

// The same of second order: the last two tags first, then one at a time.
template <class S>
void trace_back_second(const Links<S>& links, const S* D, size_t n, const int32_t* gold, int32_t* z) {
  size_t k = links.k, block = k * links.lanes;
  const S* last = D + (n - 1) * block;
  int32_t against = gold ? gold[n - 1] * int32_t(k) + gold[n - 2] : -1;
  size_t both = pick(k * k, against, [&](size_t i) { return last[i % k * links.lanes + i / k]; });
  z[n - 1] = int32_t(both / k);
  z[n - 2] = int32_t(both % k);
  for (size_t t = n - 2; t-- > 0;) {
    const S* from = D + (t + 1) * block + z[t + 1];
    z[t] = int32_t(pick(k, gold ? gold[t] : -1,
                        [&](size_t i) { return from[i * links.lanes] + links.pair(i, size_t(z[t + 1]))[z[t + 2]]; }));
  }
}

// The best tagging of one sequence, in scratch memory `D`.
template <class S>
void find_best(const Links<S>& links, const S* E, size_t n, const int32_t* gold, std::vector<S>& D, int32_t* z) {
  bool pairs = links.second && n > 1;
  if (size_t size = n * links.lanes * (pairs ? links.k : 1); D.size() < size) D.resize(size);
  if (pairs) {
    best_forward_second(links, E, n, D.data());
    return trace_back_second(links, D.data(), n, gold, z);
  }
  best_forward(links, E, n, D.data());
  trace_back(links, D.data(), n, gold, z);
}

// Marginals of sequences under one set of links.
class Soft {
 public:
  // Takes e^start and e^T; what `run` adds to the pairs is multiplied by e^T only in `finish`.
  template <class S>
  void prepare(const Links<S>& links);

  // Log of the sum over all taggings; marginals `tags` (n, lanes); weight times those of transitions is added up.
  template <class S>
  double run(const S* E, size_t n, double weight, double* tags);

  // The marginals of transitions so far (k or k + k * k rows of lanes), and zeros from then on.
  const double* finish();

 private:
  bool by_products(size_t n, double weight, double* tags);
  bool by_products_second(size_t n, double weight, double* tags);
  double by_logs(size_t n, double weight, double* tags);
  double by_logs_second(size_t n, double weight, double* tags);

  size_t k_ = 0, lanes_ = 0, rows_ = 0;
  bool second_ = false;
  double start_high_ = 0, links_high_ = 0, second_high_ = 0;
  std::vector<double> start_, T_, e_start_, e_links_, e_across_;  // scores; e^scores; e^T transposed
  std::vector<double> raw_, whole_, pairs_;  // sums still to be multiplied by e^T; whole sums; both
  std::vector<double> E_, X_, A_, high_, scale_, v_, B_;
};

}  // namespace linnaeus::chain
