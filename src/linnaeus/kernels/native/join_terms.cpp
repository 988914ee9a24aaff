#include "join_terms.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

#include "memory.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {

struct TokenRef {
  uint64_t prefix;  // the first eight bytes, most significant first: decides most comparisons
  uint32_t id;
};

using TokenRefs = LargeVector<TokenRef>;

uint64_t big_endian_prefix(const uint8_t* p, size_t n) {
  uint64_t x = 0;
  for (size_t i = 0; i < 8; ++i) x = x << 8 | (i < n ? p[i] : 0);
  return x;
}

// Orders tokens whose prefixes agree above `shift` bits by their bytes: by the topmost byte that is left, then each
// part by the next, so that the parts soon fit the cache; few tokens, and those that agree in eight bytes, are
// compared.
void sort_tokens(TokenRef* refs, TokenRef* spare, size_t n, int shift, const TokenTable& table) {
  if (n < 48 || shift == 0) {
    std::sort(refs, refs + n, [&](const TokenRef& a, const TokenRef& b) {
      if (a.prefix != b.prefix) return a.prefix < b.prefix;
      size_t left = table.length(a.id), right = table.length(b.id);
      int order = std::memcmp(table.bytes(a.id), table.bytes(b.id), std::min(left, right));
      return order ? order < 0 : left < right;
    });
    return;
  }
  shift -= 8;
  size_t ends[256] = {}, sum = 0;
  for (size_t i = 0; i < n; ++i) ++ends[refs[i].prefix >> shift & 255];
  if (ends[refs[0].prefix >> shift & 255] == n) return sort_tokens(refs, spare, n, shift, table);
  for (size_t& end : ends) sum += std::exchange(end, sum);
  for (size_t i = 0; i < n; ++i) spare[ends[refs[i].prefix >> shift & 255]++] = refs[i];
  std::copy_n(spare, n, refs);
  size_t first = 0;
  for (size_t end : ends) {
    if (end - first > 1) sort_tokens(refs + first, spare + first, end - first, shift, table);
    first = end;
  }
}

// Adds what one thread has counted to what another has: `map` becomes the numbers that its tokens have there.
void add_tokens(const Counted& from, Counted& to, LargeVector<uint32_t>& map) {
  constexpr size_t chunk = 64;
  const TokenTable& table = from.tokens;
  TokenKey keys[chunk];
  for (uint32_t first = 0; first < table.size(); first += chunk) {
    uint32_t last = uint32_t(std::min(table.size(), first + chunk));
    for (uint32_t id = first; id < last; ++id) {
      uint8_t padded[8] =
          {};  // the table ends with the last token, and the key of a short one is read eight bytes wide
      size_t n = table.length(id);
      if (n <= 8) std::memcpy(padded, table.bytes(id), n);
      keys[id - first] = TokenKey(n <= 8 ? padded : table.bytes(id), n);
      to.tokens.prefetch_slot(keys[id - first]);
    }
    for (uint32_t id = first; id < last; ++id)
      map[id] = to.tokens.add(keys[id - first], table.bytes(id), table.length(id));
    to.stats.resize(to.tokens.size(), Stat{0, 0, 0});
    for (uint32_t id = first; id < last; ++id) {
      to.stats[map[id]].documents += from.stats[id].documents;
      to.stats[map[id]].count += from.stats[id].count;
    }
  }
}

// The frequent tokens in order; all of them where none is, so that whoever asked for too much can say of how many.
TokenRefs choose_tokens(const Counted& all, Frequent& frequent) {
  int64_t least = frequent.least;
  auto often = [&](const Stat& s) { return s.documents >= least; };
  if (std::none_of(all.stats.begin(), all.stats.end(), often)) least = 0;
  TokenRefs refs(size_t(std::count_if(all.stats.begin(), all.stats.end(), often)));
  size_t at = 0;
  for (uint32_t id = 0; id < all.stats.size(); ++id) {
    if (often(all.stats[id])) refs[at++] = {big_endian_prefix(all.tokens.bytes(id), all.tokens.length(id)), id};
    else frequent.left_out += int64_t(all.stats[id].count);
  }
  TokenRefs spare(refs.size());
  sort_tokens(refs.data(), spare.data(), refs.size(), 64, all.tokens);
  return refs;
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

JoinedTokens join_tokens(const AllCounted& counted, Ranks& ranks, Frequent& frequent) {
  JoinedTokens joined;
  ranks.assign(counted.size(), {});
  if (counted.empty()) return joined;
  size_t base = 0;
  for (size_t t = 0; t < counted.size(); ++t)
    if (counted[t]->tokens.size() > counted[base]->tokens.size()) base = t;
  Counted& all = *counted[base];
  for (size_t t = 0; t < counted.size(); ++t) {
    ranks[t].resize(counted[t]->tokens.size());
    if (t != base) add_tokens(*counted[t], all, ranks[t]);
  }
  TokenRefs refs = choose_tokens(all, frequent);
  ranks[base].assign(all.tokens.size(), ABSENT);
  constexpr size_t ahead = 16;
  for (size_t i = 0; i < refs.size(); ++i) {
    if (i + 2 * ahead < refs.size()) all.tokens.prefetch_place(refs[i + 2 * ahead].id);
    if (i + ahead < refs.size()) {
      prefetch(all.tokens.bytes(refs[i + ahead].id));
      prefetch(&all.stats[refs[i + ahead].id]);
    }
    uint32_t id = refs[i].id;
    const uint8_t* p = all.tokens.bytes(id);
    joined.bytes.insert(joined.bytes.end(), p, p + all.tokens.length(id));
    joined.offsets.push_back(int64_t(joined.bytes.size()));
    joined.documents.push_back(all.stats[id].documents);
    joined.counts.push_back(int64_t(all.stats[id].count));
    ranks[base][id] = uint32_t(i);
  }
  for (size_t t = 0; t < counted.size(); ++t)
    for (uint32_t& number : ranks[t])
      if (t != base) number = ranks[base][number];
  return joined;
}

// The grams are first dealt out by the topmost bits of their keys: each part is small enough to be sorted in cache, and
// the parts can be sorted side by side.
Grams join_grams(const AllCounted& counted, int size, const Ranks& ranks, Ranks& nodes, GramKeys keys,
                 Frequent& frequent, int threads) {
  std::vector<Stretch> stretches = cut_tables(counted, size);
  int shift = std::max(0, keys.bits - PART_BITS);
  // Calls use(stretch, gram) for those whose beginning and last token are frequent; returns how often the others occur.
  auto each_slot = [&](size_t i, auto&& use) {
    Stretch& s = stretches[i];
    const auto& slots = counted[s.thread]->pairs[size].slots();
    const auto &before = nodes[s.thread], &tokens = ranks[s.thread];
    int64_t rare = 0;
    for (size_t k = s.first; k < s.last; ++k) {
      if (slots[k].key == NO_PAIR) continue;
      uint64_t parent = before[slots[k].key >> 32], token = tokens[uint32_t(slots[k].key)];
      if (parent == ABSENT || token == ABSENT) rare += slots[k].count;
      else
        use(s, Gram{parent << keys.token_bits | token, slots[k].documents, slots[k].count, uint32_t(s.thread),
                    slots[k].node});
    }
    return rare;
  };
  std::vector<int64_t> rare(stretches.size());
  for_each_piece(stretches.size(), threads, [&](size_t i, int) {
    rare[i] = each_slot(i, [&](Stretch& s, const Gram& g) { ++s.places[g.key >> shift]; });
  });
  frequent.left_out = std::accumulate(rare.begin(), rare.end(), frequent.left_out);
  std::vector<size_t> starts = lay_out(stretches);
  Grams grams(starts[PARTS]);
  for_each_piece(stretches.size(), threads, [&](size_t i, int) {
    each_slot(i, [&](Stretch& s, const Gram& g) { grams[s.places[g.key >> shift]++] = g; });
  });
  for (size_t t = 0; t < counted.size(); ++t) {
    nodes[t].assign(counted[t]->pairs[size].size(), ABSENT);
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
