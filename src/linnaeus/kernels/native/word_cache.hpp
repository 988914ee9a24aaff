// Character n-grams of a word depend on nothing but the word: they are found once for each distinct word.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "grams.hpp"
#include "tables.hpp"

namespace linnaeus {

class WordCache {
 public:
  static constexpr size_t LONGEST = 64;  // bytes of a word that is worth remembering

  // Remembers the words of about `most` n-grams.
  explicit WordCache(size_t most = size_t(1) << 24) : most_(most) {}

  // Looks at the words of one text. New ones are cut into n-grams, each asked for by terms.find(key, bytes, size) after
  // terms.fetch(key) has announced it.
  template <class Terms>
  void read(Reader& reader, const uint8_t* data, Spans spans, Terms&& terms) {
    look_ahead(data, spans);
    for (size_t i = 0; i < spans.size(); ++i) {
      const uint8_t* p = data + spans[i].start;
      size_t n = spans[i].end - spans[i].start;
      if (n > LONGEST) {
        reader.grams(p, n, [&](const uint8_t* q, size_t m) { loose_.push_back(terms.find(TokenKey(q, m), q, m)); });
        continue;
      }
      uint32_t word = words_.add(keys_[i], p, n);
      if (word == entries_.size()) add_word(reader, p, n, terms);
      prefetch(&entries_[word]);
      ids_.push_back(word);
    }
    for (uint32_t word : ids_)
      if (entries_[word].times++ == 0) met_.push_back(word), prefetch(terms_.data() + entries_[word].start);
    ids_.clear();
  }

  // Calls use(term, times) for the n-grams of the text that was read, once for each of its distinct words, and forgets
  // the text; `read` may forget the words as well when they become many.
  template <class Use>
  void use_terms(Use&& use) {
    for (uint32_t word : met_) {
      Entry& e = entries_[word];
      for (uint32_t i = e.start; i < e.end; ++i) use(terms_[i], e.times);
      e.times = 0;
    }
    for (uint32_t term : loose_) use(term, 1);
    met_.clear();
    loose_.clear();
  }

  // Appends the text that was read to a recording: how many words, each with its times, how many loose n-grams, these.
  void record(LargeVector<uint32_t>& out) const {
    out.push_back(uint32_t(met_.size()));
    for (uint32_t word : met_) out.push_back(word), out.push_back(entries_[word].times);
    out.push_back(uint32_t(loose_.size()));
    out.insert(out.end(), loose_.begin(), loose_.end());
  }

  // Every term that is kept, so that it can be given another number.
  std::vector<uint32_t>& terms() { return terms_; }

  struct Entry {
    uint32_t start, end, times;
  };
  // For each word, where its terms stand.
  const std::vector<Entry>& entries() const { return entries_; }

  void forget_words() { words_.clear(); }
  void bound() {
    if (terms_.size() <= most_) return;
    words_.clear();
    terms_.clear();
    entries_.clear();
  }

 private:
  struct Gram {
    TokenKey key;
    const uint8_t* bytes;
    size_t size;
  };

  // Asks memory for the slots of all words before the first is looked at.
  void look_ahead(const uint8_t* data, Spans spans) {
    keys_.clear();
    for (Span s : spans) {
      keys_.emplace_back(data + s.start, std::min<size_t>(s.end - s.start, LONGEST + 1));
      words_.prefetch_slot(keys_.back());
    }
  }

  template <class Terms>
  void add_word(Reader& reader, const uint8_t* p, size_t n, Terms&& terms) {
    new_.clear();
    reader.grams(p, n, [&](const uint8_t* q, size_t m) {
      new_.push_back({TokenKey(q, m), q, m});
      terms.fetch(new_.back().key);
    });
    uint32_t start = uint32_t(terms_.size());
    for (const Gram& g : new_) terms_.push_back(terms.find(g.key, g.bytes, g.size));
    entries_.push_back({start, uint32_t(terms_.size()), 0});
  }

  size_t most_;
  TokenTable words_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> terms_, met_, ids_, loose_;
  std::vector<TokenKey> keys_;
  std::vector<Gram> new_;
};

}  // namespace linnaeus
