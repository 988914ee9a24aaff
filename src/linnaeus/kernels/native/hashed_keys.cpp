#include "hashed_keys.hpp"

#include <algorithm>

namespace linnaeus {

void HashedKeys::find(Reader& reader, const Plan& plan, Spans spans, HashColumns column) {
  const uint8_t* data = reader.text().data;
  count_ = 0;
  if (!plan.of_words()) {
    auto use = [&](const uint8_t* p, size_t n) { add(column(hash_bytes(p, n))); };
    for (Span s : spans) reader.grams(data + s.start, s.end - s.start, use);
    return;
  }
  tokens_.resize(spans.size());
  for (size_t i = 0; i < spans.size(); ++i)
    tokens_[i] = hash_bytes(data + spans[i].start, spans[i].end - spans[i].start);
  plan.unit == Unit::words ? words(plan, column) : skips(plan, column);
}

void HashedKeys::words(const Plan& plan, HashColumns column) {
  size_t n = tokens_.size();
  if (n * size_t(plan.high) > keys_.size()) keys_.resize(2 * n * size_t(plan.high));
  uint32_t* key = keys_.data();
  if (plan.low == 1)
    for (uint64_t token : tokens_) *key++ = column(token);
  for (int size = 2; size <= plan.high && n >= size_t(size); ++size) {
    size_t count = n - size + 1;
    grams_.resize(std::max(grams_.size(), count));
    const uint64_t* prefix = size == 2 ? tokens_.data() : grams_.data();
    for (size_t i = 0; i < count; ++i) grams_[i] = hash_join(prefix[i], tokens_[i + size - 1]);
    if (size < plan.low) continue;
    for (size_t i = 0; i < count; ++i) *key++ = column(grams_[i]);
  }
  count_ = size_t(key - keys_.data());
}

void HashedKeys::skips(const Plan& plan, HashColumns column) {
  size_t n = tokens_.size();
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 2; j <= i + 1 + plan.gap && j < n; ++j)
      add(column(hash_join(hash_join(tokens_[i], GAP), tokens_[j])));
}

}  // namespace linnaeus
