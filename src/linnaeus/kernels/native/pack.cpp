// Python strings to one buffer of UTF-8 and offsets.
//
// Given a list of str, and a function that makes an array of so many bytes; returned, that array with the bytes of the
// strings one after the other, and n+1 offsets. The bytes of an ASCII string lie in the object itself: they are copied
// from there side by side, without the interpreter. Other strings are encoded first.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "arrays.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {

// Where the UTF-8 of a string lies, and what keeps it there.
struct Encoded {
  const char* bytes;
  int64_t size;
  nb::object owner;
};

Encoded encode(PyObject* text) {
  if (!PyUnicode_Check(text)) throw nb::type_error("pack_texts: every text must be a string");
  if (PyUnicode_IS_COMPACT_ASCII(text))
    return {static_cast<const char*>(PyUnicode_DATA(text)), PyUnicode_GET_LENGTH(text), nb::borrow(text)};
  nb::object bytes = nb::steal(PyUnicode_AsUTF8String(text));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AS_STRING(bytes.ptr()), PyBytes_GET_SIZE(bytes.ptr()), bytes};
}

nb::tuple pack_texts(nb::list texts, nb::callable make, int threads) {
  constexpr size_t rows_per_piece = 256;
  size_t n = nb::len(texts);
  std::vector<Encoded> encoded;
  encoded.reserve(n);
  Buffer<int64_t> offsets(n + 1);
  offsets[0] = 0;
  // Encoding runs no code of the list's owner, so that the list cannot change under the loop.
  for (size_t i = 0; i < n; ++i) {
    encoded.push_back(encode(PyList_GET_ITEM(texts.ptr(), Py_ssize_t(i))));
    offsets[i + 1] = offsets[i] + encoded.back().size;
  }
  nb::object made = make(offsets[n]);
  auto data = nb::cast<InOut<uint8_t>>(made);
  if (data.size() != size_t(offsets[n])) throw std::invalid_argument("pack_texts: the array made has another size");
  {
    nb::gil_scoped_release release;
    for_each_piece((n + rows_per_piece - 1) / rows_per_piece, threads, [&](size_t piece, int) {
      for (size_t i = piece * rows_per_piece; i < std::min(n, (piece + 1) * rows_per_piece); ++i)
        std::memcpy(data.data() + offsets[i], encoded[i].bytes, size_t(encoded[i].size));
    });
  }
  return nb::make_tuple(made, to_numpy(std::move(offsets)));
}

}  // namespace

void bind_pack(nb::module_& m) {
  m.def("pack_texts", &pack_texts, nb::arg("texts"), nb::arg("make"), nb::arg("threads"));
}

}  // namespace linnaeus
