// Hashed features (Weinberger et al. 2009): texts to sparse rows without a vocabulary.
//
// Given UTF-8 texts, a plan and a number of bits, every term is hashed to a column below 2^bits; a row holds, for each
// column met, how often (signed: the sum of the signs given by the topmost bit of the hash). Returned are the arrays of
// a CSR matrix, columns sorted within each row.
#include <nanobind/stl/array.h>

#include "arrays.hpp"
#include "grams.hpp"
#include "hash.hpp"
#include "rows.hpp"
#include "texts.hpp"

namespace linnaeus {
namespace {

struct Worker {
  explicit Worker(const Plan& plan) : reader(plan) {}
  Reader reader;
  Counter counter;
  std::vector<uint64_t> tokens, grams;
  std::vector<uint32_t> keys;  // only grows: the first `count` are valid
  size_t count = 0;
  void add(uint32_t key) {
    if (count == keys.size()) keys.resize(2 * count + 64);
    keys[count++] = key;
  }
};

struct Columns {
  int bits;
  bool is_signed;
  uint32_t operator()(uint64_t hash) const {
    uint32_t column = uint32_t(hash & ((1ull << bits) - 1));
    return is_signed ? column << 1 | uint32_t(hash >> 63) : column;
  }
};

void hash_tokens(const uint8_t* data, Spans spans, std::vector<uint64_t>& out) {
  out.resize(spans.size());
  for (size_t i = 0; i < spans.size(); ++i) out[i] = hash_bytes(data + spans[i].start, spans[i].end - spans[i].start);
}

void word_keys(Worker& w, const Plan& plan, Spans spans, Columns column) {
  hash_tokens(w.reader.text().data, spans, w.tokens);
  const std::vector<uint64_t>& tokens = w.tokens;
  size_t n = tokens.size();
  if (n * size_t(plan.high) > w.keys.size()) w.keys.resize(2 * n * size_t(plan.high));
  uint32_t* key = w.keys.data();
  if (plan.low == 1)
    for (uint64_t token : tokens) *key++ = column(token);
  for (int size = 2; size <= plan.high && n >= size_t(size); ++size) {
    size_t count = n - size + 1;
    const uint64_t* prefix = size == 2 ? tokens.data() : w.grams.data();
    w.grams.resize(std::max(w.grams.size(), count));
    if (size > 2) prefix = w.grams.data();
    for (size_t i = 0; i < count; ++i) w.grams[i] = hash_join(prefix[i], tokens[i + size - 1]);
    if (size < plan.low) continue;
    for (size_t i = 0; i < count; ++i) *key++ = column(w.grams[i]);
  }
  w.count = size_t(key - w.keys.data());
}

void skip_keys(Worker& w, const Plan& plan, Spans spans, Columns column) {
  hash_tokens(w.reader.text().data, spans, w.tokens);
  size_t n = w.tokens.size();
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 2; j <= i + 1 + plan.gap && j < n; ++j)
      w.add(column(hash_join(hash_join(w.tokens[i], GAP), w.tokens[j])));
}

void character_keys(Worker& w, Spans spans, Columns column) {
  const uint8_t* data = w.reader.text().data;
  for (Span s : spans)
    w.reader.grams(data + s.start, s.end - s.start,
                   [&](const uint8_t* p, size_t n) { w.add(column(hash_bytes(p, n))); });
}

nb::tuple hash_terms(In<uint8_t> data, In<int64_t> offsets, PlanCode code, int bits, bool is_signed, int threads) {
  Plan plan(code);
  if (bits < 1 || bits > 30) throw std::invalid_argument("hash_terms: bits run from 1 to 30");
  Texts texts(data, offsets);
  Columns column{bits, is_signed};
  std::vector<Worker> workers = make_workers<Worker>(threads, plan);
  int key_bits = bits + int(is_signed);
  return build_rows(texts.at, texts.size, threads, plan.terms_per_byte(),
                    [&](size_t first, size_t last, RowBlock& block, int worker) {
                      Worker& w = workers[worker];
                      for (size_t row = first; row < last; ++row) {
                        const auto& spans = w.reader.read(texts.begin(row), size_t(texts.end(row) - texts.begin(row)));
                        w.count = 0;
                        if (plan.unit == Unit::words) word_keys(w, plan, spans, column);
                        else if (plan.unit == Unit::skips) skip_keys(w, plan, spans, column);
                        else character_keys(w, spans, column);
                        if (is_signed) w.counter.add_signed(w.keys.data(), w.count, key_bits, block);
                        else w.counter.add_counts(w.keys.data(), w.count, key_bits, block);
                      }
                      w.reader.trim();
                    });
}

}  // namespace

void bind_hash_terms(nb::module_& m) {
  using namespace nb::literals;
  m.def("hash_terms", &hash_terms, "data"_a, "offsets"_a, "plan"_a, "bits"_a, "signed"_a, "threads"_a);
  m.def(
      "hash_bytes",
      [](nb::bytes text) {
        std::vector<uint8_t> padded(text.size() + 8);
        std::memcpy(padded.data(), text.c_str(), text.size());
        return hash_bytes(padded.data(), text.size());
      },
      "text"_a);
}

}  // namespace linnaeus
