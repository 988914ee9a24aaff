// Texts to rows of counts under a frozen vocabulary, and the probe tables that make one.
//
// Given UTF-8 texts, a plan and a vocabulary (tokens in order with their bytes, a probe table over them, a column for
// each or -1, and a probe table of n-grams as pairs) and its layout (width, column of unknown tokens); returned, the
// arrays of a CSR matrix with columns sorted within each row. Tokens outside the vocabulary are counted in column
// `unknown` unless that is negative.
#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <bit>

#include "arrays.hpp"
#include "dense_counter.hpp"
#include "grams.hpp"
#include "rows.hpp"
#include "tables.hpp"
#include "texts.hpp"
#include "word_cache.hpp"

namespace linnaeus {
namespace {

struct Vocabulary {
  TokenView tokens;
  PairView pairs;
  const int32_t* columns;
  int32_t unknown;
  uint32_t width;

  // No column outside the matrix reaches a row, whatever a table says.
  bool has(int32_t column) const { return uint32_t(column) < width; }
};

struct Worker {
  Worker(const Plan& plan, int32_t width) : reader(plan), dense(plan.of_words() ? 0 : size_t(width)) {}
  Reader reader;
  Counter counter;
  DenseCounter dense;  // for the many n-grams of characters
  WordCache cache;
  std::vector<TokenKey> token_keys;
  std::vector<uint32_t> ids, nodes, keys;
  std::vector<uint64_t> pair_keys;
};

void find_tokens(Worker& w, const Vocabulary& v, Spans spans) {
  const uint8_t* data = w.reader.text().data;
  w.token_keys.clear();
  for (Span s : spans) {
    w.token_keys.emplace_back(data + s.start, s.end - s.start);
    prefetch(v.tokens.slots + (w.token_keys.back().hash & v.tokens.mask));
  }
  w.ids.resize(spans.size());
  for (size_t i = 0; i < spans.size(); ++i)
    w.ids[i] = v.tokens.find(w.token_keys[i], data + spans[i].start, spans[i].end - spans[i].start);
  if (v.unknown >= 0)
    for (uint32_t id : w.ids)
      if (id == ABSENT || !v.has(v.columns[id])) w.keys.push_back(uint32_t(v.unknown));
}

// Looks up the pairs in w.pair_keys (NO_PAIR: nothing to look up); their nodes replace w.nodes, their columns are kept.
void find_pairs(Worker& w, const Vocabulary& v) {
  constexpr size_t ahead = 16;
  size_t n = w.pair_keys.size();
  w.nodes.resize(n);
  for (size_t i = 0; i < std::min(n, ahead); ++i) prefetch(v.pairs.start(w.pair_keys[i]));
  for (size_t i = 0; i < n; ++i) {
    if (i + ahead < n) prefetch(v.pairs.start(w.pair_keys[i + ahead]));
    const PairSlot* s = w.pair_keys[i] == NO_PAIR ? nullptr : v.pairs.find(w.pair_keys[i]);
    w.nodes[i] = s ? s->node : ABSENT;
    if (s && v.has(s->column)) w.keys.push_back(uint32_t(s->column));
  }
}

uint64_t key_of(uint32_t parent, uint32_t token) {
  return parent == ABSENT || token == ABSENT ? NO_PAIR : pair_key(parent, token);
}

void word_keys(Worker& w, const Plan& plan, const Vocabulary& v, Spans spans) {
  find_tokens(w, v, spans);
  for (uint32_t id : w.ids)
    if (id != ABSENT && v.has(v.columns[id])) w.keys.push_back(uint32_t(v.columns[id]));
  size_t n = w.ids.size();
  w.nodes.assign(w.ids.begin(), w.ids.end());
  for (int size = 2; size <= plan.high && n >= size_t(size); ++size) {
    size_t count = n - size + 1;
    w.pair_keys.resize(count);
    for (size_t i = 0; i < count; ++i) w.pair_keys[i] = key_of(w.nodes[i], w.ids[i + size - 1]);
    find_pairs(w, v);
  }
}

void skip_keys(Worker& w, const Plan& plan, const Vocabulary& v, Spans spans) {
  find_tokens(w, v, spans);
  size_t n = w.ids.size();
  w.pair_keys.clear();
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 2; j <= i + 1 + plan.gap && j < n; ++j) w.pair_keys.push_back(key_of(w.ids[i], w.ids[j]));
  find_pairs(w, v);
}

struct KnownTerms {
  const Vocabulary& v;
  void fetch(const TokenKey& key) const { prefetch(v.tokens.slots + (key.hash & v.tokens.mask)); }
  uint32_t find(const TokenKey& key, const uint8_t* p, size_t n) const {
    uint32_t id = v.tokens.find(key, p, n);
    return id == ABSENT || !v.has(v.columns[id]) ? uint32_t(v.unknown) : uint32_t(v.columns[id]);
  }
};

void count_characters(Worker& w, const Vocabulary& v, Spans spans) {
  w.cache.read(w.reader, w.reader.text().data, spans, KnownTerms{v});
  w.cache.use_terms([&](uint32_t column, uint32_t times) {
    if (column != ABSENT) w.dense.add(column, times);
  });
  w.cache.bound();
}

// Token bytes, token offsets, token slots, columns of the tokens, pair slots.
using Arrays = std::tuple<In<uint8_t>, In<int64_t>, In<uint64_t>, In<int32_t>, In<uint64_t>>;

Vocabulary view(const Arrays& arrays, int32_t width, int32_t unknown) {
  const auto& [bytes, offsets, token_slots, columns, pair_slots] = arrays;
  auto table = [](const In<uint64_t>& slots) { return slots.size() % 2 == 0 && std::has_single_bit(slots.size() / 2); };
  // What lies in the tables was looked at when they were made or loaded; here only that they can be probed.
  if (!table(token_slots) || !table(pair_slots) || offsets.size() != columns.size() + 1 ||
      offsets.data()[columns.size()] > int64_t(bytes.size()))
    throw std::invalid_argument("the arrays of the vocabulary do not fit each other");
  return {{reinterpret_cast<const TokenSlot*>(token_slots.data()), token_slots.size() / 2 - 1, bytes.data(),
           offsets.data()},
          {reinterpret_cast<const PairSlot*>(pair_slots.data()), pair_slots.size() / 2 - 1},
          columns.data(),
          unknown,
          uint32_t(width)};
}

nb::tuple index_terms(In<uint8_t> data, In<int64_t> offsets, PlanCode code, const Arrays& vocabulary,
                      std::array<int32_t, 2> layout, int threads) {
  Plan plan(code);
  auto [width, unknown] = layout;
  if (width < 0 || unknown >= width)
    throw std::invalid_argument("index_terms: the unknown column is outside the width");
  Vocabulary v = view(vocabulary, width, unknown);
  Texts texts(data, offsets);
  const uint8_t* bytes = texts.bytes;
  const int64_t* at = texts.at;
  auto workers = make_workers<Worker>(threads, plan, width);
  int bits = std::max(1, int(std::bit_width(uint32_t(std::max(width, 1) - 1))));
  auto make = [&](size_t first, size_t last, RowBlock& block, int worker) {
    Worker& w = workers[worker];
    for (size_t row = first; row < last; ++row) {
      const auto& spans = w.reader.read(bytes + at[row], size_t(at[row + 1] - at[row]));
      if (!plan.of_words()) {
        count_characters(w, v, spans);
        w.dense.finish_row(block);
        continue;
      }
      w.keys.clear();
      plan.unit == Unit::words ? word_keys(w, plan, v, spans) : skip_keys(w, plan, v, spans);
      w.counter.add_counts(w.keys.data(), w.keys.size(), bits, block);
    }
    w.reader.trim();
  };
  return build_rows(at, texts.size, threads, plan.terms_per_byte(), make);
}

// The size of a table that is at most four fifths full.
size_t table_size(size_t entries) { return std::bit_ceil(std::max<size_t>(16, entries + entries / 4 + 1)); }

auto probe_tokens(In<uint8_t> bytes, In<int64_t> offsets) {
  Texts texts(bytes, offsets);
  size_t n = texts.size, size = table_size(n);
  Buffer<uint64_t> out(2 * size);
  std::fill_n(out.get(), 2 * size, 0);
  {
    nb::gil_scoped_release release;
    auto* slots = reinterpret_cast<TokenSlot*>(out.get());
    std::vector<uint8_t> token;
    for (size_t id = 0; id < n; ++id) {
      size_t length = size_t(texts.end(id) - texts.begin(id));
      token.assign(texts.begin(id), texts.end(id));
      token.resize(length + 8);
      TokenKey k(token.data(), length);
      uint64_t i = k.hash & (size - 1);
      while (slots[i].tag) i = (i + 1) & (size - 1);
      slots[i] = {k.key, uint32_t(id), k.tag};
    }
  }
  return to_numpy(std::move(out));
}

// Entry i is the pair keys[i] = parent << 32 | token, becomes node first + i and has columns[i].
auto probe_pairs(In<uint64_t> keys, In<int32_t> columns, int64_t first) {
  if (keys.size() != columns.size()) throw std::invalid_argument("probe_pairs: a column for each pair is needed");
  size_t n = keys.size(), size = table_size(n);
  Buffer<uint64_t> out(2 * size);
  {
    nb::gil_scoped_release release;
    auto* slots = reinterpret_cast<PairSlot*>(out.get());
    std::fill_n(slots, size, PairSlot{NO_PAIR, 0, -1});
    constexpr size_t ahead = 16;
    for (size_t k = 0; k < n; ++k) {
      if (k + ahead < n) prefetch(slots + (pair_hash(keys.data()[k + ahead]) & (size - 1)));
      uint64_t i = pair_hash(keys.data()[k]) & (size - 1);
      while (slots[i].key != NO_PAIR) i = (i + 1) & (size - 1);
      slots[i] = {keys.data()[k], uint32_t(first + int64_t(k)), columns.data()[k]};
    }
  }
  return to_numpy(std::move(out));
}

}  // namespace

void bind_index_terms(nb::module_& m) {
  using namespace nb::literals;
  m.def("index_terms", &index_terms, "data"_a, "offsets"_a, "plan"_a, "vocabulary"_a, "layout"_a, "threads"_a);
  m.def("probe_tokens", &probe_tokens, "data"_a, "offsets"_a);
  m.def("probe_pairs", &probe_pairs, "keys"_a, "columns"_a, "first"_a);
}

}  // namespace linnaeus
