// Steps of embedding bags (Joulin, Grave, Bojanowski and Mikolov, "Bag of tricks for efficient text classification",
// 2017) in batches, with a rate of its own for each row of the tables (Duchi, Hazan and Singer 2011).
//
// Problem: minimize sum_i weight_i loss(O h_i + b, y_i), where h_i = sum_j x_ij E_j, or the largest number at each
// place of the E_j that occur. In a batch, the gradients of all of its examples are those of the tables before it; then
// they are applied example by example. A row e with gradient g of an example gets
//   sum += |g|^2 / numbers,   e -= rate g / sqrt(smoothing + sum),
// and before that all vectors shrink by exp(-rate decay). The first `frozen` numbers of E stay as they are.
// Given: E (m, size) and O (w, size), whose rows end with their sums; biases and their sums (2 w); the scale of E;
// examples as `bag_layout` gives them, truth, clock, settings.  Changed: the tables.  Returned: the sum of the losses
// before each batch, and how many examples were wrong or tied.
#include "bag.hpp"
#include "sparse.hpp"

namespace linnaeus {
namespace {

using namespace bag;

template <class Pool, class Scores>
Outcome steps(Tables tables, std::tuple<Rows, typename Scores::Truth> data, Clock clock,
              std::tuple<typename Scores::Asked, Settings> plan, int threads) {
  nb::gil_scoped_release release;
  Problem p(tables, std::get<0>(data), clock, std::get<1>(plan));
  return run<Pool>(p, Scores(p, std::get<1>(data), std::get<0>(plan)), threads);
}

constexpr size_t kRowsPerPiece = 512;

// Problem: examples in the order in which steps read them. Feature j becomes column places[j], or nothing where that is
// -1; value x of row i becomes x factors[i]; the values of a row are ordered by part, column mod 8.
// Returned: offsets (n + 1), ends of parts (8 n), columns, values.
template <class X>
auto layout(Sparse<X> rows, In<int32_t> places, In<double> factors, int threads) {
  Lines<X> lines(rows, "bag_layout");
  const size_t n = lines.count, pieces = (n + kRowsPerPiece - 1) / kRowsPerPiece;
  if (factors.size() != n) throw std::invalid_argument("bag_layout: there is one factor for each row");
  Buffer<int64_t> offsets(n + 1), ends(n * kParts);
  {
    nb::gil_scoped_release release;
    for_each_piece(pieces, threads, [&](size_t piece, int) {
      for (size_t i = piece * kRowsPerPiece; i < std::min(n, (piece + 1) * kRowsPerPiece); ++i) {
        if (!lines.fits(i, places.size())) throw std::invalid_argument("bag_layout: a feature has no place");
        int64_t* counts = ends.get() + i * kParts;
        std::fill_n(counts, kParts, 0);
        for (int64_t j = lines.offsets[i]; j < lines.offsets[i + 1]; ++j)
          if (int32_t to = places.data()[lines.indices[j]]; to >= 0) ++counts[size_t(to) % kParts];
      }
    });
  }
  offsets[0] = 0;
  for (size_t i = 0; i < n; ++i) {
    offsets[i + 1] = offsets[i];
    for (size_t part = 0; part < kParts; ++part) ends[i * kParts + part] = offsets[i + 1] += ends[i * kParts + part];
  }
  Buffer<int32_t> columns{size_t(offsets[n])};
  Buffer<float> values{size_t(offsets[n])};
  {
    nb::gil_scoped_release release;
    for_each_piece(pieces, threads, [&](size_t piece, int) {
      for (size_t i = piece * kRowsPerPiece; i < std::min(n, (piece + 1) * kRowsPerPiece); ++i) {
        int64_t next[kParts] = {offsets[i]};
        for (size_t part = 1; part < kParts; ++part) next[part] = ends[i * kParts + part - 1];
        for (int64_t j = lines.offsets[i]; j < lines.offsets[i + 1]; ++j)
          if (int32_t to = places.data()[lines.indices[j]]; to >= 0) {
            int64_t slot = next[size_t(to) % kParts]++;
            columns[size_t(slot)] = to;
            values[size_t(slot)] = float(double(lines.values[j]) * factors.data()[i]);
          }
      }
    });
  }
  return std::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(ends)), to_numpy(std::move(columns)),
                         to_numpy(std::move(values)));
}

template <class Pool, class Scores>
void bind_as(nb::module_& m, const char* name) {
  using namespace nb::literals;
  m.def(name, &steps<Pool, Scores>, "tables"_a.noconvert(), "data"_a, "clock"_a, "plan"_a, "threads"_a);
}

}  // namespace

void bind_bag(nb::module_& m) {
  using namespace nb::literals;
  bind_as<Sum, Whole>(m, "bag_sum_steps");
  bind_as<Max, Whole>(m, "bag_max_steps");
  bind_as<Sum, Listed>(m, "bag_sum_listed_steps");
  bind_as<Max, Listed>(m, "bag_max_listed_steps");
  m.def("bag_layout", &layout<float>, "rows"_a.noconvert(), "places"_a, "factors"_a, "threads"_a);
  m.def("bag_layout", &layout<double>, "rows"_a.noconvert(), "places"_a, "factors"_a, "threads"_a);
}

}  // namespace linnaeus
