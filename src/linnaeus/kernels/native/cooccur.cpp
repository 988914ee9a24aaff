// How often words stand near each other, and vectors of words from these counts (GloVe).
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <stdexcept>

#include "arrays.hpp"
#include "parallel.hpp"
#include "word_steps.hpp"

namespace linnaeus {
namespace {

using namespace embed;
template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

[[noreturn]] void refuse(const char* why) { throw std::invalid_argument(why); }

// Where each word stands: the places of word w are at[offsets[w]] .. at[offsets[w + 1] - 1], in order.
struct Places {
  std::vector<size_t> offsets, at;
  Places(const int32_t* ids, size_t n, size_t words) : offsets(words + 1), at() {
    for (size_t i = 0; i < n; ++i)
      if (ids[i] >= 0) ++offsets[size_t(ids[i]) + 1];
    for (size_t w = 0; w < words; ++w) offsets[w + 1] += offsets[w];
    at.resize(offsets[words]);
    std::vector<size_t> next(offsets.begin(), offsets.end() - 1);
    for (size_t i = 0; i < n; ++i)
      if (ids[i] >= 0) at[next[size_t(ids[i])]++] = i;
  }
};

// The counts of some words, one row behind the other.
struct Rows {
  std::vector<int64_t> sizes;
  std::vector<int32_t> columns;
  std::vector<double> values;
};

constexpr size_t kPiece = 1 << 16;  // places of words whose rows are counted at a time

// Words in pieces of about as many places.
std::vector<size_t> cut_words(const std::vector<size_t>& offsets) {
  std::vector<size_t> cuts{0};
  for (size_t w = 0; w + 1 < offsets.size(); ++w)
    if (offsets[w + 1] - offsets[cuts.back()] >= kPiece) cuts.push_back(w + 1);
  if (cuts.back() + 1 < offsets.size()) cuts.push_back(offsets.size() - 1);
  return cuts;
}

// Problem: for each word w and word c, the sum of weights[d] over all places where c stands d + 1 before or behind w.
// Given: ids of words (-1: the end of a text), the weight of each distance, how many words there are.
// Returned: offsets (words + 1), columns in order, sums.
nb::tuple count_near(In<int32_t> text, In<double> weights, int64_t words, int threads) {
  const int32_t* ids = text.data();
  size_t n = text.size();
  if (words < 0 || words >> 31) refuse("there are between 0 and 2^31 - 1 words");
  for (size_t i = 0; i < n; ++i)
    if (ids[i] < -1 || ids[i] >= words) refuse("the text names a word that does not exist");
  std::vector<Rows> pieces;
  {
    nb::gil_scoped_release release;
    Places places(ids, n, size_t(words));
    std::vector<size_t> cuts = cut_words(places.offsets);
    pieces.resize(cuts.size() - 1);
    auto sums = make_workers<std::vector<double>>(threads, size_t(words), 0.0);
    for_each_piece(pieces.size(), threads, [&](size_t piece, int worker) {
      std::vector<double>& sum = sums[size_t(worker)];
      std::vector<int32_t> seen;
      auto meet = [&](size_t at, double weight) {
        if (sum[size_t(ids[at])] == 0) seen.push_back(ids[at]);
        sum[size_t(ids[at])] += weight;
      };
      for (size_t w = cuts[piece]; w < cuts[piece + 1]; ++w) {
        for (size_t k = places.offsets[w]; k < places.offsets[w + 1]; ++k) {
          const size_t here = places.at[k];
          for (size_t d = 1; d <= weights.size() && d <= here && ids[here - d] >= 0; ++d)
            meet(here - d, weights.data()[d - 1]);
          for (size_t d = 1; d <= weights.size() && here + d < n && ids[here + d] >= 0; ++d)
            meet(here + d, weights.data()[d - 1]);
        }
        std::sort(seen.begin(), seen.end());
        for (int32_t c : seen) {
          pieces[piece].columns.push_back(c);
          pieces[piece].values.push_back(sum[size_t(c)]);
          sum[size_t(c)] = 0;
        }
        pieces[piece].sizes.push_back(int64_t(seen.size()));
        seen.clear();
      }
    });
  }
  std::vector<int64_t> offsets{0};
  size_t total = 0;
  for (const Rows& rows : pieces) {
    for (int64_t size : rows.sizes) offsets.push_back(offsets.back() + size);
    total += rows.columns.size();
  }
  Buffer<int32_t> columns(total);
  Buffer<double> values(total);
  size_t at = 0;
  for (Rows& rows : pieces) {
    std::copy(rows.columns.begin(), rows.columns.end(), columns.get() + at);
    std::copy(rows.values.begin(), rows.values.end(), values.get() + at);
    at += rows.columns.size();
    rows = Rows();
  }
  return nb::make_tuple(to_numpy(offsets), to_numpy(std::move(columns)), to_numpy(std::move(values)));
}

// AdaGrad on one pair of vectors, for the error e of their product: v -= e u / sqrt(g), g += (e u)^2, and the same for
// u. Each vector lies before its sums of squares.
LINNAEUS_CLONES void adapt(float* __restrict v, float* __restrict u, float e, size_t size) {
  float *vg = v + size, *ug = u + size;
  for (size_t i = 0; i < size; ++i) {
    float to_v = e * u[i], to_u = e * v[i];
    v[i] -= to_v / std::sqrt(vg[i]);
    u[i] -= to_u / std::sqrt(ug[i]);
    vg[i] += to_v * to_v;
    ug[i] += to_u * to_u;
  }
}

LINNAEUS_CLONES float product(const float* v, const float* u, size_t size) {
  Line sum = {}, x, y;
  for (size_t c = 0; c < size; c += kLanes) {
    load(x, v + c);
    load(y, u + c);
    sum += x * y;
  }
  return sum_lanes(sum);
}

using Pairs = std::tuple<In<int32_t>, In<int32_t>, In<float>, In<float>>;  // word, context, log count, weight
using Shape = std::tuple<int, double>;                                     // places of bias and one, rate

// Problem: minimize sum f(x) (w . c + b + b' - log x)^2 / 2 over pairs of words (Pennington, Socher and Manning 2014),
// one AdaGrad step for each pair. A word's line is [vector, bias, 1 | squares], a context's [vector, 1, bias | squares]
// where `bias_at` is the place of the first number behind the vector; the ones stay.
// Blocks have no word and no context in common, so threads may take any of them (Gemulla et al. 2011).
// Given: tables (words, 2 size), pairs, the begin and end of each block among them.  Returned: the sum of losses.
double glove_blocks(std::tuple<Table<float>, Table<float>> tables, Pairs pairs, In<int64_t> bounds, Shape shape,
                    int threads) {
  auto& [W, C] = tables;
  auto& [word, context, logs, weights] = pairs;
  auto [bias_at, rate] = shape;
  size_t n = word.size(), wide = W.shape(1), size = wide / 2, blocks = bounds.size() / 2;
  if (C.shape(1) != wide || wide % (2 * kLanes) || !size) refuse("the tables do not have lines of 16 numbers");
  if (bias_at < 0 || size_t(bias_at) + 2 > size) refuse("there is no place for the bias");
  if (context.size() != n || logs.size() != n || weights.size() != n) refuse("pairs lack a number");
  if (bounds.size() % 2) refuse("a block has no end");
  for (size_t b = 0; b < 2 * blocks; ++b)
    if (bounds.data()[b] < 0 || bounds.data()[b] > int64_t(n)) refuse("a block leaves the pairs");
  for (size_t i = 0; i < n; ++i)
    if (size_t(uint32_t(word.data()[i])) >= W.shape(0) || size_t(uint32_t(context.data()[i])) >= C.shape(0))
      refuse("a pair names a word that does not exist");
  std::vector<double> losses(blocks);
  nb::gil_scoped_release release;
  for_each_piece(blocks, threads, [&](size_t b, int) {
    for (int64_t i = bounds.data()[2 * b]; i < bounds.data()[2 * b + 1]; ++i) {
      float *v = W.data() + size_t(word.data()[i]) * wide, *u = C.data() + size_t(context.data()[i]) * wide;
      float error = product(v, u, size) - logs.data()[i];
      losses[b] += 0.5 * double(weights.data()[i]) * double(error) * double(error);
      adapt(v, u, float(rate) * (weights.data()[i] * error), size);
      v[bias_at + 1] = 1.0f, u[bias_at] = 1.0f;
    }
  });
  double sum = 0;
  for (double loss : losses) sum += loss;
  return sum;
}

}  // namespace

void bind_cooccur(nb::module_& m) {
  using namespace nb::literals;
  m.def("count_near", &count_near, "text"_a, "weights"_a, "words"_a, "threads"_a);
  m.def("glove_blocks", &glove_blocks, "tables"_a.noconvert(), "pairs"_a.noconvert(), "bounds"_a, "shape"_a,
        "threads"_a);
}

}  // namespace linnaeus
