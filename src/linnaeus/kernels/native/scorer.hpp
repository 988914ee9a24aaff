// Texts to scores without a matrix in between: what a scorer is made of, and the work on one text.
//
// Parts count terms (a vocabulary, or hashes); a group puts the counts of its parts side by side, values them and gives
// them a length; the groups side by side are the row that meets the weights. All of it is done as index_terms,
// hash_terms, weigh and rows_dot do it, in the same order: the scores have the bits of the product with their matrix.
#pragma once
#include <optional>
#include <vector>

#include "counter.hpp"
#include "dense_counter.hpp"
#include "digests.hpp"
#include "grams.hpp"
#include "hashed_keys.hpp"
#include "lookup.hpp"
#include "word_cache.hpp"

namespace linnaeus {

struct Part {
  size_t source;  // which form of the text is read
  Plan plan;
  std::optional<Vocabulary> vocabulary;
  HashColumns hashed{0, false};  // where there is no vocabulary
  uint32_t width;
};

// BM25: tf (k1 + 1) / (tf + k1 (1 - b + b length / mean)).
struct Saturation {
  double k1, b, mean;
};

struct Group {
  std::vector<Part> parts;
  const float* table;  // what a count is worth; none where `largest` is 0
  size_t largest;
  const float* weights;  // of the columns, or null
  const int32_t* kept;   // the number of each column among those that are kept, or -1; null: all are
  int length;
  std::optional<Saturation> saturation;
  int32_t shift;  // the first row of weights
};

struct Bytes {
  const uint8_t* data;
  size_t size;
};

struct Model {
  std::vector<Group> groups;
  const float* weights;  // (d, k)
  const double* bias;    // (k)
  size_t k;
  const BlockGuard* guard;  // of the weights, where they are not checked yet; or null
};

// The scratch memory of one thread. What it remembers of earlier texts never changes a score.
class Scoring {
 public:
  explicit Scoring(const Model& model);

  // The k scores of one text, given in each form that is read.
  void score(const Model& model, const Bytes* sources, double* out);

 private:
  struct Scratch {
    explicit Scratch(const Plan& plan) : reader(plan), cache(WORDS) {}
    Reader reader;
    Lookup lookup;
    HashedKeys hashed;
    WordCache cache;
    std::optional<DenseCounter> dense;  // for the n-grams of a long text
  };
  static constexpr size_t WORDS = size_t(1) << 18;  // n-grams of remembered words: more only help texts that come again

  void count(const Part& part, Scratch& scratch, Bytes text);
  bool count_densely(const Part& part, Scratch& scratch, size_t size);
  void append(int32_t shift);
  void value(const Group& group, size_t first);
  void saturate(const Saturation& by, size_t first);
  void keep(const Group& group, size_t first);

  std::vector<Scratch> parts_;
  Counter counter_;
  RowBlock counted_;
  std::vector<int32_t> columns_;  // these only grow: the first `size_` are valid
  std::vector<float> values_;
  std::vector<double> exact_;
  size_t size_ = 0;
};

}  // namespace linnaeus
