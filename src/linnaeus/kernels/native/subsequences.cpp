// Problem: for pairs of strings (s, t) the gap-weighted sum over all common subsequences of `length` letters,
//
//     K(s, t) = sum over u, over i with s[i] = u, over j with t[j] = u, of decay^(span(i) + span(j)).
//
// Given: two sets of strings (offsets, letters), pairs of their rows.  Returned: K of each pair.
//
// Algorithm: with K'_0 = 1 and, for a letter x after s and a letter u after t,
//     K''_i(sx, tu) = decay K''_i(sx, t) + [u = x] decay^2 K'_{i-1}(s, t)
//     K'_i(sx, t)   = decay K'_i(s, t)   + K''_i(sx, t)
//     K(sx, t)      = K(s, t) + sum over letters u = x of t, after the part t' before them, decay^2 K'_{length-1}(s,
//     t')
// in time length |s| |t|. The letters of s are taken one by one; for each place of t the K' of all i lie side by side,
// which are independent of each other: K'_i is made of the K'_{i-1} of the letter before. Pairs are independent.
//
// Reference: H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini, C. Watkins, Text Classification using String
// Kernels, JMLR 2 (2002), section 2.
#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "parallel.hpp"
#include "targets.hpp"

namespace linnaeus {
namespace {

constexpr size_t kPairsPerPiece = 16;
constexpr int kLongest = 9;

using Given = std::tuple<In<int64_t>, In<int32_t>>;

struct Strings {
  const int64_t* offsets;
  const int32_t* letters;
  size_t count;

  explicit Strings(const Given& arrays)
      : offsets(std::get<0>(arrays).data()),
        letters(std::get<1>(arrays).data()),
        count(std::get<0>(arrays).size() ? std::get<0>(arrays).size() - 1 : 0) {
    int64_t stored = int64_t(std::get<1>(arrays).size());
    for (size_t i = 0; i < std::get<0>(arrays).size(); ++i)
      if (offsets[i] < (i ? offsets[i - 1] : 0) || offsets[i] > stored)
        throw std::invalid_argument("subsequences: the offsets do not fit the letters");
  }
  const int32_t* begin(size_t row) const { return letters + offsets[row]; }
  size_t size(size_t row) const { return size_t(offsets[row + 1] - offsets[row]); }
};

// `before` holds, for each place of t, the K'_i of s and the part of t before it, i = 1 .. Lanes in its lanes.
// Lanes beyond length - 1 are made and not used.
template <int Lanes>
LINNAEUS_CLONES double match(const int32_t* s, size_t n, const int32_t* t, size_t m, int length, double decay,
                             double* before) {
  double total = 0, square = decay * decay;
  std::fill_n(before, (m + 1) * Lanes, 0.0);
  for (size_t a = 0; a < n; ++a) {
    double running[Lanes] = {}, old[Lanes] = {};  // K'' so far; K' of s at the last place, before it was changed
    for (size_t b = 0; b < m; ++b) {
      double* place = before + (b + 1) * Lanes;
      double hit = s[a] == t[b] ? square : 0.0;
      if (hit != 0) total += hit * (length == 1 ? 1.0 : old[length - 2]);
      for (int i = Lanes - 1; i > 0; --i) running[i] = decay * running[i] + hit * old[i - 1];
      running[0] = decay * running[0] + hit;
      for (int i = 0; i < Lanes; ++i) {
        old[i] = place[i];
        place[i] = decay * place[i] + running[i];
      }
    }
  }
  return total;
}

void check(In<int32_t> rows, size_t count) {
  for (size_t p = 0; p < rows.size(); ++p)
    if (size_t(uint32_t(rows.data()[p])) >= count) throw std::invalid_argument("subsequences: a pair has no string");
}

// Given: strings left and right, pairs of rows, length and decay.  Returned: values (pairs).
auto subsequences(Given left, Given right, std::tuple<In<int32_t>, In<int32_t>> pairs, std::tuple<int, double> how,
                  int threads) {
  Strings ours(left), theirs(right);
  auto [rows, others] = pairs;
  auto [length, decay] = how;
  if (rows.size() != others.size()) throw std::invalid_argument("subsequences: a pair has one string");
  if (length < 1 || length > kLongest) throw std::invalid_argument("subsequences: length is 1 to 9");
  check(rows, ours.count);
  check(others, theirs.count);
  size_t n = rows.size();
  Buffer<double> values(n);
  {
    nb::gil_scoped_release release;
    int spread = std::max(threads, 1);
    std::vector<std::vector<double>> scratch(static_cast<size_t>(spread));
    for_each_piece((n + kPairsPerPiece - 1) / kPairsPerPiece, spread, [&](size_t piece, int worker) {
      auto& before = scratch[size_t(worker)];
      for (size_t p = piece * kPairsPerPiece; p < std::min(n, (piece + 1) * kPairsPerPiece); ++p) {
        size_t i = size_t(rows.data()[p]), j = size_t(others.data()[p]), m = theirs.size(j);
        before.resize(std::max(before.size(), 8 * (m + 1)));
        auto matched = length <= 5 ? match<4> : match<8>;
        values[p] = matched(ours.begin(i), ours.size(i), theirs.begin(j), m, length, decay, before.data());
      }
    });
  }
  return to_numpy(std::move(values));
}

}  // namespace

void bind_subsequences(nb::module_& m) {
  using namespace nb::literals;
  m.def("subsequences", &subsequences, "left"_a, "right"_a, "pairs"_a, "how"_a, "threads"_a);
}

}  // namespace linnaeus
