// What the values of a row are multiplied by to give it length one.
#pragma once
#include <cmath>
#include <cstddef>

namespace linnaeus {

// One over the sum of absolute values (length 1) or the root of the sum of squares (2), summed in four lanes, value i
// in lane i mod 4; one where rows stay as they are (0), and for a row without length.
template <class T>
double inverse_length(const T* values, size_t n, int length) {
  if (!length) return 1.0;
  double lanes[4] = {};
  auto add = [&](size_t i, int lane) {
    double v = double(values[i]);
    lanes[lane] += length == 1 ? std::fabs(v) : v * v;
  };
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int lane = 0; lane < 4; ++lane) add(i + size_t(lane), lane);
  for (; i < n; ++i) add(i, int(i % 4));
  double sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  if (length == 2) sum = std::sqrt(sum);
  return sum == 0 ? 1.0 : 1.0 / sum;
}

}  // namespace linnaeus
