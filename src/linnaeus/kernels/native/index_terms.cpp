// Texts to rows of counts under a frozen vocabulary, and the probe tables that make one.
//
// Given UTF-8 texts, a plan and a vocabulary (tokens in order with their bytes, a probe table over them, a column for
// each or -1, and a probe table of n-grams as pairs) and its layout (width, column of unknown tokens); returned, the
// arrays of a CSR matrix with columns sorted within each row. Tokens outside the vocabulary are counted in column
// `unknown` unless that is negative.
#include <nanobind/stl/array.h>

#include <algorithm>
#include <bit>

#include "dense_counter.hpp"
#include "lookup.hpp"
#include "rows.hpp"
#include "texts.hpp"
#include "word_cache.hpp"

namespace linnaeus {
namespace {

struct Worker {
  Worker(const Plan& plan, int32_t width) : reader(plan), dense(plan.of_words() ? 0 : size_t(width)) {}
  Reader reader;
  Counter counter;
  DenseCounter dense;  // for the many n-grams of characters
  WordCache cache;
  Lookup lookup;
};

void count_characters(Worker& w, const Vocabulary& v, const uint8_t* data, size_t size) {
  w.reader.read_stretches(data, size,
                          [&](Spans spans) { w.cache.read(w.reader, w.reader.text().data, spans, KnownTerms{v}); });
  w.cache.use_terms([&](uint32_t column, uint32_t times) {
    if (column != ABSENT) w.dense.add(column, times);
  });
  w.cache.bound();
}

void find_keys(Worker& w, const Plan& plan, const Vocabulary& v, const uint8_t* data, size_t size) {
  auto find = [&](Spans spans) {
    const uint8_t* text = w.reader.text().data;
    plan.unit == Unit::words ? word_keys(w.lookup, plan, v, text, spans) : skip_keys(w.lookup, plan, v, text, spans);
  };
  // Single words can be looked up stretch by stretch; of longer terms, none may be cut apart.
  if (plan.high == 1) w.reader.read_stretches(data, size, find);
  else find(w.reader.read(data, size));
}

nb::tuple index_terms(In<uint8_t> data, In<int64_t> offsets, PlanCode code, const VocabularyArrays& vocabulary,
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
      const uint8_t* data = bytes + at[row];
      size_t size = size_t(at[row + 1] - at[row]);
      if (!plan.of_words()) {
        count_characters(w, v, data, size);
        w.dense.finish_row(block);
        continue;
      }
      w.lookup.keys.clear();
      find_keys(w, plan, v, data, size);
      w.counter.add_counts(w.lookup.keys.data(), w.lookup.keys.size(), bits, block);
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
