// Texts as they lie in an Arrow string array, checked once: offsets that lead out of the buffer never reach a loop.
#pragma once
#include <stdexcept>

#include "arrays.hpp"

namespace linnaeus {

struct Texts {
  const uint8_t* bytes;
  const int64_t* at;
  size_t size;

  Texts(const In<uint8_t>& data, const In<int64_t>& offsets)
      : bytes(data.data()), at(offsets.data()), size(offsets.size() ? offsets.size() - 1 : 0) {
    static constexpr int64_t none = 0;
    if (offsets.size() == 0) at = &none;
    int64_t last = 0;
    for (size_t i = 0; i < offsets.size(); ++i) {
      if (at[i] < last || at[i] > int64_t(data.size())) throw std::invalid_argument("the offsets do not fit the text");
      last = at[i];
    }
  }
  const uint8_t* begin(size_t i) const { return bytes + at[i]; }
  const uint8_t* end(size_t i) const { return bytes + at[i + 1]; }
};

}  // namespace linnaeus
