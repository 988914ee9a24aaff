// A text made ready for the tokenizers: valid UTF-8, its case changed, in a buffer with room to read past its end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace linnaeus {

enum class Case : int { keep = 0, lower = 1, fold = 2 };

// Bytes that may be read behind a text; they are zero.
inline constexpr size_t PADDING = 64;

struct Text {
  const uint8_t* data = nullptr;
  size_t size = 0;
  bool ascii = true;
};

// Memory that only grows and is never cleared.
class Scratch {
 public:
  uint8_t* reserve(size_t size) {
    if (size > capacity_) {
      data_.reset(new uint8_t[size + size / 2]);
      capacity_ = size + size / 2;
    }
    return data_.get();
  }
  // Hand large memory back: one enormous text must not hold on to it.
  void trim(size_t keep) {
    if (capacity_ > keep) {
      data_.reset();
      capacity_ = 0;
    }
  }

 private:
  std::unique_ptr<uint8_t[]> data_;
  size_t capacity_ = 0;
};

// The normalized text; it lives in `scratch` until the next call.
Text normalize(const uint8_t* data, size_t size, Case change, Scratch& scratch);

}  // namespace linnaeus
