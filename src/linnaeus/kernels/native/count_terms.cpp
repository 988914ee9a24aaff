// The distinct terms of a stream of texts: an exact vocabulary in the making.
//
// Given UTF-8 texts, batch after batch, and a plan; returned at the end, every distinct term with the number of texts
// it stands in and the number of times it occurs. Each thread counts into tables of its own; at the end they are joined
// and put in order by the bytes of the tokens, so that the result depends neither on threads nor on batches.
//
// A counter that records keeps the numbers of the terms of every text, four bytes for each: once the terms have their
// columns, the rows of the same texts follow without reading a text again. Of words and pairs it counts the pairs last,
// from what it recorded: those that come once, most of all, then need no place in a table (see recorded.hpp).
#include <nanobind/stl/array.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <utility>

#include "arrays.hpp"
#include "dense_counter.hpp"
#include "parallel.hpp"
#include "recorded.hpp"
#include "rows.hpp"
#include "texts.hpp"

namespace linnaeus {
namespace {

constexpr int MOST_CLASSES = 65536;

nb::tuple gram_arrays(Grams& grams, int token_bits) {
  Buffer<int32_t> parents(grams.size()), last(grams.size());
  Buffer<int64_t> documents(grams.size()), counts(grams.size());
  for (size_t i = 0; i < grams.size(); ++i) {
    parents[i] = int32_t(grams[i].key >> token_bits);
    last[i] = int32_t(grams[i].key & ((1ull << token_bits) - 1));
    documents[i] = grams[i].documents;
    counts[i] = grams[i].count;
  }
  grams = Grams();
  return nb::make_tuple(to_numpy(std::move(parents)), to_numpy(std::move(last)), to_numpy(std::move(documents)),
                        to_numpy(std::move(counts)));
}

}  // namespace

class TermCounter {
 public:
  TermCounter(PlanCode code, bool record)
      : plan_(code), record_(record), later_(record && plan_.unit == Unit::words && plan_.high == 2) {}
  TermCounter(const TermCounter&) = delete;
  TermCounter& operator=(const TermCounter&) = delete;

  void add(In<uint8_t> data, In<int64_t> offsets, int threads) {
    if (finished_) throw nb::value_error("add: a finished counter takes no more texts");
    if (classes_) throw nb::value_error("add: the texts of this counter have labels");
    Texts texts(data, offsets);
    nb::gil_scoped_release release;
    while (counted_.size() < size_t(std::max(threads, 1)))
      counted_.push_back(std::make_unique<Counted>(plan_, later_ ? 1 : plan_.high));
    std::vector<size_t> cuts = cut_pieces(texts.at, texts.size);
    size_t before = recordings_.size();
    if (record_) recordings_.resize(before + cuts.size() - 1);
    std::vector<LargeVector<uint32_t>> numbers(std::max(threads, 1));
    for_each_piece(cuts.size() - 1, threads, [&](size_t piece, int worker) {
      Counted& c = *counted_[worker];
      Recording* r = record_ ? &recordings_[before + piece] : nullptr;
      for (size_t row = cuts[piece]; row < cuts[piece + 1]; ++row)
        c.count(texts.begin(row), size_t(texts.end(row) - texts.begin(row)), r ? &numbers[worker] : nullptr);
      if (r) {
        r->worker = size_t(worker);
        r->rows = cuts[piece + 1] - cuts[piece];
        r->numbers.assign(numbers[worker].begin(), numbers[worker].end());
        numbers[worker].clear();
      }
      c.trim();
    });
  }

  // The same of texts of words that belong to one of k classes each: terms are counted for each class too, and
  // nothing is recorded.
  void add_labeled(In<uint8_t> data, In<int64_t> offsets, In<int32_t> labels, int k, int threads) {
    if (finished_ || record_)
      throw nb::value_error("add_labeled: a counter that records or is finished takes no labels");
    if (plan_.unit != Unit::words) throw nb::value_error("add_labeled: only n-grams of words are counted by class");
    if (k < 1 || k > MOST_CLASSES || (classes_ ? classes_ != k : !counted_.empty()))
      throw nb::value_error("add_labeled: all texts have one of the same k classes");
    Texts texts(data, offsets);
    if (labels.size() != texts.size) throw nb::value_error("add_labeled: there must be a label for each text");
    for (size_t i = 0; i < labels.size(); ++i)
      if (labels.data()[i] < 0 || labels.data()[i] >= k) throw nb::value_error("add_labeled: a label is no class");
    const int32_t* label = labels.data();
    nb::gil_scoped_release release;
    classes_ = k;
    while (counted_.size() < size_t(std::max(threads, 1)))
      counted_.push_back(std::make_unique<Counted>(plan_, plan_.high));
    std::vector<size_t> cuts = cut_pieces(texts.at, texts.size);
    for_each_piece(cuts.size() - 1, threads, [&](size_t piece, int worker) {
      Counted& c = *counted_[worker];
      for (size_t row = cuts[piece]; row < cuts[piece + 1]; ++row)
        c.count_labeled(texts.begin(row), size_t(texts.end(row) - texts.begin(row)), uint32_t(label[row]), uint32_t(k));
      c.trim();
    });
  }

  // (token bytes, token offsets, token documents, token counts, [(parents, tokens, documents, counts) for n = 2 ...],
  // left out); nothing can be added afterwards. Terms that stand in fewer than `least` texts are left out before
  // anything is sorted, and with them all that they begin: they are most of all terms, and a vocabulary seldom wants
  // them. Tokens stay where all would go. The last number says how often those left out occur that are as long as the
  // plan wants them.
  nb::tuple finish(int64_t least, int threads) {
    if (std::exchange(finished_, true)) throw nb::value_error("finish: a counter is finished once");
    JoinedTokens tokens;
    std::vector<Grams> orders;
    int token_bits = 0;
    Frequent frequent{least};
    {
      nb::gil_scoped_release release;
      ranks_.resize(1);
      tokens = join_tokens(counted_, ranks_[0], frequent);
      if (plan_.of_words() && plan_.low > 1) frequent.left_out = 0;
      for (auto& c : counted_) c->tokens.clear(), c->stats = {}, c->cache.forget_words();
      token_bits = int(std::bit_width(tokens.documents.size()));
      if (later_) frequent.left_out += count_pairs(tokens.documents.size(), least, threads);
      size_t parents = tokens.documents.size();
      starts_ = {0, parents};
      for (int size = 2; plan_.of_words() && size <= plan_.high; ++size) {
        ranks_.push_back(ranks_.back());
        GramKeys keys{token_bits + int(std::bit_width(parents)), token_bits};
        orders.push_back(join_grams(counted_, size, ranks_[0], ranks_.back(), keys, frequent, threads));
        if (size < plan_.low) frequent.left_out = 0;
        parents = orders.back().size();
        starts_.push_back(starts_.back() + parents);
      }
      if (!record_ && !classes_) counted_.clear(), ranks_.clear();
    }
    nb::list grams;
    for (auto& order : orders) grams.append(gram_arrays(order, token_bits));
    return nb::make_tuple(to_numpy(tokens.bytes), to_numpy(tokens.offsets), to_numpy(tokens.documents),
                          to_numpy(tokens.counts), grams, frequent.left_out);
  }

  // The rows of the recorded texts, where term i (tokens first, then n = 2 ...) has columns[i], or none if that is
  // negative; single tokens without a column count in column `unknown` unless that is negative. The recording is used
  // up.
  nb::tuple replay(In<int32_t> columns, std::array<int32_t, 2> layout, int threads) {
    auto [width, unknown] = layout;
    if (!finished_ || !std::exchange(record_, false)) throw nb::value_error("replay: nothing is recorded and finished");
    if (unknown >= width) throw nb::value_error("replay: the unknown column is outside the matrix");
    if (columns.size() != starts_.back()) throw nb::value_error("replay: there must be a column for each term");
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns.data()[i] >= width) throw nb::value_error("replay: a column is outside the matrix");
    {
      nb::gil_scoped_release release;
      renumber(columns.data(), unknown);
    }
    size_t numbers = 0;
    for (const Recording& r : recordings_) numbers += r.numbers.size() + r.pairs.size();
    int bits = std::max(1, int(std::bit_width(uint32_t(std::max(width, 1) - 1))));
    std::vector<Player> players;
    for (int i = 0; i < std::max(threads, 1); ++i) players.emplace_back(plan_.of_words() ? 0 : size_t(width));
    size_t most = plan_.of_words() ? numbers : numbers * WordCache::LONGEST * size_t(plan_.high - plan_.low + 2);
    auto made = join_rows(recordings_.size(), threads, most, [&](size_t piece, RowBlock& block, int worker) {
      Recording& r = recordings_[piece];
      plan_.of_words() ? play_words(r, players[worker], bits, block) : play_characters(r, players[worker], block);
      Numbers().swap(r.numbers), Numbers().swap(r.pairs);  // what was played is handed back while the rows grow
    });
    counted_.clear(), ranks_.clear(), recordings_.clear();
    return made;
  }

  // How much of each column the texts of each class hold (width, k), with columns as in `replay`; used up, too.
  auto tally(In<int32_t> columns, std::array<int32_t, 2> layout) {
    auto [width, unknown] = layout;
    if (!finished_ || !classes_) throw nb::value_error("tally: nothing is counted by class and finished");
    if (width < 0 || unknown >= width) throw nb::value_error("tally: the unknown column is outside the table");
    if (columns.size() != starts_.back()) throw nb::value_error("tally: there must be a column for each term");
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns.data()[i] >= width) throw nb::value_error("tally: a column is outside the table");
    size_t k = size_t(std::exchange(classes_, 0));
    Buffer<double> sums(size_t(width) * k);
    {
      nb::gil_scoped_release release;
      std::fill(sums.get(), sums.get() + sums.size(), 0.0);
      renumber(columns.data(), unknown);
      for (size_t order = 0; order < ranks_.size(); ++order) {
        if (order > 0 && int(order) + 1 < plan_.low) continue;
        for (size_t t = 0; t < counted_.size(); ++t) sum_classes(order, t, k, sums.get());
      }
      counted_.clear(), ranks_.clear();
    }
    return to_numpy(std::move(sums));
  }

 private:
  void sum_classes(size_t order, size_t thread, size_t k, double* sums) {
    if (counted_[thread]->by_class.empty()) return;
    const auto& counts = counted_[thread]->by_class[order];
    const auto& map = ranks_[order][thread];
    for (size_t node = 0; node < counts.size() / k; ++node)
      for (size_t c = 0; map[node] != ABSENT && c < k; ++c) sums[map[node] * k + c] += double(counts[node * k + c]);
  }

  // Of words and pairs only the words are counted while texts come: with their joint numbers pairs need no others.
  int64_t count_pairs(size_t tokens, int64_t least, int threads) {
    int64_t left_out = count_pairs_later(recordings_, counted_, ranks_[0], least, threads);
    LargeVector<uint32_t> same(tokens);
    std::iota(same.begin(), same.end(), 0u);
    ranks_[0].assign(counted_.size(), same);
    return left_out;
  }

  struct Player {
    explicit Player(size_t width) : dense(width) {}
    Counter counter;
    DenseCounter dense;
    LargeVector<uint32_t> keys;
  };

  // The maps from each thread's numbers become maps to columns.
  void renumber(const int32_t* columns, int32_t unknown) {
    unknown_ = uint32_t(unknown);
    for (size_t order = 0; order < ranks_.size(); ++order)
      for (auto& map : ranks_[order])
        for (uint32_t& number : map) {
          int32_t column = number == ABSENT ? -1 : columns[starts_[order] + number];
          number = column < 0 && order == 0 ? unknown_ : uint32_t(column);
        }
    for (size_t t = 0; t < counted_.size() && !plan_.of_words(); ++t)
      for (uint32_t& term : counted_[t]->cache.terms()) term = ranks_[0][t][term];
  }

  // The columns of the terms that have one; `absent` is that of terms without a number.
  static void take(const uint32_t* numbers, size_t n, const LargeVector<uint32_t>& map, uint32_t absent,
                   LargeVector<uint32_t>& keys) {
    for (size_t i = 0; i < n; ++i) {
      uint32_t column = numbers[i] == ABSENT ? absent : map[numbers[i]];
      if (column != ABSENT) keys.push_back(column);
    }
  }

  void play_words(const Recording& r, Player& player, int bits, RowBlock& block) {
    const uint32_t *at = r.numbers.data(), *pairs = r.pairs.data();
    for (size_t row = 0; row < r.rows; ++row) {
      player.keys.clear();
      size_t n = *at++;
      if (plan_.unit == Unit::skips) {
        take(at, n, ranks_[0][r.worker], unknown_, player.keys);
        at += n;
        n = *at++;
        take(at, n, ranks_[1][r.worker], ABSENT, player.keys);
        at += n;
      } else if (later_) {
        take(at, n, ranks_[0][r.worker], unknown_, player.keys);
        take(pairs, n - (n > 0), ranks_[1][r.pair_worker], ABSENT, player.keys);
        at += n, pairs += n - (n > 0);
      } else {
        for (int size = 1; size <= plan_.high && n >= size_t(size); ++size) {
          if (size > 1 && size < plan_.low) continue;
          take(at, n - size + 1, ranks_[size - 1][r.worker], ABSENT, player.keys);
          at += n - size + 1;
        }
      }
      player.counter.add_counts(player.keys.data(), player.keys.size(), bits, block);
    }
  }

  void play_characters(const Recording& r, Player& player, RowBlock& block) {
    const auto& map = ranks_[0][r.worker];
    const auto& terms = counted_[r.worker]->cache.terms();
    const auto& entries = counted_[r.worker]->cache.entries();
    const uint32_t* at = r.numbers.data();
    for (size_t row = 0; row < r.rows; ++row) {
      for (uint32_t words = *at++; words; --words, at += 2) {
        auto [start, end, ignored] = entries[at[0]];
        for (uint32_t i = start; i < end; ++i)
          if (terms[i] != ABSENT) player.dense.add(terms[i], at[1]);
      }
      for (uint32_t loose = *at++; loose; --loose, ++at)
        if (map[*at] != ABSENT) player.dense.add(map[*at], 1);
      player.dense.finish_row(block);
    }
  }

  Plan plan_;
  bool record_, later_, finished_ = false;
  int classes_ = 0;
  uint32_t unknown_ = ABSENT;
  AllCounted counted_;
  std::vector<Ranks> ranks_;  // ranks_[n - 1][thread]: the n-grams of a thread among all
  std::vector<size_t> starts_{0, 0};
  std::vector<Recording> recordings_;
};

void bind_count_terms(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<TermCounter>(m, "TermCounter")
      .def(nb::init<PlanCode, bool>(), "plan"_a, "record"_a)
      .def("add", &TermCounter::add, "data"_a, "offsets"_a, "threads"_a)
      .def("add_labeled", &TermCounter::add_labeled, "data"_a, "offsets"_a, "labels"_a, "k"_a, "threads"_a)
      .def("tally", &TermCounter::tally, "columns"_a, "layout"_a)
      .def("finish", &TermCounter::finish, "least"_a, "threads"_a)
      .def("replay", &TermCounter::replay, "columns"_a, "layout"_a, "threads"_a);
}

}  // namespace linnaeus
