#include "join_terms.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "memory.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {

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

// Orders the tokens by their bytes: by their first eight, a byte at a time beginning with the last of these, and where
// these are the same, one with the other.
void sort_tokens(std::vector<TokenRef>& refs) {
  size_t n = refs.size();
  struct Place {
    uint64_t prefix;
    size_t at;
  };
  std::vector<Place> from(n), to(n);
  for (size_t i = 0; i < n; ++i) from[i] = {refs[i].prefix, i};
  for (int shift = 0; shift < 64; shift += 8) {
    size_t starts[257] = {};
    for (const Place& place : from) ++starts[(place.prefix >> shift & 255) + 1];
    for (int d = 0; d < 256; ++d) starts[d + 1] += starts[d];
    for (const Place& place : from) to[starts[place.prefix >> shift & 255]++] = place;
    from.swap(to);
  }
  std::vector<TokenRef> sorted(n);
  for (size_t i = 0; i < n; ++i) sorted[i] = refs[from[i].at];
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && sorted[end].prefix == sorted[i].prefix;) ++end;
    if (end > i + 1) std::sort(sorted.begin() + int64_t(i), sorted.begin() + int64_t(end), before);
  }
  refs.swap(sorted);
}

// Sorts by the lowest `bits` of the keys, eight at a time.
void sort_part(Gram* grams, size_t n, int bits, std::vector<Gram>& spare) {
  if (n < 64) {
    std::sort(grams, grams + n, [](const Gram& a, const Gram& b) { return a.key < b.key; });
    return;
  }
  if (spare.size() < n) spare.resize(n);
  Gram *from = grams, *to = spare.data();
  for (int shift = 0; shift < bits; shift += 8) {
    size_t starts[257] = {};
    for (size_t i = 0; i < n; ++i) ++starts[(from[i].key >> shift & 255) + 1];
    for (int d = 0; d < 256; ++d) starts[d + 1] += starts[d];
    for (size_t i = 0; i < n; ++i) to[starts[from[i].key >> shift & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != grams) std::copy_n(from, n, grams);
}

// A range of the slots of one thread's table, and where its grams of each part go.
struct Stretch {
  size_t thread, first, last;
  std::vector<size_t> places;
};

constexpr int PART_BITS = 7;
constexpr size_t PARTS = size_t(1) << PART_BITS, RANGE = size_t(1) << 16;

std::vector<Stretch> cut_tables(const AllCounted& counted, int size) {
  std::vector<Stretch> stretches;
  for (size_t t = 0; t < counted.size(); ++t) {
    size_t slots = counted[t]->pairs[size].slots().size();
    for (size_t first = 0; first < slots; first += RANGE)
      stretches.push_back({t, first, std::min(slots, first + RANGE), std::vector<size_t>(PARTS)});
  }
  return stretches;
}

// Counts become places, part after part and within a part stretch after stretch; returns where each part starts.
std::vector<size_t> lay_out(std::vector<Stretch>& stretches) {
  std::vector<size_t> starts(PARTS + 1);
  size_t sum = 0;
  for (size_t p = 0; p < PARTS; ++p) {
    starts[p] = sum;
    for (Stretch& s : stretches) sum += std::exchange(s.places[p], sum);
  }
  starts[PARTS] = sum;
  return starts;
}

// Calls use(first, last, sum) for the equal ones of a sorted part.
template <class Use>
void each_distinct(const Gram* grams, size_t n, Use&& use) {
  for (size_t first = 0, last; first < n; first = last) {
    Gram sum = grams[first];
    for (last = first + 1; last < n && grams[last].key == sum.key; ++last) {
      sum.documents += grams[last].documents;
      sum.count += grams[last].count;
    }
    use(first, last, sum);
  }
}

// How many are frequent, and how often the others occur.
std::pair<size_t, size_t> count_distinct(const Gram* grams, size_t n, int64_t least) {
  size_t kept = 0, left_out = 0;
  each_distinct(grams, n, [&](size_t, size_t, const Gram& sum) {
    bool frequent = sum.documents >= least;
    kept += frequent;
    left_out += frequent ? 0 : sum.count;
  });
  return {kept, left_out};
}

// Equal neighbors of a sorted part become one; each thread's number maps to the joint one, `base` for the first.
void merge_equal(Gram* grams, size_t n, int64_t least, size_t base, Ranks& nodes) {
  size_t kept = 0;
  each_distinct(grams, n, [&](size_t first, size_t last, const Gram& sum) {
    bool frequent = sum.documents >= least;
    for (size_t i = first; i < last; ++i)
      nodes[grams[i].thread][grams[i].node] = frequent ? uint32_t(base + kept) : ABSENT;
    if (frequent) grams[kept++] = sum;
  });
}

}  // namespace

JoinedTokens join_tokens(const AllCounted& counted, Ranks& ranks) {
  JoinedTokens joined;
  std::vector<TokenRef> refs;
  ranks.assign(counted.size(), {});
  for (size_t t = 0; t < counted.size(); ++t) {
    const TokenTable& table = counted[t]->tokens;
    ranks[t].resize(table.size());
    for (uint32_t id = 0; id < table.size(); ++id) {
      const uint8_t* p = table.bytes(id);
      refs.push_back({big_endian_prefix(p, table.length(id)), p, uint32_t(table.length(id)), uint32_t(t), id});
    }
  }
  sort_tokens(refs);
  for (size_t i = 0; i < refs.size(); ++i) {
    const TokenRef& r = refs[i];
    if (i == 0 || !same(refs[i - 1], r)) {
      joined.bytes.insert(joined.bytes.end(), r.bytes, r.bytes + r.length);
      joined.offsets.push_back(int64_t(joined.bytes.size()));
      joined.documents.push_back(0);
      joined.counts.push_back(0);
    }
    const Stat& s = counted[r.thread]->stats[r.id];
    joined.documents.back() += s.documents;
    joined.counts.back() += int64_t(s.count);
    ranks[r.thread][r.id] = uint32_t(joined.documents.size() - 1);
  }
  return joined;
}

// The grams are first dealt out by the topmost bits of their keys: each part is small enough to be sorted in cache, and
// the parts can be sorted side by side.
Grams join_grams(const AllCounted& counted, int size, const Ranks& ranks, Ranks& nodes, GramKeys keys,
                 Frequent& frequent, int threads) {
  std::vector<Stretch> stretches = cut_tables(counted, size);
  int shift = std::max(0, keys.bits - PART_BITS);
  auto gram_of = [&](const CountSlot& s, size_t t) {
    uint64_t parent = nodes[t][s.key >> 32], token = ranks[t][uint32_t(s.key)];
    return Gram{parent << keys.token_bits | token, s.documents, s.count, uint32_t(t), s.node};
  };
  auto each_slot = [&](size_t i, auto&& use) {
    Stretch& s = stretches[i];
    const auto& slots = counted[s.thread]->pairs[size].slots();
    for (size_t k = s.first; k < s.last; ++k)
      if (slots[k].key != NO_PAIR) use(s, gram_of(slots[k], s.thread));
  };
  for_each_piece(stretches.size(), threads,
                 [&](size_t i, int) { each_slot(i, [&](Stretch& s, const Gram& g) { ++s.places[g.key >> shift]; }); });
  std::vector<size_t> starts = lay_out(stretches);
  Grams grams(starts[PARTS]);
  for_each_piece(stretches.size(), threads, [&](size_t i, int) {
    each_slot(i, [&](Stretch& s, const Gram& g) { grams[s.places[g.key >> shift]++] = g; });
  });
  for (size_t t = 0; t < counted.size(); ++t) {
    nodes[t].assign(counted[t]->pairs[size].size(), 0);
    counted[t]->pairs[size].release();
  }
  std::vector<size_t> kept(PARTS), left_out(PARTS), base(PARTS + 1);
  std::vector<std::vector<Gram>> spare(std::max(threads, 1));
  for_each_piece(PARTS, threads, [&](size_t p, int worker) {
    sort_part(grams.data() + starts[p], starts[p + 1] - starts[p], shift, spare[worker]);
    std::tie(kept[p], left_out[p]) =
        count_distinct(grams.data() + starts[p], starts[p + 1] - starts[p], frequent.least);
  });
  for (size_t p = 0; p < PARTS; ++p) base[p + 1] = base[p] + kept[p], frequent.left_out += int64_t(left_out[p]);
  for_each_piece(PARTS, threads, [&](size_t p, int) {
    merge_equal(grams.data() + starts[p], starts[p + 1] - starts[p], frequent.least, base[p], nodes);
  });
  for (size_t p = 0; p < PARTS; ++p)
    std::copy_n(grams.begin() + ptrdiff_t(starts[p]), kept[p], grams.begin() + ptrdiff_t(base[p]));
  grams.resize(base[PARTS]);
  return grams;
}

}  // namespace linnaeus
