// Texts to their tokens, and a quick look at which texts need more than the fast paths.
#include <nanobind/stl/array.h>

#include "arrays.hpp"
#include "flags.hpp"
#include "grams.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "texts.hpp"

namespace linnaeus {
namespace {

// Given UTF-8 texts, how to change their case and a tokenizer: the bytes of all normalized tokens one after the other,
// offsets of the tokens in them, and offsets of the rows among the tokens.
nb::tuple tokens(In<uint8_t> data, In<int64_t> offsets, int change, int tokenizer) {
  Plan plan({0, change, tokenizer, 1, 1, 0});
  Texts texts(data, offsets);
  std::vector<uint8_t> bytes;
  std::vector<int64_t> token_offsets{0}, row_offsets{0};
  {
    nb::gil_scoped_release release;
    Reader reader(plan);
    for (size_t row = 0; row < texts.size; ++row) {
      for (Span s : reader.read(texts.begin(row), size_t(texts.end(row) - texts.begin(row)))) {
        bytes.insert(bytes.end(), reader.text().data + s.start, reader.text().data + s.end);
        token_offsets.push_back(int64_t(bytes.size()));
      }
      row_offsets.push_back(int64_t(token_offsets.size()) - 1);
    }
  }
  return nb::make_tuple(to_numpy(bytes), to_numpy(token_offsets), to_numpy(row_offsets));
}

// For each text, bits: 1 something outside ASCII, 2 NFC may change it, 4 an ampersand, 8 invalid UTF-8.
auto flag_texts(In<uint8_t> data, In<int64_t> offsets, int threads) {
  Texts texts(data, offsets);
  Buffer<uint8_t> out(texts.size);
  {
    nb::gil_scoped_release release;
    std::vector<size_t> cuts = cut_pieces(texts.at, texts.size);
    for_each_piece(cuts.size() - 1, threads, [&](size_t piece, int) {
      for (size_t i = cuts[piece]; i < cuts[piece + 1]; ++i)
        out[i] = flags_of(texts.begin(i), size_t(texts.end(i) - texts.begin(i)));
    });
  }
  return to_numpy(std::move(out));
}

}  // namespace

void bind_tokens(nb::module_& m) {
  using namespace nb::literals;
  m.def("tokens", &tokens, "data"_a, "offsets"_a, "case"_a, "tokenizer"_a);
  m.def("flag_texts", &flag_texts, "data"_a, "offsets"_a, "threads"_a);
  m.attr("__unicode_version__") = unicode_version;
}

}  // namespace linnaeus
