// Problem: the class scores S = X W + b of texts, for rows X of weighted terms and weights W (d, k), in one go.
//
// Given groups of counted parts (see scorer.hpp), weights and bias; then, for one text or for many, the k scores of
// each. A row is never part of a matrix, nothing is allocated for a token, and the scores have the same bits for one
// text, for many, and for any number of threads. A scorer is never changed: any number of threads may use one, and what
// a text needs on the way is borrowed from a pool without locks, which a fork cannot leave locked.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cmath>
#include <memory>

#include "blocks.hpp"
#include "elementary.hpp"
#include "flags.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "scorer.hpp"
#include "texts.hpp"

namespace linnaeus {
namespace {

// Source, plan, vocabulary (none: hashes), and (width, unknown) or (bits, signed).
using PartArrays = std::tuple<size_t, PlanCode, std::optional<VocabularyArrays>, std::array<int32_t, 2>>;
// Parts, table of values, weights of columns, numbers of kept columns, length, saturation (k1, b, mean length).
using GroupArrays =
    std::tuple<std::vector<PartArrays>, In<float>, In<float>, In<int32_t>, int, std::optional<std::array<double, 3>>>;
// Temperature and offset.
using Curve = std::pair<double, double>;
using Sources = std::vector<std::pair<In<uint8_t>, In<int64_t>>>;

[[noreturn]] void refuse(const char* why) { throw std::invalid_argument(std::string("Scorer: ") + why); }

// No look-up can be led out of the tables, or around in them for ever.
void check_tables(const VocabularyArrays& arrays) {
  const auto& [bytes, offsets, token_slots, columns, pair_slots] = arrays;
  Texts tokens(bytes, offsets);
  auto* slots = reinterpret_cast<const TokenSlot*>(token_slots.data());
  size_t used = 0, size = token_slots.size() / 2;
  for (size_t i = 0; i < size; ++i) {
    if (slots[i].tag == 0) continue;
    ++used;
    size_t length = slots[i].tag & 0x7FFFFFFFu, id = slots[i].id;
    if (id >= tokens.size || (length > 8 && size_t(tokens.at[id + 1] - tokens.at[id]) < length))
      refuse("a token of the vocabulary is not among its tokens");
  }
  auto* pairs = reinterpret_cast<const PairSlot*>(pair_slots.data());
  size_t pair_count = pair_slots.size() / 2;
  bool room = std::any_of(pairs, pairs + pair_count, [](const PairSlot& s) { return s.key == NO_PAIR; });
  if (used == size || !room) refuse("a table of the vocabulary is full");
}

Part make_part(const PartArrays& arrays) {
  const auto& [source, code, vocabulary, layout] = arrays;
  Part part{source, Plan(code), {}, {0, false}, 0};
  if (!vocabulary) {
    if (layout[0] < 1 || layout[0] > 30) refuse("bits run from 1 to 30");
    part.hashed = {layout[0], layout[1] != 0};
    part.width = 1u << layout[0];
    return part;
  }
  if (layout[0] < 0 || layout[1] >= layout[0]) refuse("the unknown column is outside the width");
  part.vocabulary = view(*vocabulary, layout[0], std::max(layout[1], -1));
  check_tables(*vocabulary);
  part.width = uint32_t(layout[0]);
  return part;
}

// How many of the columns are kept, each once.
int64_t count_kept(const In<int32_t>& kept) {
  std::vector<bool> seen(kept.size());
  int64_t count = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    int32_t column = kept.data()[i];
    if (column < 0) continue;
    if (size_t(column) >= kept.size() || seen[size_t(column)]) refuse("the kept columns are not numbered");
    seen[size_t(column)] = true;
    ++count;
  }
  for (int64_t i = 0; i < count; ++i)
    if (!seen[size_t(i)]) refuse("the kept columns are not numbered");
  return count;
}

// The best class, the first of equals, and its share of the chances 1 / (1 + e^-(s/T + b)), for the curve (T, b); with
// b of minus infinity that is softmax(s / T). A single score stands for two classes, 0 and s. Chances are taken over a
// factor that no row's are too small for: e^u / (1 + e^u) = e^(u - v) e^v / (1 + e^v e^(u - v)), v that of the best.
LINNAEUS_CLONES std::pair<size_t, double> most_likely(double* S, size_t k, Curve curve) {
  auto [temperature, offset] = curve;
  double pair[2] = {0, S[0]};
  if (k == 1) S = pair, k = 2;
  size_t best = size_t(std::max_element(S, S + k) - S);
  double top = S[best], high = offset == -INFINITY ? offset : top / temperature + offset, sum = 0;
  if (high > 0) {
    for (size_t c = 0; c < k; ++c) S[c] = 1 / (1 + elementary::exp(-(S[c] / temperature + offset)));
  } else {
    double bend = elementary::exp(high);
    for (size_t c = 0; c < k; ++c) {
      double e = elementary::exp((S[c] - top) / temperature);
      S[c] = e / (1 + bend * e);
    }
  }
  for (size_t c = 0; c < k; ++c) sum += S[c];
  return {best, S[best] / sum};
}

// A pool of scratch memory: taking and giving back are one atomic exchange each.
class Pool {
 public:
  ~Pool() {
    for (auto& slot : slots_) delete slot.load();
  }
  std::unique_ptr<Scoring> take(const Model& model) {
    for (auto& slot : slots_)
      if (slot.load(std::memory_order_relaxed))
        if (Scoring* found = slot.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<Scoring>(found);
    return std::make_unique<Scoring>(model);
  }
  void give(std::unique_ptr<Scoring> scoring) {
    for (auto& slot : slots_) {
      Scoring* none = nullptr;
      if (slot.compare_exchange_strong(none, scoring.get(), std::memory_order_release, std::memory_order_relaxed)) {
        scoring.release();
        return;
      }
    }
  }

 private:
  std::atomic<Scoring*> slots_[16] = {};
};

class Scorer {
 public:
  Scorer(std::vector<GroupArrays> groups, Table<float> weights, In<double> bias, int wanted, nb::object guard)
      : arrays_(std::move(groups)), weights_(weights), bias_(bias), wanted_(wanted), guard_(guard) {
    model_ = {{}, weights_.data(), bias_.data(), weights_.shape(1), nullptr};
    if (!guard_.is_none()) watch(nb::cast<const BlockGuard&>(guard_));
    int64_t shift = 0;
    for (const GroupArrays& group : arrays_) shift = add_group(group, shift);
    if (size_t(shift) != weights_.shape(0)) refuse("the weights do not fit the columns");
    if (bias_.size() != model_.k) refuse("the bias does not fit the weights");
  }
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  // None where the text needs more normalization than a change of case.
  nb::object score(nb::str text) const {
    Buffer<double> out(model_.k);
    if (!score_text(text, out.get())) return nb::none();
    return nb::cast(to_numpy(std::move(out)));
  }

  // The class with the largest score and its probability, or None as above. No array is made for them.
  nb::object choose(nb::str text, Curve curve) const {
    std::vector<double> S(model_.k);
    check(curve);
    if (!score_text(text, S.data())) return nb::none();
    auto [best, chance] = most_likely(S.data(), model_.k, curve);
    return nb::make_tuple(best, chance);
  }

  void scores(const Sources& given, TableOut<double> out, int threads) const {
    if (out.shape(1) != model_.k) refuse("the result does not fit the weights");
    each_row(given, out.shape(0), threads, [&](Scoring& scoring, const Bytes* text, size_t row, double*) {
      scoring.score(model_, text, out.data() + row * model_.k);
    });
  }

  // The best class of each text and its probability, as `choose` has them.
  void choices(const Sources& given, InOut<int32_t> best, InOut<double> chance, Curve curve, int threads) const {
    if (best.size() != chance.size()) refuse("the result does not fit the texts");
    check(curve);
    each_row(given, best.size(), threads, [&](Scoring& scoring, const Bytes* text, size_t row, double* S) {
      scoring.score(model_, text, S);
      auto [found, p] = most_likely(S, model_.k, curve);
      best.data()[row] = int32_t(found), chance.data()[row] = p;
    });
  }

 private:
  static constexpr size_t LONG_TEXT = 4096;            // bytes for which other threads are let in
  static constexpr size_t ENORMOUS = size_t(1) << 20;  // bytes whose scratch memory is not kept

  void check(Curve curve) const {
    if (!model_.k || !(curve.first > 0) || !(curve.second < INFINITY)) refuse("there is nothing to choose from");
  }

  // Rows of weights are looked at before they are first used.
  void watch(const BlockGuard& guard) {
    bool same = guard.begin() == reinterpret_cast<const uint8_t*>(weights_.data());
    if (!same || guard.size() != weights_.size() * sizeof(float)) refuse("these are not the weights that are guarded");
    model_.guard = &guard;
  }

  int64_t add_group(const GroupArrays& arrays, int64_t shift) {
    const auto& [parts, table, weights, kept, length, saturation] = arrays;
    Group group{{}, table.data(), table.size(), nullptr, nullptr, length, {}, int32_t(shift)};
    int64_t width = 0;
    for (const PartArrays& part : parts) {
      group.parts.push_back(make_part(part));
      width += group.parts.back().width;
      source_count_ = std::max(source_count_, group.parts.back().source + 1);
    }
    if (length < 0 || length > 2) refuse("length is 0, 1 or 2");
    if (weights.size() && int64_t(weights.size()) != width) refuse("a column has no weight");
    if (kept.size() && int64_t(kept.size()) != width) refuse("the kept columns do not fit the columns");
    if (weights.size()) group.weights = weights.data();
    if (kept.size()) group.kept = kept.data();
    if (saturation) group.saturation = Saturation{(*saturation)[0], (*saturation)[1], (*saturation)[2]};
    model_.groups.push_back(std::move(group));
    shift += kept.size() ? count_kept(kept) : width;
    if (source_count_ > 64 || shift > int64_t(weights_.shape(0)) || std::max(shift, width) > INT32_MAX)
      refuse("the weights do not fit the columns");
    return shift;
  }

  // Calls work(scratch memory, text in each form, row, room for k scores) for every text.
  template <class Work>
  void each_row(const Sources& given, size_t n, int threads, Work&& work) const {
    std::vector<Texts> sources;
    for (const auto& [data, offsets] : given) sources.emplace_back(data, offsets);
    if (sources.size() < source_count_) refuse("a form of the texts is missing");
    for (const Texts& texts : sources)
      if (texts.size != n) refuse("the result does not fit the texts");
    if (sources.empty() || !n) return;
    nb::gil_scoped_release release;
    std::vector<size_t> cuts = cut_pieces(sources[0].at, sources[0].size, 32 * 1024, 256);
    std::vector<std::unique_ptr<Scoring>> workers(size_t(std::max(threads, 1)));
    for_each_piece(cuts.size() - 1, threads, [&](size_t piece, int worker) {
      if (!workers[worker]) workers[worker] = pool_.take(model_);
      std::vector<Bytes> text(sources.size());
      std::vector<double> room(model_.k);
      for (size_t row = cuts[piece]; row < cuts[piece + 1]; ++row) {
        for (size_t s = 0; s < sources.size(); ++s)
          text[s] = {sources[s].begin(row), size_t(sources[s].end(row) - sources[s].begin(row))};
        work(*workers[worker], text.data(), row, room.data());
      }
    });
    for (auto& worker : workers)
      if (worker) pool_.give(std::move(worker));
  }

  // False where the text has to be prepared.
  bool score_text(nb::str text, double* out) const {
    Bytes bytes = encode(text.ptr());
    bool ascii = PyUnicode_IS_COMPACT_ASCII(text.ptr());
    if (wanted_ && (!ascii || (wanted_ & AMPERSAND)) && (flags_of(bytes.data, bytes.size) & wanted_)) return false;
    if (bytes.size < LONG_TEXT) {
      score_one(bytes, out);
    } else {
      nb::gil_scoped_release release;
      score_one(bytes, out);
    }
    return true;
  }

  static Bytes encode(PyObject* text) {
    if (PyUnicode_IS_COMPACT_ASCII(text))
      return {static_cast<const uint8_t*>(PyUnicode_DATA(text)), size_t(PyUnicode_GET_LENGTH(text))};
    Py_ssize_t size;
    const char* bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (!bytes) throw nb::python_error();
    return {reinterpret_cast<const uint8_t*>(bytes), size_t(size)};
  }

  void score_one(Bytes text, double* out) const {
    Bytes sources[64];
    std::fill_n(sources, source_count_, text);
    std::unique_ptr<Scoring> scoring = pool_.take(model_);
    scoring->score(model_, sources, out);
    if (text.size < ENORMOUS) pool_.give(std::move(scoring));
  }

  std::vector<GroupArrays> arrays_;  // they own what the model points to
  Table<float> weights_;
  In<double> bias_;
  int wanted_;
  nb::object guard_;
  Model model_;
  size_t source_count_ = 0;
  mutable Pool pool_;
};

}  // namespace

void bind_score(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Scorer>(m, "Scorer")
      .def(nb::init<std::vector<GroupArrays>, Table<float>, In<double>, int, nb::object>(), "groups"_a, "weights"_a,
           "bias"_a, "wanted"_a, "guard"_a = nb::none())
      .def("choose", &Scorer::choose, "text"_a, "curve"_a)
      .def("choices", &Scorer::choices, "sources"_a, "best"_a.noconvert(), "chance"_a.noconvert(), "curve"_a,
           "threads"_a)
      .def("score", &Scorer::score, "text"_a)
      .def("scores", &Scorer::scores, "sources"_a, "out"_a.noconvert(), "threads"_a);
}

}  // namespace linnaeus
