// The distinct terms of a stream of texts: an exact vocabulary in the making.
//
// Given UTF-8 texts, batch after batch, and a plan; returned at the end, every distinct term with the number of texts it
// stands in and the number of times it occurs. Each thread counts into tables of its own; at the end they are joined and
// put in order by the bytes of the tokens, so that the result depends neither on threads nor on batches.
#include <nanobind/stl/array.h>

#include <algorithm>
#include <memory>

#include "arrays.hpp"
#include "grams.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "tables.hpp"
#include "texts.hpp"
#include "word_cache.hpp"

namespace linnaeus {
namespace {

struct Stat {
  uint32_t last, documents;
  uint64_t count;
};

// What one thread has counted.
struct Counted {
  explicit Counted(const Plan& plan) : reader(plan), pairs(plan.of_words() ? plan.high + 1 : 0) {}

  void note(uint32_t id, uint32_t times) {
    if (id >= stats.size()) stats.resize(tokens.size(), Stat{0, 0, 0});
    Stat& s = stats[id];
    s.documents += s.last != document;
    s.last = document;
    s.count += times;
  }

  Reader reader;
  TokenTable tokens;
  std::vector<Stat> stats;
  std::vector<PairTable> pairs;  // pairs[n]: the n-grams, each the pair of an (n-1)-gram and a token
  WordCache cache;
  std::vector<uint32_t> ids, nodes;
  std::vector<uint64_t> keys, hashes;
  uint32_t document = 0;
};

void count_tokens(Counted& c, const std::vector<Span>& spans) {
  const uint8_t* data = c.reader.text().data;
  c.ids.resize(spans.size());
  for (size_t i = 0; i < spans.size(); ++i) {
    c.ids[i] = c.tokens.add(data + spans[i].start, spans[i].end - spans[i].start);
    c.note(c.ids[i], 1);
  }
}

// Counts the pairs in c.keys into `table`; their nodes replace c.nodes. Slots are fetched ahead of their use.
void count_pairs(Counted& c, PairTable& table) {
  constexpr size_t ahead = 16;
  size_t n = c.keys.size();
  c.hashes.resize(n);
  for (size_t i = 0; i < n; ++i) c.hashes[i] = pair_hash(c.keys[i]);
  c.nodes.resize(n);
  for (size_t i = 0; i < std::min(n, ahead); ++i) table.prefetch_slot(c.hashes[i]);
  for (size_t i = 0; i < n; ++i) {
    if (i + ahead < n) table.prefetch_slot(c.hashes[i + ahead]);
    c.nodes[i] = table.count(c.keys[i], c.hashes[i], c.document);
  }
}

void count_words(Counted& c, const Plan& plan, const std::vector<Span>& spans) {
  count_tokens(c, spans);
  size_t n = c.ids.size();
  c.nodes.assign(c.ids.begin(), c.ids.end());
  for (int size = 2; size <= plan.high && n >= size_t(size); ++size) {
    size_t count = n - size + 1;
    c.keys.resize(count);
    for (size_t i = 0; i < count; ++i) c.keys[i] = pair_key(c.nodes[i], c.ids[i + size - 1]);
    count_pairs(c, c.pairs[size]);
  }
}

void count_skips(Counted& c, const Plan& plan, const std::vector<Span>& spans) {
  count_tokens(c, spans);
  size_t n = c.ids.size();
  c.keys.clear();
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 2; j <= i + 1 + plan.gap && j < n; ++j) c.keys.push_back(pair_key(c.ids[i], c.ids[j]));
  count_pairs(c, c.pairs[2]);
}

void count_characters(Counted& c, const std::vector<Span>& spans) {
  const uint8_t* data = c.reader.text().data;
  c.cache.for_each_term(
      c.reader, data, spans, [&](const uint8_t* p, size_t n) { return c.tokens.add(p, n); },
      [&](uint32_t id, uint32_t times) { c.note(id, times); });
}

// --------------------------------------------------------------------------------------------------- joining threads

struct TokenRef {
  uint64_t prefix;  // the first eight bytes, most significant first: decides most comparisons
  const uint8_t* bytes;
  uint32_t length, thread, id;
};

bool same(const TokenRef& a, const TokenRef& b) {
  return a.prefix == b.prefix && a.length == b.length && std::memcmp(a.bytes, b.bytes, a.length) == 0;
}

bool before(const TokenRef& a, const TokenRef& b) {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  int order = std::memcmp(a.bytes, b.bytes, std::min(a.length, b.length));
  return order ? order < 0 : a.length < b.length;
}

uint64_t big_endian_prefix(const uint8_t* p, size_t n) {
  uint64_t x = 0;
  for (size_t i = 0; i < 8; ++i) x = x << 8 | (i < n ? p[i] : 0);
  return x;
}

// An n-gram on its way into order.
struct GramRef {
  uint64_t key;
  uint32_t documents, count, thread, node;
};

// Sorts by the lowest `bits` of the keys, eleven at a time.
void sort_grams(std::vector<GramRef>& grams, int bits) {
  constexpr int D = 11;
  std::vector<GramRef> spare(grams.size());
  for (int shift = 0; shift < bits; shift += D) {
    std::vector<size_t> starts((size_t(1) << D) + 1, 0);
    for (const GramRef& g : grams) ++starts[(g.key >> shift & ((1 << D) - 1)) + 1];
    for (size_t d = 1; d < starts.size(); ++d) starts[d] += starts[d - 1];
    for (const GramRef& g : grams) spare[starts[g.key >> shift & ((1 << D) - 1)]++] = g;
    grams.swap(spare);
  }
}

using Ranks = std::vector<std::vector<uint32_t>>;  // for each thread: its number -> the joint number

}  // namespace

class TermCounter {
 public:
  explicit TermCounter(PlanCode code) : plan_(code) {}
  TermCounter(const TermCounter&) = delete;
  TermCounter& operator=(const TermCounter&) = delete;

  void add(In<uint8_t> data, In<int64_t> offsets, int threads) {
    Texts texts(data, offsets);
    const uint8_t* bytes = texts.bytes;
    const int64_t* at = texts.at;
    size_t n = texts.size;
    while (counted_.size() < size_t(std::max(threads, 1))) counted_.push_back(std::make_unique<Counted>(plan_));
    nb::gil_scoped_release release;
    std::vector<size_t> cuts = cut_pieces(at, n);
    for_each_piece(cuts.size() - 1, threads, [&](size_t piece, int worker) {
      Counted& c = *counted_[worker];
      for (size_t row = cuts[piece]; row < cuts[piece + 1]; ++row) {
        const auto& spans = c.reader.read(bytes + at[row], size_t(at[row + 1] - at[row]));
        ++c.document;
        if (plan_.unit == Unit::words) count_words(c, plan_, spans);
        else if (plan_.unit == Unit::skips) count_skips(c, plan_, spans);
        else count_characters(c, spans);
      }
      c.reader.trim();
    });
  }

  // (token bytes, token offsets, token documents, token counts, [(parents, tokens, documents, counts) for n = 2 ...]);
  // the counter is empty afterwards.
  nb::tuple finish() {
    std::vector<int64_t> documents, counts, offsets;
    std::vector<uint8_t> bytes;
    std::vector<std::vector<GramRef>> orders;
    {
      nb::gil_scoped_release release;
      Ranks ranks = join_tokens(bytes, offsets, documents, counts);
      size_t parents = documents.size();
      Ranks nodes = ranks;
      for (int size = 2; plan_.of_words() && size <= plan_.high; ++size) {
        orders.push_back(join_grams(size, nodes, ranks, parents, documents.size()));
        parents = orders.back().size();
      }
      counted_.clear();
    }
    nb::list grams;
    size_t tokens = documents.size();
    for (auto& order : orders) grams.append(gram_arrays(order, tokens));
    return nb::make_tuple(to_numpy(bytes), to_numpy(offsets), to_numpy(documents), to_numpy(counts), grams);
  }

 private:
  Ranks join_tokens(std::vector<uint8_t>& bytes, std::vector<int64_t>& offsets, std::vector<int64_t>& documents,
                    std::vector<int64_t>& counts) {
    std::vector<TokenRef> refs;
    Ranks ranks;
    for (size_t t = 0; t < counted_.size(); ++t) {
      const TokenTable& table = counted_[t]->tokens;
      ranks.emplace_back(table.size());
      for (uint32_t id = 0; id < table.size(); ++id) {
        const uint8_t* p = table.bytes(id);
        size_t n = table.length(id);
        refs.push_back({big_endian_prefix(p, n), p, uint32_t(n), uint32_t(t), id});
      }
    }
    std::sort(refs.begin(), refs.end(), before);
    offsets.push_back(0);
    for (size_t i = 0; i < refs.size(); ++i) {
      if (i == 0 || !same(refs[i - 1], refs[i])) {
        bytes.insert(bytes.end(), refs[i].bytes, refs[i].bytes + refs[i].length);
        offsets.push_back(int64_t(bytes.size()));
        documents.push_back(0);
        counts.push_back(0);
      }
      const Stat& s = counted_[refs[i].thread]->stats[refs[i].id];
      documents.back() += s.documents;
      counts.back() += int64_t(s.count);
      ranks[refs[i].thread][refs[i].id] = uint32_t(documents.size() - 1);
    }
    return ranks;
  }

  // The n-grams of all threads by (parent, token); `nodes` maps the threads' (n-1)-grams before, their n-grams after.
  std::vector<GramRef> join_grams(int size, Ranks& nodes, const Ranks& ranks, size_t parents, size_t tokens) {
    int token_bits = int(std::bit_width(tokens)), parent_bits = int(std::bit_width(parents));
    std::vector<GramRef> grams;
    size_t total = 0;
    for (auto& c : counted_) total += c->pairs[size].size();
    grams.reserve(total);
    bool last = size == plan_.high;
    for (size_t t = 0; t < counted_.size(); ++t) {
      PairTable& table = counted_[t]->pairs[size];
      size_t count = table.size();
      for (const CountSlot& s : table.slots()) {
        if (s.key == NO_PAIR) continue;
        uint64_t parent = nodes[t][s.key >> 32], token = ranks[t][uint32_t(s.key)];
        grams.push_back({parent << token_bits | token, s.documents, s.count, uint32_t(t), s.node});
      }
      table.release();
      nodes[t].assign(last ? 0 : count, 0);
    }
    sort_grams(grams, token_bits + parent_bits);
    size_t kept = 0;
    for (size_t i = 0; i < grams.size(); ++i) {
      GramRef g = grams[i];
      if (kept && grams[kept - 1].key == g.key) {
        grams[kept - 1].documents += g.documents;
        grams[kept - 1].count += g.count;
      } else {
        grams[kept++] = g;
      }
      if (!last) nodes[g.thread][g.node] = uint32_t(kept - 1);
    }
    grams.resize(kept);
    return grams;
  }

  static nb::tuple gram_arrays(std::vector<GramRef>& grams, size_t tokens) {
    int bits = int(std::bit_width(tokens));
    Buffer<int32_t> parents(grams.size()), last(grams.size());
    Buffer<int64_t> documents(grams.size()), counts(grams.size());
    for (size_t i = 0; i < grams.size(); ++i) {
      parents[i] = int32_t(grams[i].key >> bits);
      last[i] = int32_t(grams[i].key & ((1ull << bits) - 1));
      documents[i] = grams[i].documents;
      counts[i] = grams[i].count;
    }
    grams = {};
    return nb::make_tuple(to_numpy(std::move(parents)), to_numpy(std::move(last)), to_numpy(std::move(documents)),
                          to_numpy(std::move(counts)));
  }

  Plan plan_;
  std::vector<std::unique_ptr<Counted>> counted_;
};

void bind_count_terms(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<TermCounter>(m, "TermCounter")
      .def(nb::init<PlanCode>(), "plan"_a)
      .def("add", &TermCounter::add, "data"_a, "offsets"_a, "threads"_a)
      .def("finish", &TermCounter::finish);
}

}  // namespace linnaeus
