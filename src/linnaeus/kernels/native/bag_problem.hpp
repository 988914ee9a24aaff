// What the steps of an embedding bag share: tables, rows in parts, workers that meet, and loops over lines of numbers.
//
// A row of a table is `size` numbers, whole lines of 16: the vector, zeros, and last the sum of its squared gradients,
// so that a step touches nothing else. Vectors of features (E) may begin with numbers that stay as they are.
//
// The values of an example are ordered by part: value (c, x) is in part c mod 8. A worker changes the rows of E in some
// parts and a stretch of the rows of O, so that no two change the same row, and each row is changed in the order of the
// examples.
#pragma once
#include <nanobind/stl/tuple.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "arrays.hpp"
#include "online_loss.hpp"
#include "parallel.hpp"
#include "together.hpp"
#include "word_steps.hpp"

namespace linnaeus::bag {

using embed::kLanes;
using embed::Line;
using embed::load;
using embed::store;

constexpr size_t kParts = 8;
constexpr size_t kMostLines = 8;  // that are summed at a time
constexpr size_t kAhead = 12;     // values whose rows are asked for before they are needed

[[noreturn]] inline void refuse(const char* what) { throw std::invalid_argument(std::string("bag_steps: ") + what); }

using Matrix = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Tables = std::tuple<Matrix, Matrix, InOut<float>, InOut<double>>;     // E, O, biases and their sums, scale of E
using Rows = std::tuple<In<int64_t>, In<int64_t>, In<int32_t>, In<float>>;  // offsets, ends of parts, columns, values
using Clock = std::tuple<In<int32_t>, In<double>>;                          // examples, and the rate of each batch
using Settings = std::tuple<size_t, size_t, size_t, double, double>;        // batch, numbers, frozen, smoothing, decay
using Outcome = std::tuple<double, int64_t>;  // sum of losses before each batch, examples that were wrong or tied

// Workers that wait for each other after very little work: they look again and again before they give way.
class Meeting {
 public:
  void meet(size_t workers) {
    if (workers == 1) return;
    const size_t now = generation_.load(std::memory_order_acquire);
    if (come_.fetch_add(1, std::memory_order_acq_rel) + 1 == workers) {
      come_.store(0, std::memory_order_relaxed);
      generation_.store(now + 1, std::memory_order_release);
      return;
    }
    for (size_t looks = 0; generation_.load(std::memory_order_acquire) == now; ++looks)
      if (looks > 2000) std::this_thread::yield();
      else pause();
  }

 private:
  static void pause() {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#endif
  }
  alignas(64) std::atomic<size_t> come_{0};
  alignas(64) std::atomic<size_t> generation_{0};
};

// The values of one example, or of some parts of it.
struct Values {
  const int32_t* columns;
  const float* values;
  size_t count;
};

struct Problem {
  float *E, *O, *b;
  double* scale;
  size_t m, w, size;
  const int64_t *indptr, *ends;
  const int32_t* columns;
  const float* values;
  const int32_t* order;
  size_t steps, n, batches;
  const double* rates;
  size_t batch, numbers, frozen;
  double smoothing, decay;
  size_t work = 0;  // values of all examples

  Problem(Tables& tables, const Rows& rows, const Clock& clock, const Settings& settings) {
    auto& [e, o, biases, factor] = tables;
    E = e.data(), O = o.data(), b = biases.data(), scale = factor.data();
    m = e.shape(0), w = o.shape(0), size = e.shape(1);
    auto& [offsets, stops, cs, xs] = rows;
    indptr = offsets.data(), ends = stops.data(), columns = cs.data(), values = xs.data();
    n = offsets.size() ? offsets.size() - 1 : 0;
    order = std::get<0>(clock).data(), steps = std::get<0>(clock).size(), rates = std::get<1>(clock).data();
    std::tie(batch, numbers, frozen, smoothing, decay) = settings;
    if (size % kLanes || !size || o.shape(1) != size) refuse("rows are whole lines of 16 numbers, of one size");
    if (!w || biases.size() != 2 * w || factor.size() != 1) refuse("the bias does not fit the output rows");
    if (numbers >= size || frozen > numbers || !batch) refuse("the vectors do not fit the rows");
    if (!(smoothing > 0) || !(decay >= 0) || !(*scale > 0)) refuse("smoothing and scale are above zero");
    batches = (steps + batch - 1) / batch;
    if (std::get<1>(clock).size() != batches) refuse("there is one rate for each batch");
    if (stops.size() != n * kParts) refuse("there is one end for each part of a row");
    check(int64_t(std::min(cs.size(), xs.size())));
  }

  void check(int64_t stored) {
    for (size_t t = 0; t < steps; ++t) {
      size_t i = size_t(uint32_t(order[t]));
      if (i >= n) refuse("the order names an example that does not exist");
      int64_t at = indptr[i];
      if (at < 0) refuse("the offsets do not fit the values");
      for (size_t part = 0; part < kParts; ++part) {
        int64_t stop = ends[i * kParts + part];
        if (stop < at || stop > stored) refuse("the offsets do not fit the values");
        for (; at < stop; ++at)
          if (uint32_t(columns[at]) >= m || uint32_t(columns[at]) % kParts != part)
            refuse("a column is in another part, or not in the table");
      }
      work += size_t(at - indptr[i]);
      if (at != indptr[i + 1]) refuse("the parts of a row do not end where it does");
    }
  }

  // The values of example i in parts first .. last (excluded).
  Values of(size_t i, size_t first, size_t last) const {
    int64_t from = first ? ends[i * kParts + first - 1] : indptr[i], to = last ? ends[i * kParts + last - 1] : from;
    return {columns + from, values + from, size_t(to - from)};
  }
};

}  // namespace linnaeus::bag
