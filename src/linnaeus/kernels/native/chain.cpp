// Linear chains, many sequences at once: the best tagging of each, and the marginals of tags and of pairs of tags.
//
// Problem: sequences of tokens, cut by offsets, with scores of k tags at each token (m, k), and scores of the first tag
// and of each tag after each other (1 + k, k), the same for all; of second order also of each tag after each two others
// (1 + k + k k, k). See chain.hpp for the algorithms. Sequences are independent and worked on in pieces that do not
// depend on the number of threads; sums over all sequences are added up in the order of the pieces.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "blocks.hpp"
#include "chain.hpp"
#include "online_table.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {

constexpr size_t kSequencesPerPiece = 64;
constexpr size_t kMostSums = 64;  // pieces that keep sums of their own

[[noreturn]] void refuse(const char* what) { throw std::invalid_argument(std::string("chain: ") + what); }

// One score for each tag at each token, and links with rows filled up to whole vectors.
template <class S>
struct Problem {
  const S* E;
  const int64_t* offsets;
  size_t n, m, k, lanes, rows;
  bool second;
  std::vector<S> filled;

  Problem(const Table<S>& emissions, const Table<S>& shared, const In<int64_t>& bounds)
      : E(emissions.data()),
        offsets(bounds.data()),
        n(bounds.size() ? bounds.size() - 1 : 0),
        m(emissions.shape(0)),
        k(emissions.shape(1)),
        lanes(online::lanes_of<S>(k)),
        rows(shared.shape(0)),
        second(rows == chain::shared_rows(k, true)) {
    if (k < 1 || k > (1 << 24)) refuse("there are between 1 and 2^24 tags");
    if (rows != chain::shared_rows(k, second) || shared.shape(1) != k)
      refuse("the shared scores are not 1 + k or 1 + k + k k rows of k");
    if (!bounds.size() || offsets[0] != 0 || offsets[n] != int64_t(m)) refuse("the offsets do not fit the tokens");
    for (size_t i = 0; i < n; ++i)
      if (offsets[i + 1] < offsets[i]) refuse("the offsets do not fit the tokens");
    filled.assign(rows * lanes, S(0));
    for (size_t r = 0; r < rows; ++r) std::copy_n(shared.data() + r * k, k, filled.data() + r * lanes);
  }

  chain::Links<S> links() const { return {filled.data(), filled.data() + lanes, lanes, k, lanes, second}; }
  size_t size(size_t i) const { return size_t(offsets[i + 1] - offsets[i]); }
  size_t steps() const { return m * k * k * (second ? k : 1); }

  // The emissions of sequence i, filled up.
  void fill(size_t i, S* to) const {
    const S* from = E + size_t(offsets[i]) * k;
    for (size_t t = 0; t < size(i); ++t) std::copy_n(from + t * k, k, to + t * lanes);
  }
};

template <class S>
struct Room {
  std::vector<S> E, D;
  std::vector<double> tags;
  chain::Soft soft;

  void grow(size_t size) {
    if (E.size() >= size) return;
    E.resize(size);
    tags.resize(size);
  }
};

// Calls work(i, room) for each sequence that has tokens.
template <class S, class Work>
void for_each_sequence(const Problem<S>& p, int threads, Work&& work) {
  std::vector<Room<S>> rooms(size_t(std::max(threads, 1)));
  size_t pieces = (p.n + kSequencesPerPiece - 1) / kSequencesPerPiece;
  for_each_piece(pieces, worth(threads, p.steps()), [&](size_t piece, int worker) {
    Room<S>& room = rooms[size_t(worker)];
    size_t last = std::min(p.n, (piece + 1) * kSequencesPerPiece);
    for (size_t i = piece * kSequencesPerPiece; i < last; ++i) {
      if (!p.size(i)) continue;
      room.grow(p.size(i) * p.lanes);
      work(i, room);
    }
  });
}

// Given: scores, offsets, and tags (m) that lose ties, or nothing.  Changed: tags (m) of the best taggings.
template <class S>
void chain_best(Table<S> emissions, Table<S> shared, In<int64_t> offsets, In<int32_t> against, InOut<int32_t> tags,
                int threads) {
  Problem<S> p(emissions, shared, offsets);
  if (tags.size() != p.m || (against.size() && against.size() != p.m)) refuse("there is one tag for each token");
  const int32_t* gold = against.size() ? against.data() : nullptr;
  int32_t* out = tags.data();
  nb::gil_scoped_release release;
  for_each_sequence(p, threads, [&](size_t i, Room<S>& room) {
    p.fill(i, room.E.data());
    chain::find_best(p.links(), room.E.data(), p.size(i), gold ? gold + p.offsets[i] : nullptr, room.D,
                     out + p.offsets[i]);
  });
}

// Tags from left to right, each the best after those already chosen: no search, and no way back.
// Given: scores and offsets.  Changed: tags (m).
template <class S>
void chain_greedy(Table<S> emissions, Table<S> shared, In<int64_t> offsets, InOut<int32_t> tags, int threads) {
  Problem<S> p(emissions, shared, offsets);
  if (tags.size() != p.m) refuse("there is one tag for each token");
  int32_t* out = tags.data();
  nb::gil_scoped_release release;
  for_each_sequence(p, threads, [&](size_t i, Room<S>&) {
    const S* E = p.E + size_t(p.offsets[i]) * p.k;
    int32_t* z = out + p.offsets[i];
    chain::Links<S> links = p.links();
    for (size_t t = 0; t < p.size(i); ++t)
      z[t] = int32_t(chain::pick(p.k, -1, [&](size_t c) { return E[t * p.k + c] + links.into(z, t, c); }));
  });
}

using Truth = std::tuple<In<int64_t>, In<double>>;                                // offsets; weights or nothing
using Marginals = std::tuple<TableOut<double>, TableOut<double>, InOut<double>>;  // tags, shared, values

// Given: scores, offsets and what each sequence counts.  Changed: marginals of tags (m, k), those of first tags and of
// transitions summed over all sequences (as `shared`), and log sum e^score of each sequence (n); all times what it
// counts.
void chain_soft(Table<double> emissions, Table<double> shared, Truth truth, Marginals out, int threads) {
  auto& [offsets, weights] = truth;
  auto& [tags, sums, values] = out;
  Problem<double> p(emissions, shared, offsets);
  if (tags.shape(0) != p.m || tags.shape(1) != p.k || sums.shape(0) != p.rows || sums.shape(1) != p.k ||
      values.size() != p.n || (weights.size() && weights.size() != p.n))
    refuse("the results do not fit the scores");
  double *parts = tags.data(), *value = values.data(), *total = sums.data();
  const double* weight = weights.size() ? weights.data() : nullptr;
  nb::gil_scoped_release release;
  size_t each = std::max<size_t>(1, (p.n + kMostSums - 1) / kMostSums), pieces = (p.n + each - 1) / each;
  size_t width = p.rows * p.k;
  std::vector<double> apart(pieces * width, 0.0);
  std::vector<Room<double>> rooms(size_t(std::max(threads, 1)));
  for_each_piece(pieces, worth(threads, p.steps() * 4), [&](size_t piece, int worker) {
    Room<double>& room = rooms[size_t(worker)];
    double* own = apart.data() + piece * width;
    room.soft.prepare(p.links());
    for (size_t i = piece * each; i < std::min(p.n, (piece + 1) * each); ++i) {
      double w = weight ? weight[i] : 1.0;
      value[i] = 0;
      if (!p.size(i)) continue;
      room.grow(p.size(i) * p.lanes);
      p.fill(i, room.E.data());
      value[i] = w * room.soft.run(room.E.data(), p.size(i), w, room.tags.data());
      double* to = parts + size_t(p.offsets[i]) * p.k;
      for (size_t t = 0; t < p.size(i); ++t)
        for (size_t c = 0; c < p.k; ++c) to[t * p.k + c] = w * room.tags[t * p.lanes + c];
      for (size_t c = 0; c < p.k; ++c) own[c] += to[c];
    }
    const double* links = room.soft.finish();
    for (size_t r = 1; r < p.rows; ++r) std::copy_n(links + (r - 1) * p.lanes, p.k, own + r * p.k);
  });
  std::fill_n(total, width, 0.0);
  for (size_t piece = 0; piece < pieces; ++piece)
    for (size_t c = 0; c < width; ++c) total[c] += apart[piece * width + c];
}

}  // namespace

void bind_chain(nb::module_& m) {
  using namespace nb::literals;
  auto E = "emissions"_a.noconvert(), shared = "shared"_a.noconvert(), tags = "tags"_a.noconvert();
  m.def("chain_best", &chain_best<float>, E, shared, "offsets"_a, "against"_a, tags, "threads"_a);
  m.def("chain_best", &chain_best<double>, E, shared, "offsets"_a, "against"_a, tags, "threads"_a);
  m.def("chain_greedy", &chain_greedy<float>, E, shared, "offsets"_a, tags, "threads"_a);
  m.def("chain_greedy", &chain_greedy<double>, E, shared, "offsets"_a, tags, "threads"_a);
  m.def("chain_soft", &chain_soft, E, shared, "truth"_a, "out"_a.noconvert(), "threads"_a);
}

}  // namespace linnaeus
