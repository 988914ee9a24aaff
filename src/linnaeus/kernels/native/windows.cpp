// Features of tokens from the forms of the words around them, as sparse rows or summed to scores.
//
// Given sentences (offsets (n+1), the number of each token's word for each source (s, m), -1 for none) and the values
// of the forms of each distinct word (u, q), -1 for none. A template is a row (source, form, at, source, form, at), the
// second source -1 where it looks at one place; beyond a sentence stand the values 0 and 1. The column of a single
// value is tables[starts[t] + value], that of two is found in a probe table under t << 56 | first << 28 | second; -1 is
// none.
//
// Scores: all templates that look at one place (source, at) make one vector for each distinct word, the sum of their
// rows of W; a token's scores are the vectors of its places, added in order, then the rows of its pairs. A word that
// stands a hundred times is summed once. float32, in an order that neither threads nor other sentences change.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <bit>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "arrays.hpp"
#include "parallel.hpp"
#include "tables.hpp"
#include "targets.hpp"

namespace linnaeus {
namespace {

constexpr size_t kTokensPerPiece = 4096, kWordsPerPiece = 256;
constexpr int32_t BEFORE = 0, AFTER = 1;

template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Coded = std::pair<In<int64_t>, Table<int32_t>>;
using Plan = std::tuple<Table<int32_t>, In<int32_t>, In<int64_t>>;

struct Part {
  int32_t source, form, at;
};

struct Windows {
  const int64_t* offsets;
  const int32_t *codes, *atoms, *tables;
  const int64_t* starts;
  size_t n, m, u, q;
  std::vector<Part> first, second;  // second[t].source is -1 where a template looks at one place
  PairView pairs;

  Windows(const Coded& coded, const Table<int32_t>& words, const Plan& plan, const In<uint64_t>& slots) {
    const auto& [rows, columns, bounds] = plan;
    offsets = coded.first.data(), codes = coded.second.data(), atoms = words.data();
    tables = columns.data(), starts = bounds.data();
    n = coded.first.size() - 1, m = coded.second.shape(1), u = words.shape(0), q = words.shape(1);
    bool fits = coded.first.size() && offsets[0] == 0 && offsets[n] == int64_t(m);
    for (size_t i = 0; fits && i < n; ++i) fits = offsets[i] <= offsets[i + 1];
    if (!fits) throw std::invalid_argument("the offsets do not fit the tokens");
    for (size_t i = 0; i < coded.second.size(); ++i)
      if (codes[i] < -1 || codes[i] >= int64_t(u)) throw std::invalid_argument("a token is no word of the list");
    if (slots.size() % 2 || !std::has_single_bit(slots.size() / 2))
      throw std::invalid_argument("this is no probe table");
    pairs = {reinterpret_cast<const PairSlot*>(slots.data()), slots.size() / 2 - 1};
    size_t count = rows.shape(0);
    fits = rows.shape(1) == 6 && bounds.size() == count + 1 && count <= 250 && starts[0] >= 0;
    for (size_t t = 0; fits && t < count; ++t) fits = starts[t] <= starts[t + 1];
    if (!fits || starts[count] > int64_t(columns.size()))
      throw std::invalid_argument("the templates do not fit their tables");
    for (size_t t = 0; t < count; ++t) {
      const int32_t* row = rows.data() + 6 * t;
      first.push_back({row[0], row[1], row[2]});
      second.push_back({row[3], row[4], row[5]});
      check(first[t], coded.second.shape(0));
      if (row[3] >= 0) check(second[t], coded.second.shape(0));
    }
  }

  void check(const Part& part, size_t sources) const {
    if (part.source < 0 || size_t(part.source) >= sources || part.form < 0 || size_t(part.form) >= q)
      throw std::invalid_argument("a template looks at what is not there");
  }

  size_t count() const { return first.size(); }
  bool single(size_t t) const { return second[t].source < 0; }

  // The column of one value of a template with one part.
  int32_t column(size_t t, int32_t value) const {
    return value >= 0 && value < starts[t + 1] - starts[t] ? tables[starts[t] + value] : -1;
  }

  int32_t value(const Part& part, int64_t token, int64_t begin, int64_t end) const {
    int64_t at = token + part.at;
    if (at < begin) return BEFORE;
    if (at >= end) return AFTER;
    int32_t word = codes[size_t(part.source) * m + size_t(at)];
    return word < 0 ? -1 : atoms[size_t(word) * q + size_t(part.form)];
  }

  int32_t pair(size_t t, int64_t token, int64_t begin, int64_t end) const {
    int64_t a = value(first[t], token, begin, end), b = value(second[t], token, begin, end);
    if (a < 0 || b < 0) return -1;
    const PairSlot* slot = pairs.find(uint64_t(t) << 56 | uint64_t(a) << 28 | uint64_t(b));
    return slot ? slot->column : -1;
  }

  // Calls use(token, begin, end) for the tokens of one piece, with the bounds of their sentences.
  template <class Use>
  void tokens(size_t piece, Use&& use) const {
    int64_t from = int64_t(piece * kTokensPerPiece), to = int64_t(std::min(m, (piece + 1) * kTokensPerPiece));
    const int64_t* s = std::upper_bound(offsets, offsets + n + 1, from) - 1;
    for (int64_t i = from; i < to; ++i) {
      while (i >= s[1]) ++s;
      use(i, s[0], s[1]);
    }
  }
  size_t pieces() const { return (m + kTokensPerPiece - 1) / kTokensPerPiece; }
};

nb::tuple token_rows(Coded coded, Table<int32_t> atoms, Plan plan, In<uint64_t> slots, int threads) {
  Windows work(coded, atoms, plan, slots);
  threads = worth(threads, work.m * work.count());
  std::vector<std::vector<int32_t>> columns(work.pieces());
  Buffer<int64_t> indptr(work.m + 1);
  std::optional<Buffer<int32_t>> indices;
  {
    nb::gil_scoped_release release;
    for_each_piece(work.pieces(), threads, [&](size_t piece, int) {
      std::vector<int32_t>& out = columns[piece];
      out.reserve(std::min(work.m - piece * kTokensPerPiece, kTokensPerPiece) * work.count());
      work.tokens(piece, [&](int64_t i, int64_t begin, int64_t end) {
        size_t before = out.size();
        for (size_t t = 0; t < work.count(); ++t) {
          int32_t c =
              work.single(t) ? work.column(t, work.value(work.first[t], i, begin, end)) : work.pair(t, i, begin, end);
          if (c >= 0) out.push_back(c);
        }
        indptr[size_t(i) + 1] = int64_t(out.size() - before);
      });
    });
    indptr[0] = 0;
    for (size_t i = 0; i < work.m; ++i) indptr[i + 1] += indptr[i];
    indices.emplace(size_t(indptr[work.m]));
    for_each_piece(work.pieces(), threads, [&](size_t piece, int) {
      std::copy(columns[piece].begin(), columns[piece].end(), indices->get() + indptr[piece * kTokensPerPiece]);
    });
  }
  return nb::make_tuple(to_numpy(std::move(indptr)), to_numpy(std::move(*indices)));
}

// The templates that look at one place.
struct Place {
  int32_t source, at;
  std::vector<size_t> templates;
};

std::vector<Place> places_of(const Windows& work) {
  std::vector<Place> places;
  for (size_t t = 0; t < work.count(); ++t) {
    if (!work.single(t)) continue;
    const Part& part = work.first[t];
    auto found = std::find_if(places.begin(), places.end(),
                              [&](const Place& p) { return p.source == part.source && p.at == part.at; });
    if (found == places.end()) found = places.insert(found, Place{part.source, part.at, {}});
    found->templates.push_back(t);
  }
  return places;
}

LINNAEUS_CLONES void add(const float* x, float* out, size_t k) {
  for (size_t c = 0; c < k; ++c) out[c] += x[c];
}

struct Scoring {
  const Windows& work;
  const float* W;
  size_t d, k;
  std::vector<Place> places;
  Buffer<float> sums;  // (places, u + 2, k): the vector of each word at each place, then of both boundaries

  Scoring(const Windows& windows, const float* weights, size_t width, size_t classes)
      : work(windows),
        W(weights),
        d(width),
        k(classes),
        places(places_of(windows)),
        sums(places.size() * (work.u + 2) * k) {}

  float* vector(size_t place, size_t word) { return sums.get() + (place * (work.u + 2) + word) * k; }

  void add_row(int32_t column, float* out) const {
    if (column < 0) return;
    if (size_t(column) >= d) throw std::invalid_argument("token_scores: a column is outside the weights");
    add(W + size_t(column) * k, out, k);
  }

  void sum_word(size_t place, size_t word) {
    float* out = vector(place, word);
    std::fill(out, out + k, 0.0f);
    for (size_t t : places[place].templates) {
      int32_t value = word >= work.u ? int32_t(word - work.u) : work.atoms[word * work.q + size_t(work.first[t].form)];
      add_row(work.column(t, value), out);
    }
  }

  void score(int64_t i, int64_t begin, int64_t end, float* out) {
    std::fill(out, out + k, 0.0f);
    for (size_t p = 0; p < places.size(); ++p) {
      int64_t at = i + places[p].at;
      size_t word = work.u + (at < begin ? 0 : 1);
      if (at >= begin && at < end) {
        int32_t code = work.codes[size_t(places[p].source) * work.m + size_t(at)];
        if (code < 0) continue;
        word = size_t(code);
      }
      add(vector(p, word), out, k);
    }
    for (size_t t = 0; t < work.count(); ++t)
      if (!work.single(t)) add_row(work.pair(t, i, begin, end), out);
  }
};

nb::ndarray<nb::numpy, float, nb::ndim<2>> token_scores(Coded coded, Table<int32_t> atoms, Plan plan,
                                                        In<uint64_t> slots, Table<float> W, int threads) {
  Windows work(coded, atoms, plan, slots);
  size_t k = W.shape(1), words = work.u + 2;
  auto* out = new Buffer<float>(work.m * k);
  nb::capsule owner(out, [](void* p) noexcept { delete static_cast<Buffer<float>*>(p); });
  {
    nb::gil_scoped_release release;
    threads = worth(threads, (work.m + work.u) * k * 4);
    Scoring scoring(work, W.data(), W.shape(0), k);
    size_t pieces = (words + kWordsPerPiece - 1) / kWordsPerPiece;
    for_each_piece(pieces * scoring.places.size(), threads, [&](size_t piece, int) {
      size_t place = piece / pieces, from = piece % pieces * kWordsPerPiece;
      for (size_t w = from; w < std::min(words, from + kWordsPerPiece); ++w) scoring.sum_word(place, w);
    });
    for_each_piece(work.pieces(), threads, [&](size_t piece, int) {
      work.tokens(piece, [&](int64_t i, int64_t begin, int64_t end) {
        scoring.score(i, begin, end, out->get() + size_t(i) * k);
      });
    });
  }
  return nb::ndarray<nb::numpy, float, nb::ndim<2>>(out->get(), {work.m, k}, owner);
}

}  // namespace

void bind_windows(nb::module_& m) {
  using namespace nb::literals;
  m.def("token_rows", &token_rows, "coded"_a, "atoms"_a, "plan"_a, "slots"_a, "threads"_a);
  m.def("token_scores", &token_scores, "coded"_a, "atoms"_a, "plan"_a, "slots"_a, "W"_a, "threads"_a);
}

}  // namespace linnaeus
