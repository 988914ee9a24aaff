// What one thread has counted: tokens, n-grams as pairs, and, where the rows are wanted too, a recording of each text.
#pragma once
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
  void count(const uint8_t* data, size_t size, std::vector<uint32_t>* recording) {
    const auto& spans = reader_.read(data, size);
    ++document_;
    if (plan_.unit == Unit::words) count_words(spans, recording);
    else if (plan_.unit == Unit::skips) count_skips(spans, recording);
    else count_characters(spans, recording);
  }
  // The same of a text of words that belongs to one of k classes, for which the terms are counted apart.
  void count_labeled(const uint8_t* data, size_t size, uint32_t label, uint32_t k) {
    const auto& spans = reader_.read(data, size);
    ++document_;
    class_ = label, classes_ = k;
    by_class.resize(size_t(plan_.high));
    count_words(spans, nullptr);
  }
  void trim() { reader_.trim(); }

  TokenTable tokens;
  std::vector<Stat> stats;
  std::vector<PairTable> pairs;  // pairs[n]: the n-grams, each the pair of an (n-1)-gram and a token
  WordCache cache;
  std::vector<std::vector<uint64_t>> by_class;  // by_class[n - 1]: how often each n-gram stands in texts of each class

 private:
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

  void count_tokens(Spans spans) {
    const uint8_t* data = reader_.text().data;
    size_t n = spans.size();
    if (token_keys_.size() < n) token_keys_.resize(n + n / 2);
    TokenKey* keys = token_keys_.data();
    for (size_t i = 0; i < n; ++i) {
      keys[i] = TokenKey(data + spans[i].start, spans[i].end - spans[i].start);
      tokens.prefetch_slot(keys[i]);
    }
    ids_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      ids_[i] = tokens.add(keys[i], data + spans[i].start, spans[i].end - spans[i].start);
      if (ids_[i] < stats.size()) prefetch(&stats[ids_[i]]);
    }
    if (stats.size() < tokens.size()) stats.resize(tokens.size(), Stat{0, 0, 0});
    for (uint32_t id : ids_) note(id, 1);
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
  void count_words(Spans spans, std::vector<uint32_t>* recording) {
    count_tokens(spans);
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

  void count_skips(Spans spans, std::vector<uint32_t>* recording) {
    count_tokens(spans);
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

  void count_characters(Spans spans, std::vector<uint32_t>* recording) {
    cache.read(reader_, reader_.text().data, spans, NewTerms{tokens});
    if (recording) cache.record(*recording);
    cache.use_terms([&](uint32_t id, uint32_t times) { note(id, times); });
    if (!recording) cache.bound();
  }

  Plan plan_;
  int high_;
  Reader reader_;
  std::vector<uint32_t> ids_, nodes_;
  std::vector<uint64_t> keys_, hashes_;
  std::vector<TokenKey> token_keys_;
  uint32_t document_ = 0, class_ = 0, classes_ = 0;
};

}  // namespace linnaeus
