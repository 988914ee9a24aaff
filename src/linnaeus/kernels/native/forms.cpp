// Forms of words as keys, as values of a vocabulary, and as text.
//
// A template of a tagger looks at forms of words: suffixes, shapes (Ratnaparkhi 1996). Words are given as distinct
// strings, so that this is done once for each, however often it stands in the sentences. A key is the feature hash of
// the form's bytes, joined with the salt of the form; 64 bits, so that among a million keys two meet with a chance of
// one in forty million.
#include <nanobind/stl/pair.h>

#include "arrays.hpp"
#include "forms.hpp"
#include "parallel.hpp"
#include "tables.hpp"
#include "texts.hpp"

namespace linnaeus {
namespace {

constexpr size_t kWordsPerPiece = 256;

using Strings = std::pair<In<uint8_t>, In<int64_t>>;
using Rows = nb::ndarray<const int32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

std::vector<Form> forms_of(const Rows& rows) {
  std::vector<Form> forms;
  for (size_t j = 0; j < rows.shape(0); ++j) forms.emplace_back(rows.data() + 4 * j);
  return forms;
}

template <class T>
Matrix<T> matrix(Buffer<T>&& buffer, size_t n, size_t q) {
  auto* owned = new Buffer<T>(std::move(buffer));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Buffer<T>*>(p); });
  return Matrix<T>(owned->get(), {n, q}, owner);
}

// Calls use(word, keys) for each word with the keys of its forms.
template <class Use>
void for_each_word(const Texts& texts, const std::vector<Form>& forms, int threads, Use&& use) {
  struct Worker {
    FormReader reader;
    std::vector<uint64_t> keys;
  };
  threads = worth(threads, texts.size * forms.size() * 16);
  auto workers = make_workers<Worker>(threads);
  for_each_piece((texts.size + kWordsPerPiece - 1) / kWordsPerPiece, threads, [&](size_t piece, int number) {
    Worker& worker = workers[size_t(number)];
    worker.keys.resize(forms.size());
    size_t last = std::min(texts.size, (piece + 1) * kWordsPerPiece);
    for (size_t i = piece * kWordsPerPiece; i < last; ++i) {
      worker.reader.read(texts.begin(i), size_t(texts.end(i) - texts.begin(i)));
      for (size_t j = 0; j < forms.size(); ++j) worker.keys[j] = value_key(worker.reader.get(forms[j]), forms[j].salt);
      use(i, worker.keys.data());
    }
  });
}

Matrix<uint64_t> form_keys(Strings words, Rows rows, int threads) {
  Texts texts(words.first, words.second);
  std::vector<Form> forms = forms_of(rows);
  Buffer<uint64_t> out(texts.size * forms.size());
  {
    nb::gil_scoped_release release;
    for_each_word(texts, forms, threads, [&](size_t i, const uint64_t* keys) {
      std::copy(keys, keys + forms.size(), out.get() + i * forms.size());
    });
  }
  return matrix(std::move(out), texts.size, forms.size());
}

Matrix<int32_t> form_ids(Strings words, Rows rows, In<uint64_t> slots, int threads) {
  Texts texts(words.first, words.second);
  std::vector<Form> forms = forms_of(rows);
  if (slots.size() % 2 || !std::has_single_bit(slots.size() / 2))
    throw std::invalid_argument("form_ids: this is no probe table");
  PairView table{reinterpret_cast<const PairSlot*>(slots.data()), slots.size() / 2 - 1};
  Buffer<int32_t> out(texts.size * forms.size());
  {
    nb::gil_scoped_release release;
    for_each_word(texts, forms, threads, [&](size_t i, const uint64_t* keys) {
      for (size_t j = 0; j < forms.size(); ++j) prefetch(table.start(keys[j]));
      for (size_t j = 0; j < forms.size(); ++j) {
        const PairSlot* slot = keys[j] ? table.find(keys[j]) : nullptr;
        out[i * forms.size() + j] = slot ? slot->column : -1;
      }
    });
  }
  return matrix(std::move(out), texts.size, forms.size());
}

nb::tuple form_texts(Strings words, Rows rows, int) {
  Texts texts(words.first, words.second);
  std::vector<Form> forms = forms_of(rows);
  if (forms.size() != 1) throw std::invalid_argument("form_texts: give one form");
  std::vector<uint8_t> bytes;
  std::vector<int64_t> offsets(1, 0);
  {
    nb::gil_scoped_release release;
    FormReader reader;
    for (size_t i = 0; i < texts.size; ++i) {
      reader.read(texts.begin(i), size_t(texts.end(i) - texts.begin(i)));
      Value value = reader.get(forms[0]);
      if (value.data) bytes.insert(bytes.end(), value.data, value.data + value.size);
      offsets.push_back(int64_t(bytes.size()));
    }
  }
  return nb::make_tuple(to_numpy(bytes), to_numpy(offsets));
}

}  // namespace

void bind_forms(nb::module_& m) {
  using namespace nb::literals;
  m.def("form_keys", &form_keys, "texts"_a, "forms"_a, "threads"_a);
  m.def("form_ids", &form_ids, "texts"_a, "forms"_a, "slots"_a, "threads"_a);
  m.def("form_texts", &form_texts, "texts"_a, "form"_a, "threads"_a);
}

}  // namespace linnaeus
