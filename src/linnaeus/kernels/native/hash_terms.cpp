// Hashed features (Weinberger et al. 2009): texts to sparse rows without a vocabulary.
//
// Given UTF-8 texts, a plan and a number of bits, every term is hashed to a column below 2^bits; a row holds, for each
// column met, how often (signed: the sum of the signs given by the topmost bit of the hash). Returned are the arrays of
// a CSR matrix, columns sorted within each row.
#include <nanobind/stl/array.h>

#include "arrays.hpp"
#include "hashed_keys.hpp"
#include "rows.hpp"
#include "texts.hpp"

namespace linnaeus {
namespace {

struct Worker {
  explicit Worker(const Plan& plan) : reader(plan) {}
  Reader reader;
  Counter counter;
  HashedKeys keys;
};

nb::tuple hash_terms(In<uint8_t> data, In<int64_t> offsets, PlanCode code, int bits, bool is_signed, int threads) {
  Plan plan(code);
  if (bits < 1 || bits > 30) throw std::invalid_argument("hash_terms: bits run from 1 to 30");
  Texts texts(data, offsets);
  HashColumns column{bits, is_signed};
  std::vector<Worker> workers = make_workers<Worker>(threads, plan);
  int key_bits = bits + int(is_signed);
  return build_rows(texts.at, texts.size, threads, plan.terms_per_byte(),
                    [&](size_t first, size_t last, RowBlock& block, int worker) {
                      Worker& w = workers[worker];
                      for (size_t row = first; row < last; ++row) {
                        const auto& spans = w.reader.read(texts.begin(row), size_t(texts.end(row) - texts.begin(row)));
                        w.keys.find(w.reader, plan, spans, column);
                        if (is_signed) w.counter.add_signed(w.keys.data(), w.keys.size(), key_bits, block);
                        else w.counter.add_counts(w.keys.data(), w.keys.size(), key_bits, block);
                      }
                      w.reader.trim();
                    });
}

}  // namespace

void bind_hash_terms(nb::module_& m) {
  using namespace nb::literals;
  m.def("hash_terms", &hash_terms, "data"_a, "offsets"_a, "plan"_a, "bits"_a, "signed"_a, "threads"_a);
  m.def(
      "hash_bytes",
      [](nb::bytes text) {
        std::vector<uint8_t> padded(text.size() + 8);
        std::memcpy(padded.data(), text.c_str(), text.size());
        return hash_bytes(padded.data(), text.size());
      },
      "text"_a);
}

}  // namespace linnaeus
