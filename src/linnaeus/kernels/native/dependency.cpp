// Dependency trees of many sentences: the best tree of each, or the chances of all arcs.
//
// Problem: sentences of tokens, cut by offsets. One of n tokens has n (n+1) scores, those of the arcs into its first
// token from each head, then into the next; sentences one after the other. See dependency.hpp for what a tree is and
// for the algorithms. Sentences are independent, and worked on in pieces that do not depend on the number of threads.
#include "dependency.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {

constexpr int64_t kMostTokens = 1 << 20;  // of one sentence: its squares would not fit in memory long before

[[noreturn]] void refuse(const char* what) { throw std::invalid_argument(std::string("dependency: ") + what); }

struct Sentences {
  const int64_t* offsets;
  size_t n, steps = 0;
  std::vector<size_t> arcs;  // where the scores of each sentence begin, and all end

  Sentences(const In<double>& scores, const In<int64_t>& bounds) : offsets(bounds.data()), arcs{0} {
    if (!bounds.size() || offsets[0] != 0) refuse("the offsets do not begin at 0");
    n = bounds.size() - 1;
    for (size_t i = 0; i < n; ++i) {
      if (offsets[i + 1] < offsets[i] || offsets[i + 1] - offsets[i] > kMostTokens)
        refuse("the offsets fall, or a sentence is too long");
      arcs.push_back(arcs[i] + size(i) * (size(i) + 1));
      if (arcs[i + 1] > scores.size()) break;  // sums of what follows could overflow
      steps += size(i) * size(i) * size(i);
    }
    if (arcs.size() <= n || arcs[n] != scores.size()) refuse("a sentence of n tokens has n (n + 1) scores");
  }

  size_t tokens() const { return size_t(offsets[n]); }
  size_t size(size_t i) const { return size_t(offsets[i + 1] - offsets[i]); }

  // Calls work(i, space) for each sentence.
  template <class Work>
  void each(int threads, Work&& work) const {
    auto spaces = make_workers<dependency::TreeSpace>(threads);
    Interrupts interrupts;
    spaces[0].interrupts = &interrupts;  // worker 0 is the thread that called
    std::vector<size_t> cuts = cut_after(kArcsPerPiece, arcs);
    for_each_piece(cuts.size() - 1, worth(threads, steps), [&](size_t piece, int worker) {
      for (size_t i = cuts[piece]; i < cuts[piece + 1]; ++i) work(i, spaces[size_t(worker)]);
    });
  }
};

using Best = double(const double*, size_t, const int32_t*, dependency::TreeSpace&, int32_t*);
using Soft = double(const double*, size_t, dependency::TreeSpace&, double*);

// Given: scores (a), offsets of tokens (n+1), and heads (m) that lose ties, or nothing.  Changed: the heads (m) of the
// best trees, 0 for the root and j + 1 for token j of the sentence.
template <Best best>
void best_trees(In<double> scores, In<int64_t> offsets, In<int32_t> against, InOut<int32_t> heads, int threads) {
  Sentences sentences(scores, offsets);
  size_t m = sentences.tokens();
  if (heads.size() != m || (against.size() && against.size() != m)) refuse("there is one head for each token");
  const double* S = scores.data();
  const int32_t* gold = against.size() ? against.data() : nullptr;
  int32_t* out = heads.data();
  nb::gil_scoped_release release;
  sentences.each(threads, [&](size_t i, dependency::TreeSpace& space) {
    int64_t first = sentences.offsets[i];
    best(S + sentences.arcs[i], sentences.size(i), gold ? gold + first : nullptr, space, out + first);
  });
}

// Given: scores (a) and offsets of tokens (n+1).  Changed: the chance of each arc (a), and log sum e^score of each
// sentence (n).
template <Soft soft>
void soft_trees(In<double> scores, In<int64_t> offsets, InOut<double> chances, InOut<double> values, int threads) {
  Sentences sentences(scores, offsets);
  if (chances.size() != scores.size() || values.size() != sentences.n) refuse("the results do not fit the scores");
  const double* S = scores.data();
  double *P = chances.data(), *value = values.data();
  nb::gil_scoped_release release;
  sentences.each(threads, [&](size_t i, dependency::TreeSpace& space) {
    size_t arcs = sentences.arcs[i];
    value[i] = soft(S + arcs, sentences.size(i), space, P + arcs);
  });
}

}  // namespace

void bind_dependency(nb::module_& m) {
  using namespace nb::literals;
  auto S = "scores"_a, offsets = "offsets"_a, against = "against"_a, threads = "threads"_a;
  auto heads = "heads"_a.noconvert(), chances = "chances"_a.noconvert(), values = "values"_a.noconvert();
  m.def("dependency_best_projective", &best_trees<dependency::best_projective>, S, offsets, against, heads, threads);
  m.def("dependency_best_spanning", &best_trees<dependency::best_spanning>, S, offsets, against, heads, threads);
  m.def("dependency_soft_projective", &soft_trees<dependency::soft_projective>, S, offsets, chances, values, threads);
  m.def("dependency_soft_spanning", &soft_trees<dependency::soft_spanning>, S, offsets, chances, values, threads);
}

}  // namespace linnaeus
