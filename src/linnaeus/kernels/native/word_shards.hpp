// Word vectors learned by several threads with the same bits for any number of them.
//
// A round is cut into shards: as many stretches of words, one behind the other. A shard works on copies of the rows
// that it touches, made when it first touches them; other shards do not see its changes. At the end of the round the
// changes are added to the tables, shard by shard, each row on its own. So nothing depends on who works when.
#pragma once
#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "parallel.hpp"
#include "together.hpp"
#include "word_steps.hpp"

namespace linnaeus::embed {

template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Tables = std::tuple<Table<float>, Table<float>>;              // inputs (rows, size), outputs (words, size)
using Words = std::tuple<In<uint32_t>, In<uint32_t>, In<int32_t>>;  // chance to be kept; noise: chance, alias
using Subwords = std::tuple<In<int64_t>, In<int32_t>>;              // rows of each word; empty: its own number
using Clock = std::tuple<uint64_t, uint64_t, In<double>>;           // key, first round, rate of each round
using Shape = std::tuple<int, int, int, int, int>;                  // window, negatives, shards, stretch, pool
using Outcome = std::tuple<double, int64_t>;                        // sum of losses, pairs they are of

[[noreturn]] inline void refuse(const char* why) { throw std::invalid_argument(why); }

// Random numbers of one shard in one round, from a counter (SplitMix64).
class Draws {
 public:
  Draws(uint64_t key, uint64_t round, uint64_t shard)
      : at_(mix(mix(key + (round + 1) * kStep) + (shard + 1) * kStep)) {}
  uint64_t next() { return mix(at_ += kStep); }

 private:
  static constexpr uint64_t kStep = 0x9E3779B97F4A7C15;
  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  uint64_t at_;
};

// The rows of one table that a shard has touched: for each the vector as the round found it, and as it is now.
class Copies {
 public:
  Copies(size_t most, size_t size) : size_(size), data_(2 * most * size) {
    size_t slots = 16;
    while (slots < 2 * most) slots *= 2;
    slots_.assign(slots, -1);
    rows_.reserve(most), updates_.reserve(most);
  }

  // The vector of a row; the first time, `fill(vector)` makes it.
  template <class Fill>
  float* find(int32_t row, Fill&& fill) {
    const size_t mask = slots_.size() - 1;
    size_t slot = (uint32_t(row) * uint64_t(0x9E3779B1) >> 7) & mask;
    for (int32_t held; (held = slots_[slot]) >= 0; slot = (slot + 1) & mask)
      if (rows_[size_t(held)].row == row) return now(size_t(held));
    slots_[slot] = int32_t(rows_.size());
    rows_.push_back({row, slot});
    updates_.push_back(0);
    float* vector = now(rows_.size() - 1);
    fill(vector);
    std::copy_n(vector, size_, vector + size_);
    return vector;
  }

  size_t count() const { return rows_.size(); }
  int32_t row(size_t i) const { return rows_[i].row; }
  float* now(size_t i) { return data_.get() + 2 * i * size_; }

  const float* before(size_t i) { return now(i) + size_; }
  // Counts updates of a vector that `find` gave.
  void count(const float* vector, size_t updates) {
    updates_[size_t(vector - data_.get()) / (2 * size_)] += int64_t(updates);
  }
  int64_t updates(size_t i) const { return updates_[i]; }

  void forget() {
    for (const Held& held : rows_) slots_[held.slot] = -1;
    rows_.clear();
    updates_.clear();
  }

 private:
  struct Held {
    int32_t row;
    size_t slot;
  };
  size_t size_;
  Buffer<float> data_;
  std::vector<int32_t> slots_;
  std::vector<Held> rows_;
  std::vector<int64_t> updates_;
};

// The arrays of a training, checked against each other.
struct Problem {
  float *inputs, *outputs;
  size_t rows, words, size;
  const uint32_t *keep, *noise;
  const int32_t *alias, *part;
  const int64_t* parts;  // null: the row of a word is its number
  const int32_t* ids;
  size_t n;
  uint64_t key, first;
  const double* rates;
  size_t rounds, window, negatives, shards, stretch, pool;

  Problem(Tables& tables, const Words& given, const Subwords& subwords, const In<int32_t>& text, const Clock& clock,
          const Shape& shape) {
    auto& [in, out] = tables;
    inputs = in.data(), outputs = out.data();
    rows = in.shape(0), words = out.shape(0), size = out.shape(1);
    if (in.shape(1) != size || !size || size % kLanes) refuse("the tables do not have lines of 16 numbers");
    auto& [kept, chance, other] = given;
    if (kept.size() != words || chance.size() != words || other.size() != words || !words || words >> 31)
      refuse("there is not one chance for each word");
    keep = kept.data(), noise = chance.data(), alias = other.data();
    for (size_t i = 0; i < words; ++i)
      if (size_t(uint32_t(alias[i])) >= words) refuse("the noise names a word that does not exist");
    check_parts(subwords);
    ids = text.data(), n = text.size();
    for (size_t i = 0; i < n; ++i)
      if (ids[i] < -1 || ids[i] >= int64_t(words)) refuse("the text names a word that does not exist");
    key = std::get<0>(clock), first = std::get<1>(clock);
    rates = std::get<2>(clock).data(), rounds = std::get<2>(clock).size();
    auto [w, k, s, l, q] = shape;
    if (w < 1 || w > 1000 || k < 0 || size_t(k) >= kMostOutputs || s < 1 || s > 1024 || l < 1 || l > (1 << 24) ||
        q < 1 || q > (1 << 24))
      refuse("the window, the negatives, the shards, the stretch or the pool is out of range");
    window = size_t(w), negatives = size_t(k), shards = size_t(s), stretch = size_t(l), pool = size_t(q);
    if (n > rounds * shards * stretch) refuse("there are not as many rounds as the text needs");
  }

  void check_parts(const Subwords& subwords) {
    auto& [offsets, list] = subwords;
    parts = offsets.size() ? offsets.data() : nullptr, part = list.data();
    if (!parts && rows != words) refuse("there is not one input row for each word");
    if (!parts) return;
    if (offsets.size() != words + 1 || parts[0] != 0 || parts[words] != int64_t(list.size()))
      refuse("the rows of words do not fit the words");
    for (size_t i = 0; i < words; ++i)
      if (parts[i + 1] <= parts[i]) refuse("a word has no rows");
    for (size_t i = 0; i < list.size(); ++i)
      if (size_t(uint32_t(part[i])) >= rows) refuse("a word names a row that does not exist");
  }

  // The vector of a word: the mean of its rows.
  void read_input(int32_t word, float* vector) const {
    if (!parts) {
      std::copy_n(inputs + size_t(word) * size, size, vector);
      return;
    }
    std::fill_n(vector, size, 0.0f);
    for (int64_t i = parts[word]; i < parts[word + 1]; ++i) add(vector, inputs + size_t(part[i]) * size, size);
    scale(vector, 1.0f / float(parts[word + 1] - parts[word]), size);
  }
};

// A word of noise with its output vector.
struct Noise {
  float* output;
  int32_t word;
};

// A word of a stretch with its two vectors.
struct Place {
  float *input, *output;
  int32_t word;
};

// What one shard works with: its copies, its words, scratch.
struct Shard {
  Copies inputs, outputs;
  std::vector<Place> places;
  std::vector<size_t> ends;  // of sentences among the places
  std::vector<Noise> pool;
  std::vector<float*> chosen, drawn;
  std::vector<int32_t> drawn_words;
  std::vector<float> scores, chances, hidden;
  double loss = 0;
  int64_t pairs = 0;

  explicit Shard(const Problem& p)
      : inputs(std::min(p.words, p.stretch), p.size),
        outputs(std::min(p.words, p.stretch + p.pool), p.size),
        scores(2 * p.window * (1 + p.negatives)),
        chances(scores.size()),
        hidden(2 * p.size) {
    places.reserve(p.stretch), ends.reserve(p.stretch + 1), chosen.reserve(2 * p.window);
    pool.reserve(p.pool), drawn.reserve(1 + p.negatives), drawn_words.reserve(1 + p.negatives);
  }

  float* output(const Problem& p, int32_t word) {
    return outputs.find(word, [&](float* to) { std::copy_n(p.outputs + size_t(word) * p.size, p.size, to); });
  }

  // The words of a stretch that stay (Mikolov et al. 2013: frequent ones are left out at random).
  void choose(const Problem& p, size_t begin, size_t end, Draws& draws) {
    places.clear(), ends.clear();
    for (size_t i = begin; i < end; ++i) {
      int32_t word = p.ids[i];
      if (word < 0) {
        ends.push_back(places.size());
      } else if (uint32_t(draws.next() >> 32) <= p.keep[word]) {
        float* input = inputs.find(word, [&](float* to) { p.read_input(word, to); });
        places.push_back({input, output(p, word), word});
      }
    }
    ends.push_back(places.size());
  }

  // Words of noise for all steps of a stretch: fewer rows are touched than if each step drew its own.
  void fill_pool(const Problem& p, Draws& draws) {
    pool.clear();
    for (size_t k = 0; k < p.pool; ++k) {
      uint64_t z = draws.next();
      size_t slot = size_t((z >> 32) * p.words >> 32);
      int32_t word = uint32_t(z) <= p.noise[slot] ? int32_t(slot) : p.alias[slot];
      pool.push_back({output(p, word), word});
    }
  }

  // The output vectors of a step: that of the word, then noise from the pool, each word once.
  void draw(const Problem& p, const Place& center, Draws& draws) {
    drawn.assign(1, center.output);
    drawn_words.assign(1, center.word);
    for (size_t k = 0; k < p.negatives; ++k) {
      const Noise& noise = pool[size_t((draws.next() >> 32) * pool.size() >> 32)];
      if (std::find(drawn_words.begin(), drawn_words.end(), noise.word) != drawn_words.end()) continue;
      drawn.push_back(noise.output);
      drawn_words.push_back(noise.word);
    }
  }

  // The loss of a step, from the chances before it.
  void count(size_t inputs_of_step) {
    const size_t width = drawn.size();
    for (size_t i = 0; i < inputs_of_step; ++i)
      for (size_t t = 0; t < width; ++t) {
        double chance = double(chances[i * width + t]);
        loss -= elementary::log(std::max(t ? 1.0 - chance : chance, 1e-12));
      }
    pairs += int64_t(inputs_of_step);
  }
};

// The share of a difference that is left after some updates: they pull a vector to where they want it, wherever it is.
constexpr double kPull = 0.3;

inline float stays(int64_t updates, float rate) {
  return float(elementary::exp(-kPull * double(rate) * double(updates)));
}

constexpr size_t kLossEvery = 16;  // the loss is that of every 16th step

// All words of a shard in order; `Model::learn(problem, shard, center, rate, chances)` takes one step, where
// shard.chosen holds the words around the center.
template <class Model>
void run_shard(const Problem& p, Shard& shard, size_t round, size_t number) {
  Draws draws(p.key, p.first + round, number);
  size_t begin = std::min(p.n, (round * p.shards + number) * p.stretch), end = std::min(p.n, begin + p.stretch);
  const float rate = float(p.rates[round]);
  shard.inputs.forget(), shard.outputs.forget();
  shard.choose(p, begin, end, draws);
  shard.fill_pool(p, draws);
  size_t start = 0, steps = 0;
  for (size_t stop : shard.ends) {
    for (size_t i = start; i < stop; ++i) {
      const Place& center = shard.places[i];
      size_t reach = 1 + size_t((draws.next() >> 32) * p.window >> 32);
      shard.chosen.clear();
      for (size_t j = i - std::min(reach, i - start); j < std::min(stop, i + reach + 1); ++j)
        if (j != i) shard.chosen.push_back(shard.places[j].input);
      if (shard.chosen.empty()) continue;
      shard.draw(p, center, draws);
      bool counted = steps++ % kLossEvery == 0;
      size_t taken = Model::learn(p, shard, rate, counted ? shard.chances.data() : nullptr);
      if (counted) shard.count(taken);
    }
    start = stop;
  }
}

// Columns of the tables, with room for as many numbers.
struct Columns {
  size_t from, to;
  float* change;
};

// Puts the vectors of all shards together, columns `from` to `to` of the tables, in the order of the shards.
inline void merge(const Problem& p, std::vector<Shard>& shards, float rate, Columns columns) {
  const auto [from, to, change] = columns;
  const size_t wide = to - from;
  for (Shard& shard : shards) {
    for (size_t i = 0; i < shard.outputs.count(); ++i)
      join(p.outputs + size_t(shard.outputs.row(i)) * p.size + from, shard.outputs.before(i) + from,
           shard.outputs.now(i) + from, stays(shard.outputs.updates(i), rate), wide);
    for (size_t i = 0; i < shard.inputs.count(); ++i) {
      size_t word = size_t(shard.inputs.row(i));
      const float *before = shard.inputs.before(i) + from, *now = shard.inputs.now(i) + from;
      float stay = stays(shard.inputs.updates(i), rate);
      if (!p.parts) {
        join(p.inputs + word * p.size + from, before, now, stay, wide);
        continue;
      }
      std::fill_n(change, wide, 0.0f);
      for (int64_t at = p.parts[word]; at < p.parts[word + 1]; ++at)
        add(change, p.inputs + size_t(p.part[at]) * p.size + from, wide);
      scale(change, 1.0f / float(p.parts[word + 1] - p.parts[word]), wide);
      differ(change, before, now, stay, wide);
      for (int64_t at = p.parts[word]; at < p.parts[word + 1]; ++at)
        if (at == p.parts[word] || p.part[at] != p.part[at - 1])
          add(p.inputs + size_t(p.part[at]) * p.size + from, change, wide);
    }
  }
}

// All rounds. Threads take the next shard of a round in turn, then each merges some columns of the tables. Ctrl-C is
// seen by Python between two calls, when the tables are whole.
template <class Model>
Outcome run_rounds(const Problem& p, int threads) {
  std::vector<Shard> shards = make_workers<Shard>(int(p.shards), p);
  std::vector<std::atomic<size_t>> next(p.rounds);
  work_together(std::min<size_t>(size_t(std::max(threads, 1)), p.shards), [&](Team team) {
    const size_t lines = p.size / kLanes;
    const size_t from = lines * team.worker / team.workers, to = lines * (team.worker + 1) / team.workers;
    std::vector<float> change(p.size);
    for (size_t round = 0; round < p.rounds; ++round) {
      for (size_t s; (s = next[round].fetch_add(1)) < p.shards;) run_shard<Model>(p, shards[s], round, s);
      team.meet();
      if (from < to) merge(p, shards, float(p.rates[round]), {from * kLanes, to * kLanes, change.data()});
      team.meet();
    }
  });
  Outcome sum{0.0, 0};
  for (const Shard& shard : shards) std::get<0>(sum) += shard.loss, std::get<1>(sum) += shard.pairs;
  return sum;
}

}  // namespace linnaeus::embed
