#include "lookup.hpp"

namespace linnaeus {
namespace {

void find_tokens(Lookup& w, const Vocabulary& v, const uint8_t* data, Spans spans) {
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
void find_pairs(Lookup& w, const Vocabulary& v) {
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

}  // namespace

void word_keys(Lookup& w, const Plan& plan, const Vocabulary& v, const uint8_t* data, Spans spans) {
  find_tokens(w, v, data, spans);
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

void skip_keys(Lookup& w, const Plan& plan, const Vocabulary& v, const uint8_t* data, Spans spans) {
  find_tokens(w, v, data, spans);
  size_t n = w.ids.size();
  w.pair_keys.clear();
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 2; j <= i + 1 + plan.gap && j < n; ++j) w.pair_keys.push_back(key_of(w.ids[i], w.ids[j]));
  find_pairs(w, v);
}

}  // namespace linnaeus
