// Linear chains of second order: the state at a token is the pair of its tag and the one before.
//
//   D[t][j][l] = E[t][l] + T[j][l] + max_i D[t-1][i][j] + T2[i, j][l], and the same with sums of products.
// A token costs k^3 multiplications, and n k lanes numbers are kept for the way back.
#include "chain_sums.hpp"
#include "targets.hpp"

namespace linnaeus::chain {
namespace {

template <class S>
LINNAEUS_INLINE void forward_max(const Links<S>& c, const S* E, size_t n, S* D) {
  const size_t p = c.lanes, block = c.k * p;
  for (size_t j = 0; j < p; ++j) D[j] = c.start[j] + E[j];
  for (size_t i = 0; i < c.k; ++i)
    for (size_t j = 0; j < p; ++j) D[block + i * p + j] = D[i] + c.T[i * c.stride + j] + E[p + j];
  for (size_t t = 2; t < n; ++t) {
    const S *from = D + (t - 1) * block, *e = E + t * p;
    for (size_t j = 0; j < c.k; ++j) {
      S* __restrict best = D + t * block + j * p;
      for (size_t l = 0; l < p; ++l) best[l] = from[j] + c.pair(0, j)[l];
      for (size_t i = 1; i < c.k; ++i) {
        const S* __restrict T2 = c.pair(i, j);
        S before = from[i * p + j];
        for (size_t l = 0; l < p; ++l) {
          S through = before + T2[l];
          best[l] = through > best[l] ? through : best[l];
        }
      }
      const S* T = c.T + j * c.stride;
      for (size_t l = 0; l < p; ++l) best[l] += T[l] + e[l];
    }
  }
}

struct Sums {
  const double *X, *e_start, *e_links, *e_second;
  size_t n, k, p;
  double *A, *scale, *tags, *pairs, *triples, *V, *B, *next;
  double weight;
};

bool scale_block(double* values, size_t rows, size_t k, size_t p, double& scale) {
  double total = 0;
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < k; ++j) total += values[i * p + j];
  scale = total;
  if (!(total > kLeast)) return false;
  double by = 1.0 / total;
  for (size_t i = 0; i < rows * p; ++i) values[i] *= by;
  return true;
}

LINNAEUS_CLONES bool forward_sums(const Sums& s) {
  const size_t p = s.p, block = s.k * p;
  for (size_t j = 0; j < p; ++j) s.A[j] = s.X[j] * s.e_start[j];
  if (!scale_block(s.A, 1, s.k, p, s.scale[0])) return false;
  for (size_t t = 1; t < s.n; ++t) {
    double *A = s.A + t * block, *from = A - block;
    const double* X = s.X + t * p;
    for (size_t j = 0; j < s.k; ++j) {
      double* __restrict sums = A + j * p;
      for (size_t l = 0; l < p; ++l) sums[l] = t > 1 ? 0.0 : from[j];
      for (size_t i = 0; t > 1 && i < s.k; ++i) {
        const double* __restrict e = s.e_second + (i * s.k + j) * p;
        double before = from[i * p + j];
        for (size_t l = 0; l < p; ++l) sums[l] += before * e[l];
      }
      for (size_t l = 0; l < p; ++l) sums[l] *= s.e_links[j * p + l] * X[l];
    }
    if (!scale_block(A, s.k, s.k, p, s.scale[t])) return false;
  }
  return true;
}

// Products in four lanes, whatever the width of vectors.
LINNAEUS_INLINE double dot(const double* a, const double* b, size_t p) {
  double sums[4] = {0, 0, 0, 0};
  size_t l = 0;
  for (; l + 4 <= p; l += 4)
    for (size_t q = 0; q < 4; ++q) sums[q] += a[l + q] * b[l + q];
  for (; l < p; ++l) sums[0] += a[l] * b[l];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

LINNAEUS_CLONES void backward_sums(const Sums& s) {
  const size_t p = s.p, block = s.k * p;
  double *B = s.B, *next = s.next;
  for (size_t i = 0; i < block; ++i) B[i] = 1.0;
  for (size_t t = s.n - 1; t > 0; --t) {
    const double *A = s.A + t * block, *X = s.X + t * p;
    double* tags = s.tags + t * p;
    for (size_t l = 0; l < p; ++l) tags[l] = 0;
    for (size_t j = 0; j < s.k; ++j)
      for (size_t l = 0; l < p; ++l) {
        double both = A[j * p + l] * B[j * p + l];
        tags[l] += both;
        s.pairs[j * p + l] += s.weight * both;
      }
    if (t == 1) {
      for (size_t l = 0; l < p; ++l) s.tags[l] = 0;
      for (size_t j = 0; j < s.k; ++j) s.tags[j] = dot(A + j * p, B + j * p, p);
      return;
    }
    const double* from = A - block;
    double by = 1.0 / s.scale[t];
    for (size_t j = 0; j < s.k; ++j)
      for (size_t l = 0; l < p; ++l) s.V[j * p + l] = X[l] * s.e_links[j * p + l] * B[j * p + l] * by;
    for (size_t i = 0; i < block; ++i) next[i] = 0;
    for (size_t i = 0; i < s.k; ++i)
      for (size_t j = 0; j < s.k; ++j) {
        const double *V = s.V + j * p, *e = s.e_second + (i * s.k + j) * p;
        double* __restrict sums = s.triples + (i * s.k + j) * p;
        next[i * p + j] = dot(e, V, p);
        double a = s.weight * from[i * p + j];
        for (size_t l = 0; l < p; ++l) sums[l] += a * V[l];
      }
    std::swap(B, next);
  }
}

}  // namespace

LINNAEUS_CLONES void best_forward_second(const Links<float>& links, const float* E, size_t n, float* D) {
  forward_max(links, E, n, D);
}
LINNAEUS_CLONES void best_forward_second(const Links<double>& links, const double* E, size_t n, double* D) {
  forward_max(links, E, n, D);
}

bool Soft::by_products_second(size_t n, double weight, double* tags) {
  size_t block = k_ * lanes_;
  Sums s{X_.data(),
         e_start_.data(),
         e_links_.data(),
         e_links_.data() + block,
         n,
         k_,
         lanes_,
         A_.data(),
         scale_.data(),
         tags,
         whole_.data(),
         raw_.data() + block,
         v_.data(),
         B_.data(),
         B_.data() + block,
         weight};
  if (!forward_sums(s)) return false;
  backward_sums(s);
  return true;
}

double Soft::by_logs_second(size_t n, double weight, double* tags) {
  size_t p = lanes_, k = k_, block = k * p;
  std::vector<double> through(k), all(k * k), behind(n * block, 0.0);
  const double* T2 = T_.data() + block;
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < k; ++j) A_[block + i * p + j] = start_[i] + E_[i] + T_[i * p + j] + E_[p + j];
  for (size_t t = 2; t < n; ++t)
    for (size_t j = 0; j < k; ++j)
      for (size_t l = 0; l < k; ++l) {
        for (size_t i = 0; i < k; ++i) through[i] = A_[(t - 1) * block + i * p + j] + T2[(i * k + j) * p + l];
        A_[t * block + j * p + l] = E_[t * p + l] + T_[j * p + l] + log_sum(through);
      }
  auto after = [&](size_t t, size_t j, size_t l) {
    return T_[j * p + l] + E_[t * p + l] + behind[t * block + j * p + l];
  };
  for (size_t t = n - 1; t-- > 1;)
    for (size_t i = 0; i < k; ++i)
      for (size_t j = 0; j < k; ++j) {
        for (size_t l = 0; l < k; ++l) through[l] = T2[(i * k + j) * p + l] + after(t + 1, j, l);
        behind[t * block + i * p + j] = log_sum(through);
      }
  for (size_t i = 0; i < k * k; ++i) all[i] = A_[(n - 1) * block + i / k * p + i % k];
  double value = log_sum(all);
  std::fill_n(tags, n * p, 0.0);
  for (size_t t = 1; t < n; ++t)
    for (size_t j = 0; j < k; ++j)
      for (size_t l = 0; l < k; ++l) {
        double both = elementary::exp(A_[t * block + j * p + l] + behind[t * block + j * p + l] - value);
        tags[t * p + l] += both;
        if (t == 1) tags[j] += both;
        whole_[j * p + l] += weight * both;
        for (size_t i = 0; t > 1 && i < k; ++i)
          whole_[block + (i * k + j) * p + l] +=
              weight *
              elementary::exp(A_[(t - 1) * block + i * p + j] + T2[(i * k + j) * p + l] + after(t, j, l) - value);
      }
  return value;
}

}  // namespace linnaeus::chain
