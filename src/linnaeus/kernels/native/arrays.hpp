// NumPy arrays in and out. Inputs are contiguous views; outputs own their memory and give it back when Python drops
// them.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <algorithm>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace linnaeus {
namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Memory that is not cleared: large arrays are fresh pages which count only once they are written.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t n = 0) : data_(static_cast<T*>(allocate(n * sizeof(T)))), size_(n) {}
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() {
    if (data_) release(data_, size_ * sizeof(T));
  }
  T* get() { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  size_t size() const { return size_; }

 private:
  T* data_;
  size_t size_;
};

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(Buffer<T>&& buffer) {
  auto* owned = new Buffer<T>(std::move(buffer));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Buffer<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->get(), {owned->size()}, owner);
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(const std::vector<T>& values) {
  Buffer<T> buffer(values.size());
  std::copy(values.begin(), values.end(), buffer.get());
  return to_numpy(std::move(buffer));
}

}  // namespace linnaeus
