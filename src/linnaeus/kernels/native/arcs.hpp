// Features of the arcs of dependency trees: templates over a head, a dependent and what stands between them.
//
// A sentence of n tokens has positions 0 (the root) and 1..n; an arc leads from a head h of 0..n to a dependent m of
// 1..n. Each token has a code of 64 bits for each of its attributes (word, lemma, tag ...). An atom (side, offset,
// attribute) of a template is the code at h + offset (side 0) or m + offset (side 1); before the root, at the root and
// behind the last token stand codes of their own. Side 2 is the code of each token between head and dependent.
//
// The codes of one side of a template are hashed together to a number of `bits` bits, its part, once for each position.
// The column of a template is the exclusive or of its parts: no hash is computed for an arc. Each template gives two
// features: x ^ direction, and x ^ direction ^ distance (1 to 7); they lie in one line of memory of 16 floats. A
// template with side 2 gives two for each distinct part between, the second with how often it stands there.
// Reference: McDonald, Crammer and Pereira 2005, for the templates; Weinberger et al. 2009, for hashed features.
//
// The score of an arc is the sum of the weights of its features, in float64, in this order: templates of the head,
// templates of the dependent, templates of both in eight lanes, templates with tokens between.
#pragma once
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "blocks.hpp"
#include "hash.hpp"
#include "targets.hpp"

namespace linnaeus::arcs {

constexpr uint64_t kBefore = K0, kRoot = K1, kAfter = K2;  // codes of positions without a token
constexpr uint32_t kRight = 8;                             // the bit of the direction; the distance has those below
constexpr uint32_t kFarthest = 7;
constexpr int kLeastBits = 4, kMostBits = 30;
constexpr size_t kSlots = 16, kLanes = 8;
constexpr size_t kMostTokens = 1 << 20;
constexpr int32_t kFarthestOffset = 100;
enum Side { kHead, kDependent, kBetween };

using Coded = std::tuple<In<int64_t>, Table<uint64_t>>;  // offsets, codes (m, a)

[[noreturn]] inline void refuse(const char* what) { throw std::invalid_argument(std::string("arcs: ") + what); }

struct Atom {
  int32_t offset, attribute;
};

struct Template {
  uint64_t number;
  std::vector<Atom> atoms[2];
  int32_t between = -1;
};

// Templates from rows (template, side, offset, attribute), those of a template one behind the other.
struct Plan {
  std::vector<Template> heads, dependents, pairs, betweens;

  Plan(const Table<int32_t>& rows, size_t attributes);

  size_t count() const { return heads.size() + dependents.size() + pairs.size() + betweens.size(); }
};

// Sentences as codes, checked once.
struct Tokens {
  const int64_t* offsets;
  const uint64_t* codes;
  size_t n, attributes;

  explicit Tokens(const Coded& coded);

  size_t size(size_t i) const { return size_t(offsets[i + 1] - offsets[i]); }
  size_t count() const { return size_t(offsets[n]); }
};

// Refuses heads that are not one for each token, in its sentence.
void check_heads(const Tokens& tokens, const In<int32_t>& heads);

inline int bits_of(size_t width) {
  if (!std::has_single_bit(width) || width < (1u << kLeastBits) || width > (1u << kMostBits))
    refuse("the columns are a power of two from 2^4 to 2^30");
  return std::countr_zero(width);
}

inline uint32_t distance(size_t h, size_t m) {
  size_t d = h < m ? m - h : h - m;
  return uint32_t(d <= 4 ? d : d <= 7 ? 5 : d <= 12 ? 6 : kFarthest);
}

inline uint32_t slot(size_t h, size_t m) { return (m > h ? kRight : 0) | distance(h, m); }

// The parts of all templates at all positions of one sentence.
class Sentence {
 public:
  Sentence(const Plan& plan, int bits) : plan_(plan), bits_(bits) {}

  void read(const Tokens& tokens, size_t i);
  size_t size() const { return n_; }

  // S[(m-1) (n+1) + h] of all arcs; 0 where h = m.
  void scores(const float* W, double* S);
  void scores(const double* W, double* S);

  // Calls add(column) for each feature of an arc.
  template <class Add>
  void columns(size_t h, size_t m, Add&& add) const {
    plain_columns(h, m, add);
    for (size_t i = 0; i < plan_.betweens.size(); ++i) {
      uint32_t x = between_[kHead][i * (n_ + 1) + h] ^ between_[kDependent][i * (n_ + 1) + m] ^ (slot(h, m) & kRight);
      const uint32_t* parts = between_[kBetween].data() + i * (n_ + 1);
      for_between(parts, h, m, [&](uint32_t part, uint32_t count) { add(x ^ part), add(x ^ part ^ count); });
    }
  }

  // Calls add(h, m, column) for each feature of all arcs with wanted(h, m): what stands between is counted once for all
  // arcs of a head, so this takes O(n^3) steps where `columns` would take O(n^4).
  template <class Wanted, class Add>
  void every_column(Wanted&& wanted, Add&& add) {
    for (size_t m = 1; m <= n_; ++m)
      for (size_t h = 0; h <= n_; ++h)
        if (h != m && wanted(h, m)) plain_columns(h, m, [&](uint32_t column) { add(h, m, column); });
    for (size_t i = 0; i < plan_.betweens.size(); ++i)
      walk_between(i, [&](size_t h, size_t m, uint32_t x) {
        if (!wanted(h, m)) return;
        for (auto [part, count] : met_) add(h, m, x ^ part), add(h, m, x ^ part ^ count);
      });
  }

 private:
  // Features of templates without tokens between.
  template <class Add>
  void plain_columns(size_t h, size_t m, Add&& add) const {
    uint32_t s = slot(h, m), d = s & kRight;
    auto both = [&](uint32_t x) { add(x ^ d), add(x ^ s); };
    for (size_t i = 0; i < plan_.heads.size(); ++i) both(head_[h * plan_.heads.size() + i]);
    for (size_t i = 0; i < plan_.dependents.size(); ++i) both(dependent_[m * plan_.dependents.size() + i]);
    size_t pairs = plan_.pairs.size();
    for (size_t i = 0; i < pairs; ++i) both(pair_[kHead][h * pairs + i] ^ pair_[kDependent][m * pairs + i]);
  }

  // Calls visit(h, m, x) for all arcs and one template with tokens between: dependents from each head outwards. x are
  // the parts of both ends with the direction; met_ has the parts that were met on the way, with their counts.
  template <class Visit>
  void walk_between(size_t i, Visit&& visit) {
    size_t k = n_ + 1;
    const uint32_t *heads = between_[kHead].data() + i * k, *dependents = between_[kDependent].data() + i * k;
    const uint32_t* parts = between_[kBetween].data() + i * k;
    for (size_t h = 0; h < k; ++h)
      for (std::ptrdiff_t step : {-1, 1}) {
        met_.clear();
        for (std::ptrdiff_t m = std::ptrdiff_t(h) + step; m > 0 && size_t(m) < k; m += step) {
          visit(h, size_t(m), heads[h] ^ dependents[m] ^ (step > 0 ? kRight : 0));
          auto same = std::find_if(met_.begin(), met_.end(), [&](auto& one) { return one.first == parts[m]; });
          if (same == met_.end()) met_.emplace_back(parts[m], 1);
          else same->second = std::min(same->second + 1, kFarthest);
        }
      }
  }

  template <class Work>
  static void for_between(const uint32_t* parts, size_t h, size_t m, Work&& work) {
    std::ptrdiff_t step = m > h ? 1 : -1;
    for (const uint32_t *p = parts + h + step, *end = parts + m; p != end; p += step) {
      bool met = false;
      for (const uint32_t* q = parts + h + step; q != p && !met; q += step) met = *q == *p;
      if (met) continue;
      uint32_t count = 0;
      for (const uint32_t* q = p; q != end && count < kFarthest; q += step) count += *q == *p;
      work(*p, count);
    }
  }

  uint64_t code(std::ptrdiff_t p, int32_t attribute) const {
    if (p <= 0) return p ? kBefore : kRoot;
    return size_t(p) > n_ ? kAfter : codes_[size_t(p - 1) * attributes_ + size_t(attribute)];
  }
  uint32_t part(const Template& one, Side side, size_t p) const;
  template <class S>
  void scores_of(const S* W, double* out);
  template <class S>
  void add_between(const S* W, size_t i, double* out);

  const Plan& plan_;
  int bits_;
  size_t n_ = 0, attributes_ = 0;
  const uint64_t* codes_ = nullptr;
  std::vector<uint32_t> head_, dependent_, pair_[2], between_[3];
  std::vector<double> sums_[2];
  std::vector<std::pair<uint32_t, uint32_t>> met_;
};

// Where the arcs of each sentence begin (n+1); a sentence of n tokens has n (n+1) arcs.
inline std::vector<size_t> arc_offsets(const Tokens& tokens) {
  std::vector<size_t> found(tokens.n + 1, 0);
  for (size_t i = 0; i < tokens.n; ++i) found[i + 1] = found[i] + tokens.size(i) * (tokens.size(i) + 1);
  return found;
}

}  // namespace linnaeus::arcs
