// Character n-grams of a word depend on nothing but the word: they are found once for each distinct word.
#pragma once
#include <cstdint>
#include <vector>

#include "grams.hpp"
#include "tables.hpp"

namespace linnaeus {

class WordCache {
 public:
  // For each n-gram of the spans, once for each distinct word: use(find(bytes, size), times the word occurs). A word
  // that was met in an earlier text is not asked for again.
  template <class Find, class Use>
  void for_each_term(Reader& reader, const uint8_t* data, const std::vector<Span>& spans, Find&& find, Use&& use) {
    for (Span s : spans) {
      const uint8_t* p = data + s.start;
      size_t n = s.end - s.start;
      if (n > LONGEST) {
        reader.grams(p, n, [&](const uint8_t* q, size_t m) { use(find(q, m), 1); });
        continue;
      }
      uint32_t word = words_.add(p, n);
      if (word == times_.size()) {
        reader.grams(p, n, [&](const uint8_t* q, size_t m) { terms_.push_back(find(q, m)); });
        starts_.push_back(uint32_t(terms_.size()));
        times_.push_back(0);
      }
      if (times_[word]++ == 0) met_.push_back(word);
    }
    for (uint32_t word : met_) {
      for (uint32_t i = starts_[word]; i < starts_[word + 1]; ++i) use(terms_[i], times_[word]);
      times_[word] = 0;
    }
    met_.clear();
    if (terms_.size() > MOST) clear();
  }

 private:
  static constexpr size_t LONGEST = 64, MOST = size_t(1) << 23;

  void clear() {
    words_.clear();
    terms_.clear();
    times_.clear();
    starts_.assign(1, 0);
  }

  TokenTable words_;
  std::vector<uint32_t> starts_{0}, terms_, times_, met_;
};

}  // namespace linnaeus
