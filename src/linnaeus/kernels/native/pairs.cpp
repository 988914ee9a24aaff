// Tokens of texts and of candidates, compared: what entity linking and other choices between texts look at.
//
// token_keys reads texts into the hash of each token, in order. A *group* is an example: it has one row of tokens of
// its own and several candidates, each with a row of tokens; candidates that are the same text share a row.
// align_tokens compares the order of the tokens, meet_tokens asks which tokens of a candidate stand in a set that
// belongs to its group. Both are quadratic in the length of names, which are short; sets are sorted once for each run
// of groups that share one.
#include <nanobind/stl/tuple.h>

#include <array>
#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "grams.hpp"
#include "hash.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "texts.hpp"

namespace linnaeus {
namespace {

constexpr size_t kGroupsPerPiece = 256;
constexpr size_t kLongest = 64;  // tokens of a name that are compared in order: longer ones are cut

nb::tuple token_keys(In<uint8_t> data, In<int64_t> offsets, int change, int tokenizer, int threads) {
  Plan plan({0, change, tokenizer, 1, 1, 0});
  Texts texts(data, offsets);
  std::vector<int64_t> rows(texts.size + 1, 0);
  std::vector<uint64_t> all;
  {
    nb::gil_scoped_release release;
    std::vector<size_t> cuts = cut_pieces(texts.at, texts.size);
    std::vector<std::vector<uint64_t>> found(cuts.size() - 1);
    for_each_piece(found.size(), threads, [&](size_t piece, int) {
      Reader reader(plan);
      for (size_t row = cuts[piece]; row < cuts[piece + 1]; ++row) {
        for (Span s : reader.read(texts.begin(row), size_t(texts.end(row) - texts.begin(row))))
          found[piece].push_back(hash_bytes(reader.text().data + s.start, s.end - s.start));
        rows[row + 1] = int64_t(found[piece].size());
      }
    });
    for (size_t piece = 0; piece < found.size(); ++piece) {
      for (size_t row = cuts[piece]; row < cuts[piece + 1]; ++row) rows[row + 1] += int64_t(all.size());
      all.insert(all.end(), found[piece].begin(), found[piece].end());
    }
  }
  return nb::make_tuple(to_numpy(all), to_numpy(rows));
}

using Keys = std::tuple<In<int64_t>, In<uint64_t>>;
using Members = std::tuple<In<int64_t>, In<int64_t>, In<int64_t>>;

struct Rows {
  const int64_t* at;
  const uint64_t* keys;
  size_t count;

  Rows(const Keys& arrays, const char* kernel)
      : at(std::get<0>(arrays).data()),
        keys(std::get<1>(arrays).data()),
        count(std::get<0>(arrays).size() ? std::get<0>(arrays).size() - 1 : 0) {
    for (size_t i = 0; i < std::get<0>(arrays).size(); ++i)
      if (at[i] < (i ? at[i - 1] : 0) || at[i] > int64_t(std::get<1>(arrays).size()))
        throw std::invalid_argument(std::string(kernel) + ": the offsets do not fit the keys");
  }
  size_t size(int64_t row) const { return size_t(at[row + 1] - at[row]); }
  const uint64_t* begin(int64_t row) const { return keys + at[row]; }
};

// Groups of candidates: offsets (n+1), the row of each group (n) and that of each candidate (m).
struct Groups {
  const int64_t *at, *own, *candidate;
  size_t count;

  Groups(const Members& arrays, size_t owns, size_t rows, const char* kernel)
      : at(std::get<0>(arrays).data()),
        own(std::get<1>(arrays).data()),
        candidate(std::get<2>(arrays).data()),
        count(std::get<1>(arrays).size()) {
    auto fail = [&](const char* what) { throw std::invalid_argument(std::string(kernel) + what); };
    if (std::get<0>(arrays).size() != count + 1 || at[0] != 0) fail(": the offsets do not fit the groups");
    for (size_t i = 0; i < count; ++i)
      if (at[i + 1] < at[i] || size_t(own[i]) >= owns) fail(": a group has no row");
    if (at[count] != int64_t(std::get<2>(arrays).size())) fail(": the offsets do not fit the candidates");
    for (int64_t i = 0; i < at[count]; ++i)
      if (size_t(candidate[i]) >= rows) fail(": a candidate has no row");
  }
};

// How many tokens of b stand in a; how many both begin with; how many both end with; the longest run both have.
void align(const uint64_t* a, size_t n, const uint64_t* b, size_t m, int32_t* out) {
  n = std::min(n, kLongest), m = std::min(m, kLongest);
  std::array<int32_t, kLongest + 1> run{};
  int32_t shared = 0, prefix = 0, suffix = 0, longest = 0;
  for (size_t j = 0; j < m; ++j) {
    bool met = false;
    for (size_t i = n; i-- > 0;) {
      bool same = a[i] == b[j];
      met |= same;
      run[i + 1] = same ? run[i] + 1 : 0;
      longest = std::max(longest, run[i + 1]);
    }
    shared += met;
  }
  while (size_t(prefix) < std::min(n, m) && a[prefix] == b[prefix]) ++prefix;
  while (size_t(suffix) < std::min(n, m) && a[n - 1 - size_t(suffix)] == b[m - 1 - size_t(suffix)]) ++suffix;
  out[0] = shared, out[1] = prefix, out[2] = suffix, out[3] = longest;
}

auto align_tokens(Keys texts, Keys candidates, Members groups, int threads) {
  Rows own(texts, "align_tokens"), rows(candidates, "align_tokens");
  Groups all(groups, own.count, rows.count, "align_tokens");
  Buffer<int32_t> out(size_t(all.at[all.count]) * 4);
  {
    nb::gil_scoped_release release;
    for_each_piece((all.count + kGroupsPerPiece - 1) / kGroupsPerPiece, threads, [&](size_t piece, int) {
      size_t last = std::min(all.count, (piece + 1) * kGroupsPerPiece);
      for (size_t g = piece * kGroupsPerPiece; g < last; ++g)
        for (int64_t c = all.at[g]; c < all.at[g + 1]; ++c)
          align(own.begin(all.own[g]), own.size(all.own[g]), rows.begin(all.candidate[c]), rows.size(all.candidate[c]),
                &out[size_t(c) * 4]);
    });
  }
  return to_numpy(std::move(out));
}

// A set of keys with values, sorted; of equal keys the first counts.
struct Set {
  std::vector<std::pair<uint64_t, double>> items;

  void fill(const Rows& rows, const double* values, int64_t row) {
    items.clear();
    for (int64_t i = rows.at[row]; i < rows.at[row + 1]; ++i) items.emplace_back(rows.keys[i], values[i]);
    std::stable_sort(items.begin(), items.end(), [](auto& a, auto& b) { return a.first < b.first; });
  }
  const double* find(uint64_t key) const {
    auto at = std::lower_bound(items.begin(), items.end(), key, [](auto& item, uint64_t k) { return item.first < k; });
    return at != items.end() && at->first == key ? &at->second : nullptr;
  }
};

// For each candidate: tokens that are not the group's own, how many of these are in its set, the sum and the largest of
// their values (0 where there are none).
auto meet_tokens(std::tuple<Keys, In<double>, In<int64_t>> sets, Keys texts, Keys candidates, Members groups,
                 int threads) {
  auto& [set_keys, values, which] = sets;
  Rows set(set_keys, "meet_tokens"), own(texts, "meet_tokens"), rows(candidates, "meet_tokens");
  Groups all(groups, own.count, rows.count, "meet_tokens");
  if (values.size() != std::get<1>(set_keys).size() || which.size() != all.count)
    throw std::invalid_argument("meet_tokens: the values do not fit the sets");
  for (size_t g = 0; g < all.count; ++g)
    if (size_t(which.data()[g]) >= set.count) throw std::invalid_argument("meet_tokens: a group has no set");
  Buffer<double> out(size_t(all.at[all.count]) * 4);
  auto measure = [&](const Set& known, size_t g, int64_t c) {
    int64_t row = all.candidate[c];
    const uint64_t *mine = own.begin(all.own[g]), *end = mine + own.size(all.own[g]);
    double* found = &out[size_t(c) * 4];
    std::fill(found, found + 4, 0.0);
    for (const uint64_t* key = rows.begin(row); key != rows.begin(row) + rows.size(row); ++key) {
      if (std::find(mine, end, *key) != end) continue;
      found[0] += 1.0;
      if (const double* value = known.find(*key))
        found[1] += 1.0, found[2] += *value, found[3] = std::max(found[3], *value);
    }
  };
  {
    nb::gil_scoped_release release;
    for_each_piece((all.count + kGroupsPerPiece - 1) / kGroupsPerPiece, threads, [&](size_t piece, int) {
      Set known;
      int64_t filled = -1;
      size_t last = std::min(all.count, (piece + 1) * kGroupsPerPiece);
      for (size_t g = piece * kGroupsPerPiece; g < last; ++g) {
        if (which.data()[g] != filled) known.fill(set, values.data(), filled = which.data()[g]);
        for (int64_t c = all.at[g]; c < all.at[g + 1]; ++c) measure(known, g, c);
      }
    });
  }
  return to_numpy(std::move(out));
}

}  // namespace

void bind_pairs(nb::module_& m) {
  using namespace nb::literals;
  m.def("token_keys", &token_keys, "data"_a, "offsets"_a, "case"_a, "tokenizer"_a, "threads"_a);
  m.def("align_tokens", &align_tokens, "texts"_a, "candidates"_a, "groups"_a, "threads"_a);
  m.def("meet_tokens", &meet_tokens, "sets"_a, "texts"_a, "candidates"_a, "groups"_a, "threads"_a);
}

}  // namespace linnaeus
