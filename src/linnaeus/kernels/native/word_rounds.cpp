// Word vectors by negative sampling: skip-gram and continuous bag of words (Mikolov et al. 2013).
//
// Problem: for each word of a text and the words around it, at most `reach` away, where reach is drawn from 1..window:
//   skip-gram  minimize -log sigma(x_c . o_w) - sum_k log sigma(-x_c . o_k) for each word c around w
//   CBOW       the same for the mean of the x_c, whose gradient goes to each of them
// o_k are drawn once for each w, and shared by the words around it (Ji et al. 2016); they come from a pool of words
// that is drawn by the noise for each stretch. The vector of a word is its row, or the mean of the rows of its subwords
// (Bojanowski et al. 2017), each of which gets its whole change, once if it stands in the list several times side by
// side: so the mean moves by just this change. (fastText adds it each time, and words such as ____ may drive all tables
// out of range.) Given: tables, chances, subwords, ids of words (-1: the
// end of a text), clock, shape.  Changed: the tables. Returned: the sum of losses of every 16th step, and the pairs
// that it is of.
#include "word_shards.hpp"

namespace linnaeus {
namespace {

using namespace embed;

struct SkipGram {
  static size_t learn(const Problem& p, Shard& shard, float rate, float* chances) {
    step({shard.chosen.data(), shard.chosen.size()}, {shard.drawn.data(), shard.drawn.size()}, p.size, rate,
         shard.scores.data(), chances);
    for (const float* input : shard.chosen) shard.inputs.count(input, shard.drawn.size());
    for (const float* output : shard.drawn) shard.outputs.count(output, shard.chosen.size());
    return shard.chosen.size();
  }
};

struct Cbow {
  static size_t learn(const Problem& p, Shard& shard, float rate, float* chances) {
    float *mean = shard.hidden.data(), *before = mean + p.size;
    std::fill_n(mean, p.size, 0.0f);
    for (const float* input : shard.chosen) add(mean, input, p.size);
    scale(mean, 1.0f / float(shard.chosen.size()), p.size);
    std::copy_n(mean, p.size, before);
    step({&mean, 1}, {shard.drawn.data(), shard.drawn.size()}, p.size, rate, shard.scores.data(), chances);
    subtract(mean, before, p.size);
    for (float* input : shard.chosen) add(input, mean, p.size), shard.inputs.count(input, shard.drawn.size());
    for (const float* output : shard.drawn) shard.outputs.count(output, 1);
    return 1;
  }
};

template <class Model>
Outcome rounds(Tables tables, Words words, Subwords subwords, In<int32_t> text, std::tuple<Clock, Shape> plan,
               int threads) {
  nb::gil_scoped_release release;
  return run_rounds<Model>(Problem(tables, words, subwords, text, std::get<0>(plan), std::get<1>(plan)), threads);
}

template <class Model>
void bind_as(nb::module_& m, const char* name) {
  using namespace nb::literals;
  m.def(name, &rounds<Model>, "tables"_a.noconvert(), "words"_a, "subwords"_a, "text"_a, "plan"_a, "threads"_a);
}

}  // namespace

void bind_word_rounds(nb::module_& m) {
  bind_as<SkipGram>(m, "skipgram_rounds");
  bind_as<Cbow>(m, "cbow_rounds");
}

}  // namespace linnaeus
