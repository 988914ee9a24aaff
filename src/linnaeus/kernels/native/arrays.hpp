// NumPy arrays in and out. Inputs are contiguous views; outputs own their memory and give it back when Python drops them.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
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
struct Buffer {
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> data;
  size_t size = 0;

  explicit Buffer(size_t n = 0) : size(n) {
    if (n == 0) return;
    data.reset(static_cast<T*>(allocate_large(n * sizeof(T))));
  }
  T* get() { return data.get(); }
  T& operator[](size_t i) { return data[i]; }
};

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(Buffer<T>&& buffer) {
  size_t n = buffer.size;
  T* p = n ? buffer.data.release() : static_cast<T*>(std::malloc(sizeof(T)));
  nb::capsule owner(p, [](void* q) noexcept { std::free(q); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(p, {n}, owner);
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(const std::vector<T>& values) {
  Buffer<T> buffer(values.size());
  std::copy(values.begin(), values.end(), buffer.get());
  return to_numpy(std::move(buffer));
}

}  // namespace linnaeus
