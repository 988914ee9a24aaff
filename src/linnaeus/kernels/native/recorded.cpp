#include "recorded.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "often.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {

constexpr size_t CHUNK = 128;  // pairs whose memory is asked for before the first is looked at

// Calls use(tokens, how many) for each text.
template <class Use>
void each_text(Recording& r, Use&& use) {
  uint32_t* at = r.numbers.data();
  for (size_t row = 0; row < r.rows; ++row) {
    size_t n = *at++;
    use(at, n);
    at += n;
  }
}

// Calls use(keys, hashes, how many) for chunk after chunk of the pairs of a text.
template <class Use>
void each_chunk(const uint32_t* tokens, size_t n, Use&& use) {
  uint64_t keys[CHUNK], hashes[CHUNK];
  for (size_t first = 0; first + 1 < n; first += CHUNK) {
    size_t count = std::min(CHUNK, n - 1 - first);
    for (size_t i = 0; i < count; ++i) {
      keys[i] = pair_key(tokens[first + i], tokens[first + i + 1]);
      hashes[i] = pair_hash(keys[i]);
    }
    use(keys, hashes, count);
  }
}

void renumber(Recording& r, const LargeVector<uint32_t>& ranks) {
  each_text(r, [&](uint32_t* tokens, size_t n) {
    for (size_t i = 0; i < n; ++i) tokens[i] = ranks[tokens[i]];
  });
}

void note_pairs(Recording& r, Often& often) {
  each_text(r, [&](const uint32_t* tokens, size_t n) {
    bool at_once = n <= CHUNK + 1;
    each_chunk(tokens, n, [&](const uint64_t*, const uint64_t* hashes, size_t count) {
      for (size_t i = 0; i < count; ++i) often.fetch(hashes[i]);
      for (size_t i = 0; i < count; ++i) often.compare(hashes[i]);
      for (size_t i = 0; at_once && i < count; ++i) often.note(hashes[i]);
    });
    if (at_once) return;
    each_chunk(tokens, n, [&](const uint64_t*, const uint64_t* hashes, size_t count) {
      for (size_t i = 0; i < count; ++i) often.fetch(hashes[i]);
      for (size_t i = 0; i < count; ++i) often.note(hashes[i]);
    });
  });
}

bool frequent_tokens(uint64_t key) { return uint32_t(key) != ABSENT && uint32_t(key >> 32) != ABSENT; }

// The pairs that come often enough to be counted get their numbers, the others none: how many these are.
size_t count_chunk(PairTable& table, const Often* often, const uint64_t* keys, const uint64_t* hashes, size_t count,
                   uint32_t document, uint32_t* nodes) {
  uint32_t chosen[CHUNK];
  size_t size = 0;
  if (often)
    for (size_t i = 0; i < count; ++i) often->fetch(hashes[i]);
  for (size_t i = 0; i < count; ++i) {
    nodes[i] = ABSENT;
    chosen[size] = uint32_t(i);
    size += (!often || often->has(hashes[i])) && frequent_tokens(keys[i]);
  }
  for (size_t i = 0; i < size; ++i) table.prefetch_slot(hashes[chosen[i]]);
  for (size_t i = 0; i < size; ++i) nodes[chosen[i]] = table.count(keys[chosen[i]], hashes[chosen[i]], document);
  return count - size;
}

}  // namespace

int64_t count_pairs_later(std::vector<Recording>& recordings, AllCounted& counted, const Ranks& ranks, int64_t least,
                          int threads) {
  size_t workers = std::min(counted.size(), size_t(std::max(threads, 1))), total = 0;
  for (const Recording& r : recordings) total += r.numbers.size();
  std::vector<std::optional<Often>> seen(workers);
  for_each_piece(recordings.size(), int(workers), [&](size_t piece, int worker) {
    renumber(recordings[piece], ranks[recordings[piece].worker]);
    if (least < 2) return;
    if (!seen[worker]) seen[worker].emplace(total);
    note_pairs(recordings[piece], *seen[worker]);
  });
  Often* often = nullptr;
  for (auto& one : seen) {
    if (!one) continue;
    if (often) often->join(*one);
    else often = &*one;
  }
  std::vector<uint32_t> documents(workers);
  std::vector<int64_t> left_out(workers);
  std::vector<LargeVector<uint32_t>> nodes(workers);
  for_each_piece(recordings.size(), int(workers), [&](size_t piece, int worker) {
    Recording& r = recordings[piece];
    PairTable& table = counted[worker]->pairs[2];
    if (often && !table.size()) table.reserve(often->count());
    LargeVector<uint32_t>& made = nodes[worker];
    made.clear();
    each_text(r, [&](const uint32_t* tokens, size_t n) {
      uint32_t document = ++documents[worker];
      each_chunk(tokens, n, [&](const uint64_t* keys, const uint64_t* hashes, size_t count) {
        made.resize(made.size() + count);
        left_out[worker] +=
            int64_t(count_chunk(table, often, keys, hashes, count, document, made.data() + made.size() - count));
      });
    });
    r.pair_worker = size_t(worker);
    r.pairs.assign(made.begin(), made.end());
  });
  return std::accumulate(left_out.begin(), left_out.end(), int64_t(0));
}

}  // namespace linnaeus
