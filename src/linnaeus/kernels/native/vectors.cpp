// Long vectors, as batch solvers have them: many inner products in one pass over memory, and linear combinations in
// one. A vector of weights is larger than the caches, so what counts is how often each one is read: a piece of all
// vectors is worked on while it is near.
//
// Reference: W. Chen, Z. Wang, J. Zhou, Large-scale L-BFGS using MapReduce (NIPS 2014): all that L-BFGS does to vectors
// is inner products of those it keeps, and one combination of them.
//
// Sums have the same bits for any number of threads and on every processor: pieces of a fixed size; in a piece value i
// goes to lane i mod 16, and the lanes are folded in halves; pieces are added in their order.
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "parallel.hpp"
#include "targets.hpp"

namespace linnaeus {
namespace {

constexpr size_t kPiece = 8192;  // numbers of each vector: shorter walks through memory are slower
constexpr size_t kLanes = 16;

using Vectors = std::vector<In<double>>;

std::vector<const double*> pointers(const Vectors& vectors, size_t n, const char* kernel) {
  std::vector<const double*> data;
  for (const auto& vector : vectors) {
    if (vector.size() != n) throw std::invalid_argument(std::string(kernel) + ": vectors of different lengths");
    data.push_back(vector.data());
  }
  return data;
}

LINNAEUS_INLINE double fold(double (&lanes)[kLanes]) {
  for (size_t half = kLanes / 2; half; half /= 2)
    for (size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return lanes[0];
}

LINNAEUS_CLONES double dot_piece(const double* a, const double* b, size_t n) {
  double lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (size_t l = 0; l < kLanes; ++l) lanes[l] += a[i + l] * b[i + l];
  for (size_t l = 0; i + l < n; ++l) lanes[l] += a[i + l] * b[i + l];
  return fold(lanes);
}

LINNAEUS_CLONES void scale_piece(double* out, double times, const double* v, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = times * v[i];
}

LINNAEUS_CLONES void add_piece(double* __restrict out, double times, const double* __restrict v, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] += times * v[i];
}

size_t count_pieces(size_t n) { return (n + kPiece - 1) / kPiece; }

// Calls work(piece, first, size) for each piece of vectors of n numbers.
template <class Work>
void for_pieces(size_t n, int threads, size_t multiplications, Work&& work) {
  for_each_piece(count_pieces(n), worth(threads, multiplications),
                 [&](size_t piece, int) { work(piece, piece * kPiece, std::min(kPiece, n - piece * kPiece)); });
}

// Problem: the inner product of each left vector (a of them) with each right one (b).  Returned: (a b), row by row.
auto inner(Vectors lefts, Vectors rights, int threads) {
  size_t n = lefts.empty() ? 0 : lefts[0].size();
  auto left = pointers(lefts, n, "inner"), right = pointers(rights, n, "inner");
  size_t pairs = left.size() * right.size();
  Buffer<double> sums(pairs);
  {
    nb::gil_scoped_release release;
    std::vector<double> parts(count_pieces(n) * pairs);
    for_pieces(n, threads, n * pairs, [&](size_t piece, size_t first, size_t size) {
      double* part = parts.data() + piece * pairs;
      for (size_t r = 0; r < right.size(); ++r)
        for (size_t l = 0; l < left.size(); ++l)
          part[l * right.size() + r] = dot_piece(left[l] + first, right[r] + first, size);
    });
    std::fill_n(sums.get(), pairs, 0.0);
    for (size_t i = 0; i < parts.size(); ++i) sums[i % pairs] += parts[i];
  }
  return to_numpy(std::move(sums));
}

// Problem: out = sum_i times_i vector_i, added in this order. `out` may be one of the vectors.
void blend(Vectors vectors, In<double> times, InOut<double> out, int threads) {
  size_t n = out.size();
  auto data = pointers(vectors, n, "blend");
  if (times.size() != data.size()) throw std::invalid_argument("blend: not one number for each vector");
  double* target = out.data();
  nb::gil_scoped_release release;
  for_pieces(n, threads, n * data.size(), [&](size_t, size_t first, size_t size) {
    double sums[kPiece];
    if (data.empty()) std::fill_n(sums, size, 0.0);
    for (size_t v = 0; v < data.size(); ++v) {
      if (v == 0) scale_piece(sums, times.data()[0], data[0] + first, size);
      else add_piece(sums, times.data()[v], data[v] + first, size);
    }
    std::copy_n(sums, size, target + first);
  });
}

// Problem: total += times vector.  Returned: the squared length of the vector, which costs nothing on the way.
double add_multiple(In<double> vector, double times, InOut<double> total, int threads) {
  size_t n = vector.size();
  if (total.size() != n) throw std::invalid_argument("add_multiple: vectors of different lengths");
  const double* data = vector.data();
  double* target = total.data();
  nb::gil_scoped_release release;
  std::vector<double> parts(count_pieces(n));
  for_pieces(n, threads, 2 * n, [&](size_t piece, size_t first, size_t size) {
    parts[piece] = dot_piece(data + first, data + first, size);
    add_piece(target + first, times, data + first, size);
  });
  double sum = 0;
  for (double part : parts) sum += part;
  return sum;
}

}  // namespace

void bind_vectors(nb::module_& m) {
  using namespace nb::literals;
  m.def("inner", &inner, "lefts"_a.noconvert(), "rights"_a.noconvert(), "threads"_a);
  m.def("blend", &blend, "vectors"_a.noconvert(), "times"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
  m.def("add_multiple", &add_multiple, "vector"_a.noconvert(), "times"_a, "total"_a.noconvert(), "threads"_a);
}

}  // namespace linnaeus
