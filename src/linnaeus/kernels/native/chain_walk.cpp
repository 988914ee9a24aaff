// The loops over tags of a linear chain; see chain.hpp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "chain_sums.hpp"
#include "targets.hpp"

namespace linnaeus::chain {
namespace {

template <size_t P, class S>
LINNAEUS_INLINE void best_forward_in(const Links<S>& c, const S* E, size_t n, S* D) {
  const size_t p = P ? P : c.lanes;
  for (size_t j = 0; j < p; ++j) D[j] = c.start[j] + E[j];
  for (size_t t = 1; t < n; ++t) {
    const S *from = D + (t - 1) * p, *e = E + t * p;
    S* to = D + t * p;
    S fixed[P ? P : 1];
    S* best = P ? fixed : to;
    for (size_t j = 0; j < p; ++j) best[j] = from[0] + c.T[j];
    for (size_t i = 1; i < c.k; ++i) {
      const S* T = c.T + i * c.stride;
      for (size_t j = 0; j < p; ++j) {
        S through = from[i] + T[j];
        best[j] = through > best[j] ? through : best[j];
      }
    }
    for (size_t j = 0; j < p; ++j) to[j] = best[j] + e[j];
  }
}

template <class S>
LINNAEUS_INLINE void best_forward_any(const Links<S>& c, const S* E, size_t n, S* D) {
  switch (c.lanes) {
    case 8:
      return best_forward_in<8>(c, E, n, D);
    case 16:
      return best_forward_in<16>(c, E, n, D);
    case 24:
      return best_forward_in<24>(c, E, n, D);
    case 32:
      return best_forward_in<32>(c, E, n, D);
    default:
      return best_forward_in<0>(c, E, n, D);
  }
}

// e^(row - high) of each row; zeros in the fill.
template <class S>
LINNAEUS_INLINE void exp_rows(const S* E, size_t n, size_t k, size_t p, double* X, double* high) {
  for (size_t t = 0; t < n; ++t) {
    const S* e = E + t * p;
    S top = e[0];
    for (size_t j = 1; j < k; ++j) top = e[j] > top ? e[j] : top;
    high[t] = double(top);
    for (size_t j = 0; j < p; ++j) X[t * p + j] = double(e[j]) - high[t];
  }
  for (size_t i = 0; i < n * p; ++i) X[i] = elementary::exp(X[i]);
  for (size_t t = 0; t < n; ++t)
    for (size_t j = k; j < p; ++j) X[t * p + j] = 0;
}

LINNAEUS_CLONES void exp_scores(const float* E, size_t n, size_t k, size_t p, double* X, double* high) {
  exp_rows(E, n, k, p, X, high);
}
LINNAEUS_CLONES void exp_scores(const double* E, size_t n, size_t k, size_t p, double* X, double* high) {
  exp_rows(E, n, k, p, X, high);
}

LINNAEUS_CLONES void exp_links(double* values, size_t rows, size_t k, size_t p) {
  for (size_t i = 0; i < rows * p; ++i) values[i] = elementary::exp(values[i]);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = k; j < p; ++j) values[i * p + j] = 0;
}

struct Sums {
  const double *X, *e_start, *e_links, *e_across;
  size_t n, k, lanes;
  double *A, *scale, *tags, *pairs, *v, *B;
  double weight;
};

// to = (from M) for a vector of k and k rows of p.
template <size_t P>
LINNAEUS_INLINE void times_rows(const double* from, const double* M, size_t k, size_t lanes, double* to) {
  const size_t p = P ? P : lanes;
  double fixed[P ? P : 1];
  double* sums = P ? fixed : to;
  for (size_t j = 0; j < p; ++j) sums[j] = 0;
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < p; ++j) sums[j] += from[i] * M[i * p + j];
  if (P)
    for (size_t j = 0; j < p; ++j) to[j] = sums[j];
}

template <size_t P>
LINNAEUS_INLINE bool scale_row(double* row, size_t k, size_t lanes, double& scale) {
  const size_t p = P ? P : lanes;
  double total = 0;
  for (size_t j = 0; j < k; ++j) total += row[j];
  scale = total;
  if (!(total > kLeast)) return false;
  double by = 1.0 / total;
  for (size_t j = 0; j < p; ++j) row[j] *= by;
  return true;
}

// Whether all sums stayed in range.
template <size_t P>
LINNAEUS_INLINE bool forward_in(const Sums& s) {
  const size_t p = P ? P : s.lanes;
  for (size_t j = 0; j < p; ++j) s.A[j] = s.X[j] * s.e_start[j];
  if (!scale_row<P>(s.A, s.k, p, s.scale[0])) return false;
  for (size_t t = 1; t < s.n; ++t) {
    double* A = s.A + t * p;
    times_rows<P>(A - p, s.e_links, s.k, p, A);
    for (size_t j = 0; j < p; ++j) A[j] *= s.X[t * p + j];
    if (!scale_row<P>(A, s.k, p, s.scale[t])) return false;
  }
  return true;
}

template <size_t P>
LINNAEUS_INLINE void backward_in(const Sums& s) {
  const size_t p = P ? P : s.lanes;
  for (size_t j = 0; j < p; ++j) s.B[j] = 1.0;
  for (size_t j = 0; j < p; ++j) s.tags[(s.n - 1) * p + j] = s.A[(s.n - 1) * p + j];
  for (size_t t = s.n - 1; t > 0; --t) {
    const double *X = s.X + t * p, *A = s.A + (t - 1) * p;
    double by = 1.0 / s.scale[t];
    for (size_t j = 0; j < p; ++j) s.v[j] = X[j] * s.B[j] * by;
    times_rows<P>(s.v, s.e_across, s.k, p, s.B);
    for (size_t j = 0; j < p; ++j) s.tags[(t - 1) * p + j] = A[j] * s.B[j];
    for (size_t i = 0; i < s.k; ++i) {
      double a = A[i] * s.weight;
      for (size_t j = 0; j < p; ++j) s.pairs[i * p + j] += a * s.v[j];
    }
  }
}

template <size_t P>
LINNAEUS_INLINE bool both_ways(const Sums& s) {
  if (!forward_in<P>(s)) return false;
  backward_in<P>(s);
  return true;
}

LINNAEUS_CLONES bool sum_products(const Sums& s) {
  switch (s.lanes) {
    case 8:
      return both_ways<8>(s);
    case 16:
      return both_ways<16>(s);
    case 24:
      return both_ways<24>(s);
    case 32:
      return both_ways<32>(s);
    default:
      return both_ways<0>(s);
  }
}

double finite_max(const double* values, size_t rows, size_t k, size_t p) {
  double high = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < k; ++j) high = std::max(high, values[i * p + j]);
  return std::fabs(high) <= std::numeric_limits<double>::max() ? high : 0.0;
}

}  // namespace

LINNAEUS_CLONES void best_forward(const Links<float>& links, const float* E, size_t n, float* D) {
  best_forward_any(links, E, n, D);
}
LINNAEUS_CLONES void best_forward(const Links<double>& links, const double* E, size_t n, double* D) {
  best_forward_any(links, E, n, D);
}

template <class S>
void Soft::prepare(const Links<S>& links) {
  k_ = links.k;
  lanes_ = links.lanes;
  second_ = links.second;
  rows_ = shared_rows(k_, second_) - 1;
  size_t size = rows_ * lanes_;
  start_.assign(links.start, links.start + lanes_);
  T_.resize(size);
  for (size_t i = 0; i < rows_; ++i)
    std::copy_n(links.T + i * links.stride, lanes_, T_.begin() + std::ptrdiff_t(i * lanes_));
  e_start_.resize(lanes_);
  e_links_.resize(size);
  exp_scores(start_.data(), 1, k_, lanes_, e_start_.data(), &start_high_);
  if (!(std::fabs(start_high_) <= std::numeric_limits<double>::max())) start_high_ = 0;
  links_high_ = finite_max(T_.data(), k_, k_, lanes_);
  second_high_ = second_ ? finite_max(T_.data() + k_ * lanes_, k_ * k_, k_, lanes_) : 0.0;
  for (size_t i = 0; i < rows_; ++i)
    for (size_t j = 0; j < lanes_; ++j)
      e_links_[i * lanes_ + j] = T_[i * lanes_ + j] - (i < k_ ? links_high_ : second_high_);
  exp_links(e_links_.data(), rows_, k_, lanes_);
  e_across_.assign(k_ * lanes_, 0.0);
  for (size_t i = 0; i < k_; ++i)
    for (size_t j = 0; j < k_; ++j) e_across_[j * lanes_ + i] = e_links_[i * lanes_ + j];
  raw_.resize(size, 0.0);
  whole_.resize(size, 0.0);
  pairs_.resize(size);
  v_.resize(k_ * lanes_);
  B_.resize(2 * k_ * lanes_);
}

template <class S>
double Soft::run(const S* E, size_t n, double weight, double* tags) {
  bool pairs = second_ && n > 1;
  if (X_.size() < n * lanes_) X_.resize(n * lanes_);
  if (size_t size = n * lanes_ * (pairs ? k_ : 1); A_.size() < size) A_.resize(size);
  if (high_.size() < n) high_.resize(n);
  if (scale_.size() < n) scale_.resize(n);
  exp_scores(E, n, k_, lanes_, X_.data(), high_.data());
  if (!(pairs ? by_products_second(n, weight, tags) : by_products(n, weight, tags))) {
    E_.assign(E, E + n * lanes_);
    return pairs ? by_logs_second(n, weight, tags) : by_logs(n, weight, tags);
  }
  double value = start_high_ + double(n - 1) * links_high_ + (pairs ? double(n - 2) * second_high_ : 0.0);
  for (size_t t = 0; t < n; ++t) value += high_[t] + elementary::log(scale_[t]);
  return value;
}

bool Soft::by_products(size_t n, double weight, double* tags) {
  Sums sums{X_.data(), e_start_.data(), e_links_.data(), e_across_.data(), n,     k_, lanes_, A_.data(), scale_.data(),
            tags,      raw_.data(),     v_.data(),       B_.data(),        weight};
  return sum_products(sums);
}

// The same sums as logarithms, for scores that differ by hundreds.
double Soft::by_logs(size_t n, double weight, double* tags) {
  size_t p = lanes_;
  std::vector<double> through(k_), behind(n * p, 0.0);
  for (size_t j = 0; j < k_; ++j) A_[j] = start_[j] + E_[j];
  for (size_t t = 1; t < n; ++t)
    for (size_t j = 0; j < k_; ++j) {
      for (size_t i = 0; i < k_; ++i) through[i] = A_[(t - 1) * p + i] + T_[i * p + j];
      A_[t * p + j] = E_[t * p + j] + log_sum(through);
    }
  for (size_t t = n - 1; t-- > 0;)
    for (size_t i = 0; i < k_; ++i) {
      for (size_t j = 0; j < k_; ++j) through[j] = T_[i * p + j] + E_[(t + 1) * p + j] + behind[(t + 1) * p + j];
      behind[t * p + i] = log_sum(through);
    }
  std::copy_n(A_.begin() + std::ptrdiff_t((n - 1) * p), k_, through.begin());
  double value = log_sum(through);
  for (size_t t = 0; t < n; ++t)
    for (size_t j = 0; j < p; ++j)
      tags[t * p + j] = j < k_ ? elementary::exp(A_[t * p + j] + behind[t * p + j] - value) : 0.0;
  for (size_t t = 1; t < n; ++t)
    for (size_t i = 0; i < k_; ++i)
      for (size_t j = 0; j < k_; ++j)
        whole_[i * p + j] +=
            weight * elementary::exp(A_[(t - 1) * p + i] + T_[i * p + j] + E_[t * p + j] + behind[t * p + j] - value);
  return value;
}

const double* Soft::finish() {
  for (size_t i = 0; i < pairs_.size(); ++i) {
    pairs_[i] = raw_[i] * e_links_[i] + whole_[i];
    raw_[i] = whole_[i] = 0;
  }
  return pairs_.data();
}

template void Soft::prepare(const Links<float>&);
template void Soft::prepare(const Links<double>&);
template double Soft::run(const float*, size_t, double, double*);
template double Soft::run(const double*, size_t, double, double*);

}  // namespace linnaeus::chain
