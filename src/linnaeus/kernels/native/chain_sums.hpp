// What sums over taggings of first and of second order share.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "chain.hpp"
#include "elementary.hpp"

namespace linnaeus::chain {

inline constexpr double kLeast = 1e-200;  // sums below this go by logarithms

inline double log_sum(const std::vector<double>& values) {
  double high = *std::max_element(values.begin(), values.end());
  if (!(std::fabs(high) <= std::numeric_limits<double>::max())) return high;
  double total = 0;
  for (double value : values) total += elementary::exp(value - high);
  return high + elementary::log(total);
}

}  // namespace linnaeus::chain
