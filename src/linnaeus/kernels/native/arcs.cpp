// Scores and columns of the arcs of dependency trees. See arcs.hpp.
#include "arcs.hpp"

#include <cstdlib>

#include "parallel.hpp"

namespace linnaeus {
namespace arcs {

Plan::Plan(const Table<int32_t>& rows, size_t attributes) {
  if (rows.shape(1) != 4) refuse("atoms are rows of template, side, offset and attribute");
  const int32_t* row = rows.data();
  for (size_t i = 0; i < rows.shape(0);) {
    Template one;
    int32_t number = row[0];
    one.number = uint64_t(uint32_t(number));
    for (; i < rows.shape(0) && row[0] == number; ++i, row += 4) {
      bool sound = row[0] >= 0 && row[1] >= kHead && row[1] <= kBetween && std::abs(row[2]) <= kFarthestOffset;
      if (!sound || row[3] < 0 || size_t(row[3]) >= attributes || (row[1] == kBetween && row[2]))
        refuse("an atom is not known");
      if (row[1] == kBetween) one.between = row[3];
      else one.atoms[row[1]].push_back({row[2], row[3]});
    }
    bool head = !one.atoms[kHead].empty(), dependent = !one.atoms[kDependent].empty();
    (one.between >= 0 ? betweens : head && dependent ? pairs : head ? heads : dependents).push_back(std::move(one));
  }
}

Tokens::Tokens(const Coded& coded)
    : offsets(std::get<0>(coded).data()),
      codes(std::get<1>(coded).data()),
      n(std::get<0>(coded).size() ? std::get<0>(coded).size() - 1 : 0),
      attributes(std::get<1>(coded).shape(1)) {
  size_t m = std::get<1>(coded).shape(0);
  if (!std::get<0>(coded).size() || offsets[0] != 0 || offsets[n] != int64_t(m))
    refuse("the offsets do not fit the tokens");
  for (size_t i = 0; i < n; ++i) {
    if (offsets[i + 1] < offsets[i]) refuse("the offsets do not fit the tokens");
    if (size(i) > kMostTokens) refuse("a sentence is too long");
  }
}

void check_heads(const Tokens& tokens, const In<int32_t>& heads) {
  if (heads.size() != tokens.count()) refuse("there is one head for each token");
  for (size_t i = 0; i < tokens.n; ++i)
    for (int64_t t = tokens.offsets[i]; t < tokens.offsets[i + 1]; ++t)
      if (size_t(uint32_t(heads.data()[t])) > tokens.size(i) || heads.data()[t] == t - tokens.offsets[i] + 1)
        refuse("a head is not in its sentence, or is its own dependent");
}

uint32_t Sentence::part(const Template& one, Side side, size_t p) const {
  uint64_t hash = fold(one.number ^ K0, uint64_t(side) ^ K1);
  if (side == kBetween) hash = hash_join(hash, code(std::ptrdiff_t(p), one.between));
  else
    for (const Atom& atom : one.atoms[side])
      hash = hash_join(hash, code(std::ptrdiff_t(p) + atom.offset, atom.attribute));
  return uint32_t(hash >> (64 - bits_));
}

void Sentence::read(const Tokens& tokens, size_t i) {
  size_t begin = size_t(tokens.offsets[i]);
  n_ = tokens.size(i);
  attributes_ = tokens.attributes;
  codes_ = tokens.codes + begin * attributes_;
  auto fill = [&](std::vector<uint32_t>& to, const std::vector<Template>& from, Side side) {
    to.resize((n_ + 1) * from.size());
    for (size_t p = 0, at = 0; p <= n_; ++p)
      for (const Template& one : from) to[at++] = part(one, side, p);
  };
  fill(head_, plan_.heads, kHead);
  fill(dependent_, plan_.dependents, kDependent);
  fill(pair_[kHead], plan_.pairs, kHead);
  fill(pair_[kDependent], plan_.pairs, kDependent);
  for (Side side : {kHead, kDependent, kBetween}) {
    between_[side].resize((n_ + 1) * plan_.betweens.size());
    for (size_t k = 0, at = 0; k < plan_.betweens.size(); ++k)
      for (size_t p = 0; p <= n_; ++p) between_[side][at++] = part(plan_.betweens[k], side, p);
  }
}

namespace {

// The sum of the features of templates of one side, for each direction and distance.
template <class S>
LINNAEUS_INLINE void sum_slots(const S* W, const uint32_t* parts, size_t count, double* sums) {
  for (uint32_t s = 0; s < kSlots; ++s) {
    double total = 0;
    for (size_t i = 0; i < count; ++i) total += double(W[parts[i] ^ (s & kRight)]) + double(W[parts[i] ^ s]);
    sums[s] = total;
  }
}

// The same for templates of both sides at one arc.
template <class S>
LINNAEUS_INLINE double sum_pairs(const S* W, const uint32_t* x, const uint32_t* y, size_t count, uint32_t s) {
  double lanes[kLanes] = {};
  for (size_t i = 0; i < count; i += kLanes) {
    size_t stop = std::min(kLanes, count - i);
    for (size_t j = 0; j < stop; ++j) {
      uint32_t c = x[i + j] ^ y[i + j];
      lanes[j] += double(W[c ^ (s & kRight)]) + double(W[c ^ s]);
    }
  }
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

}  // namespace

template <class S>
void Sentence::scores_of(const S* W, double* out) {
  size_t a = plan_.heads.size(), b = plan_.dependents.size(), c = plan_.pairs.size(), k = n_ + 1;
  for (auto& sums : sums_) sums.resize(k * kSlots);
  for (size_t p = 0; p < k; ++p) {
    sum_slots(W, head_.data() + p * a, a, sums_[kHead].data() + p * kSlots);
    sum_slots(W, dependent_.data() + p * b, b, sums_[kDependent].data() + p * kSlots);
  }
  for (size_t m = 1; m < k; ++m)
    for (size_t h = 0; h < k; ++h) {
      double& total = out[(m - 1) * k + h];
      total = 0;
      if (h == m) continue;
      uint32_t s = slot(h, m);
      const uint32_t *x = pair_[kHead].data() + h * c, *y = pair_[kDependent].data() + m * c;
      total = sums_[kHead][h * kSlots + s] + sums_[kDependent][m * kSlots + s];
      total += sum_pairs(W, x, y, c, s);
    }
  for (size_t i = 0; i < plan_.betweens.size(); ++i) add_between(W, i, out);
}

// The features of one template with tokens between.
template <class S>
void Sentence::add_between(const S* W, size_t i, double* out) {
  walk_between(i, [&](size_t h, size_t m, uint32_t x) {
    double total = 0;
    for (auto [part, count] : met_) total += double(W[x ^ part]) + double(W[x ^ part ^ count]);
    out[(m - 1) * (n_ + 1) + h] += total;
  });
}

void Sentence::scores(const float* W, double* S) { scores_of(W, S); }
void Sentence::scores(const double* W, double* S) { scores_of(W, S); }

}  // namespace arcs

namespace {

using namespace arcs;

// Problem: the score of each arc of each sentence.
// Given: sentences, templates, weights W (2^bits).  Returned: scores, n (n+1) for each sentence, see arcs.hpp.
template <class S>
auto arc_scores(Coded coded, Table<int32_t> atoms, In<S> W, int threads) {
  Tokens tokens(coded);
  Plan plan(atoms, tokens.attributes);
  int bits = bits_of(W.size());
  std::vector<size_t> offsets = arc_offsets(tokens), cuts = cut_after(kArcsPerPiece, offsets);
  Buffer<double> found(offsets.back());
  {
    nb::gil_scoped_release release;
    threads = worth(threads, offsets.back() * plan.count());
    std::vector<Sentence> workers(size_t(std::max(threads, 1)), Sentence(plan, bits));
    for_each_piece(cuts.size() - 1, threads, [&](size_t piece, int worker) {
      for (size_t i = cuts[piece]; i < cuts[piece + 1]; ++i) {
        workers[size_t(worker)].read(tokens, i);
        workers[size_t(worker)].scores(W.data(), found.get() + offsets[i]);
      }
    });
  }
  return to_numpy(std::move(found));
}

// The rows of some sentences: columns, and how many each arc has.
struct Columns {
  std::vector<int32_t> columns;
  std::vector<int64_t> counts;

  void add(const Sentence& sentence, size_t h, size_t m) {
    size_t before = columns.size();
    if (h != m) sentence.columns(h, m, [&](uint32_t column) { columns.push_back(int32_t(column)); });
    counts.push_back(int64_t(columns.size() - before));
  }
};

// Problem: the columns of the features of arcs.
// Given: sentences, templates; a head for each token, whose arc is asked for, or nothing: then all arcs of all tokens.
// Returned: offsets and columns, a row for each arc, none for that of a token with itself; a column may come twice.
nb::tuple arc_columns(Coded coded, Table<int32_t> atoms, int bits, In<int32_t> heads, int threads) {
  Tokens tokens(coded);
  Plan plan(atoms, tokens.attributes);
  if (bits < kLeastBits || bits > kMostBits) refuse("the columns are a power of two from 2^4 to 2^30");
  if (heads.size()) check_heads(tokens, heads);
  std::vector<int64_t> rows{0};
  std::vector<int32_t> all;
  {
    nb::gil_scoped_release release;
    std::vector<size_t> cuts = cut_after(kArcsPerPiece, arc_offsets(tokens));
    std::vector<Columns> found(cuts.size() - 1);
    for_each_piece(found.size(), worth(threads, tokens.count() * plan.count() * 8), [&](size_t piece, int) {
      Sentence sentence(plan, bits);
      for (size_t i = cuts[piece]; i < cuts[piece + 1]; ++i) {
        sentence.read(tokens, i);
        const int32_t* own = heads.size() ? heads.data() + tokens.offsets[i] : nullptr;
        for (size_t m = 1; m <= tokens.size(i); ++m)
          for (size_t h = own ? size_t(own[m - 1]) : 0; h <= (own ? size_t(own[m - 1]) : tokens.size(i)); ++h)
            found[piece].add(sentence, h, m);
      }
    });
    for (Columns& one : found) {
      for (int64_t count : one.counts) rows.push_back(rows.back() + count);
      all.insert(all.end(), one.columns.begin(), one.columns.end());
      one = {};
    }
  }
  return nb::make_tuple(to_numpy(rows), to_numpy(all));
}

}  // namespace

void bind_arcs(nb::module_& m) {
  using namespace nb::literals;
  m.def("arc_scores", &arc_scores<float>, "coded"_a, "atoms"_a, "W"_a.noconvert(), "threads"_a);
  m.def("arc_scores", &arc_scores<double>, "coded"_a, "atoms"_a, "W"_a.noconvert(), "threads"_a);
  m.def("arc_columns", &arc_columns, "coded"_a, "atoms"_a, "bits"_a, "heads"_a, "threads"_a);
}

}  // namespace linnaeus
