// What one thread has counted: tokens, n-grams as pairs, and, where the rows are wanted too, a recording of each text.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "grams.hpp"
#include "tables.hpp"
#include "word_cache.hpp"

namespace linnaeus {

struct Stat {
  uint32_t last, documents;
  uint64_t count;
};

class Counted {
 public:
  // Terms longer than `high` tokens are not counted here.
  Counted(const Plan& plan, int high)
      : pairs(plan.of_words() ? size_t(plan.high) + 1 : 0), plan_(plan), high_(high), reader_(plan) {}

  // Counts the terms of one text; a recording, unless null, gets the numbers of the terms in order.
  void count(const uint8_t* data, size_t size, LargeVector<uint32_t>* recording) {
    ++document_;
    if (!plan_.of_words()) return count_characters(data, size, recording);
    count_tokens(data, size);
    plan_.unit == Unit::words ? count_words(recording) : count_skips(recording);
  }
  // The same of a text of words that belongs to one of k classes, for which the terms are counted apart.
  void count_labeled(const uint8_t* data, size_t size, uint32_t label, uint32_t k) {
    ++document_;
    class_ = label, classes_ = k;
    by_class.resize(size_t(plan_.high));
    count_tokens(data, size);
    count_words(nullptr);
  }
  void trim() {
    reader_.trim();
    if (ids_.capacity() < MANY_IDS) return;
    ids_ = {}, nodes_ = {}, keys_ = {}, hashes_ = {};
  }

  TokenTable tokens;
  LargeVector<Stat> stats;
  std::vector<PairTable> pairs;  // pairs[n]: the n-grams, each the pair of an (n-1)-gram and a token
  WordCache cache;
  std::vector<std::vector<uint64_t>> by_class;  // by_class[n - 1]: how often each n-gram stands in texts of each class

 private:
  static constexpr size_t CHUNK = 128;  // tokens whose memory is asked for before the first is looked at
  static constexpr size_t MANY_IDS = size_t(1) << 20;

  struct NewTerms {
    TokenTable& tokens;
    void fetch(const TokenKey& key) const { tokens.prefetch_slot(key); }
    uint32_t find(const TokenKey& key, const uint8_t* p, size_t n) const { return tokens.add(key, p, n); }
  };

  void note(uint32_t id, uint32_t times) {
    if (id >= stats.size()) stats.resize(tokens.size(), Stat{0, 0, 0});
    Stat& s = stats[id];
    s.documents += s.last != document_;
    s.last = document_;
    s.count += times;
  }

  // Counts the tokens of a text and keeps their numbers.
  void count_tokens(const uint8_t* data, size_t size) {
    ids_.clear();
    reader_.read_stretches(data, size, [&](Spans spans) {
      for (size_t first = 0; first < spans.size(); first += CHUNK)
        count_chunk(spans.subspan(first, std::min(CHUNK, spans.size() - first)));
    });
  }

  void count_chunk(Spans spans) {
    const uint8_t* data = reader_.text().data;
    size_t n = spans.size();
    TokenKey keys[CHUNK];
    for (size_t i = 0; i < n; ++i) {
      keys[i] = TokenKey(data + spans[i].start, spans[i].end - spans[i].start);
      tokens.prefetch_slot(keys[i]);
    }
    size_t at = ids_.size();
    ids_.resize(at + n);
    uint32_t* ids = ids_.data() + at;
    for (size_t i = 0; i < n; ++i) {
      ids[i] = tokens.add(keys[i], data + spans[i].start, spans[i].end - spans[i].start);
      if (ids[i] < stats.size()) prefetch(&stats[ids[i]]);
    }
    if (stats.size() < tokens.size()) stats.resize(tokens.size(), Stat{0, 0, 0});
    for (size_t i = 0; i < n; ++i) note(ids[i], 1);
  }

  // Counts the pairs in keys_ into `table`; their nodes replace nodes_. Slots are fetched ahead of their use.
  void count_pairs(PairTable& table) {
    constexpr size_t ahead = 24;
    size_t n = keys_.size();
    hashes_.resize(n);
    for (size_t i = 0; i < n; ++i) hashes_[i] = pair_hash(keys_[i]);
    nodes_.resize(n);
    for (size_t i = 0; i < std::min(n, ahead); ++i) table.prefetch_slot(hashes_[i]);
    for (size_t i = 0; i < n; ++i) {
      if (i + ahead < n) table.prefetch_slot(hashes_[i + ahead]);
      nodes_[i] = table.count(keys_[i], hashes_[i], document_);
    }
  }

  // The recording of a text of words: how many tokens, then the terms of each size from low to high.
  void count_words(LargeVector<uint32_t>* recording) {
    size_t n = ids_.size();
    nodes_.assign(ids_.begin(), ids_.end());
    if (recording) recording->push_back(uint32_t(n));
    for (int size = 1; size <= high_ && n >= size_t(size); ++size) {
      if (size > 1) {
        size_t count = n - size + 1;
        keys_.resize(count);
        for (size_t i = 0; i < count; ++i) keys_[i] = pair_key(nodes_[i], ids_[i + size - 1]);
        count_pairs(pairs[size]);
      }
      if (classes_) note_class(by_class[size - 1], size == 1 ? tokens.size() : pairs[size].size());
      if (recording && (size == 1 || size >= plan_.low))
        recording->insert(recording->end(), nodes_.begin(), nodes_.end());
    }
  }

  void note_class(std::vector<uint64_t>& counts, size_t known) {
    if (counts.size() < known * classes_) counts.resize(known * classes_);
    for (uint32_t node : nodes_) ++counts[node * size_t(classes_) + class_];
  }

  void count_skips(LargeVector<uint32_t>* recording) {
    size_t n = ids_.size();
    keys_.clear();
    for (size_t i = 0; i < n; ++i)
      for (size_t j = i + 2; j <= i + 1 + plan_.gap && j < n; ++j) keys_.push_back(pair_key(ids_[i], ids_[j]));
    count_pairs(pairs[2]);
    if (!recording) return;
    recording->push_back(uint32_t(n));
    recording->insert(recording->end(), ids_.begin(), ids_.end());
    recording->push_back(uint32_t(nodes_.size()));
    recording->insert(recording->end(), nodes_.begin(), nodes_.end());
  }

  void count_characters(const uint8_t* data, size_t size, LargeVector<uint32_t>* recording) {
    reader_.read_stretches(data, size,
                           [&](Spans spans) { cache.read(reader_, reader_.text().data, spans, NewTerms{tokens}); });
    if (recording) cache.record(*recording);
    cache.use_terms([&](uint32_t id, uint32_t times) { note(id, times); });
    if (!recording) cache.bound();
  }

  Plan plan_;
  int high_;
  Reader reader_;
  LargeVector<uint32_t> ids_, nodes_;
  LargeVector<uint64_t> keys_, hashes_;
  uint32_t document_ = 0, class_ = 0, classes_ = 0;
};

}  // namespace linnaeus
