// Dependency trees of one sentence: the best tree, and the sums over all trees, projective or not.
//
// A sentence of n tokens has scores S (n, n+1): S[m, h] is that of the arc from head h to token m. Head 0 is the root
// and head j+1 is token j; what stands at h = m+1 is never read. A tree gives each token one head, has no cycle, and
// has exactly one token whose head is the root. Its score is the sum of its arcs; -inf forbids an arc, NaN and +inf are
// not allowed. A tree is projective where no two arcs cross and none passes over the token below the root.
//   best_projective  Eisner 1996 and 2000: O(n^3)
//   best_spanning    Chu and Liu 1965, Edmonds 1967, in the order of Tarjan 1977: O(n^2). One root is part of the order
//                    of weights, see Weight; so it is exact (compare Zmigrod, Vieira and Cotterell 2020).
//   soft_projective  inside and outside sums over the items of Eisner: O(n^3)
//   soft_spanning    the matrix-tree theorem with one root (Koo, Globerson, Carreras and Collins 2007): O(n^3). The
//                    determinant is found by elimination without subtraction (Grassmann, Taksar and Heyman 1985).
// Sums of e^score are taken in doubles, and once more in numbers of unlimited range where doubles may have underflowed.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "interrupts.hpp"
#include "wide.hpp"

namespace linnaeus::dependency {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// An arc weight as Chu, Liu and Edmonds add and compare it: fewer root arcs are better, then fewer forbidden arcs, then
// a larger score, then fewer arcs of the true tree. Such weights are an ordered group, so the algorithm is exact for
// them, and the best tree has one root arc, for every sentence has a tree with one.
struct Weight {
  int64_t broken = 0;  // root arcs times 2^32, plus forbidden arcs
  double score = 0;    // of arcs that are not forbidden
  int64_t truth = 0;

  bool beats(const Weight& other) const {
    if (broken != other.broken) return broken < other.broken;
    return score > other.score || (score == other.score && truth < other.truth);
  }
  Weight operator-(const Weight& other) const {
    return {broken - other.broken, score - other.score, truth - other.truth};
  }
};

struct Projective {                               // all (n, n)
  std::vector<double> right, left, arcs;          // scores of spans and arcs, see best_projective
  std::vector<int32_t> truths[3], cuts[2];        // true arcs in them, and where they are cut
  std::vector<std::pair<int32_t, int32_t>> open;  // spans still to be cut
};

struct Spanning {
  std::vector<Weight> weights;               // (n, n+1)
  std::vector<int32_t> enters;               // the token that an arc into a contracted cycle enters (n, n+1)
  std::vector<int32_t> owner, row;           // of tokens: the node they are in; of nodes: their row of weights
  std::vector<int32_t> head, token, parent;  // of nodes: the arc that enters, and the cycle it was contracted to
  std::vector<Weight> chosen;
  std::vector<int8_t> state;
  std::vector<int32_t> path;
};

template <class T>
struct Sums {
  std::vector<T> a, b, c, d, e;
};

// Memory for one sentence after the other; it grows with the longest. The thread that called a kernel has interrupts:
// in a long sentence it hears Ctrl-C, which leaves results half done.
struct TreeSpace {
  Projective projective;
  Spanning spanning;
  Sums<double> narrow;
  Sums<Wide> wide;
  std::vector<double> shift, right, left, arcs;
  Interrupts* interrupts = nullptr;

  void ask(size_t round) const {
    if (interrupts && round % 8 == 0) interrupts->ask();
  }
};

template <class T>
T* fit(std::vector<T>& memory, size_t size) {
  if (memory.size() < size) memory.resize(size);
  return memory.data();
}

// The score of a tree, added up in the order of the tokens.
inline double score_tree(const double* S, size_t n, const int32_t* heads) {
  double total = 0;
  for (size_t m = 0; m < n; ++m) total += S[m * (n + 1) + size_t(heads[m])];
  return total;
}

// Where a span is cut best: the largest a[k] + b[k]; among equals the fewest true arcs, then the first.
struct Cut {
  double score;
  int32_t truths, at;

  static Cut find(size_t count, const double* a, const double* b, const int32_t* ta, const int32_t* tb) {
    Cut best{kNever, std::numeric_limits<int32_t>::max(), 0};
    for (size_t k = 0; k < count; ++k) {
      double score = a[k] + b[k];
      if (score < best.score) continue;
      int32_t truths = ta[k] + tb[k];
      if (score > best.score || truths < best.truths) best = {score, truths, int32_t(k)};
    }
    return best;
  }
};

// Items of spans of tokens i..j, in squares that hold them at [i, j] and at [j, i], so that every loop reads memory in
// order:
//   right[i, j]  the best half tree of i with all descendants up to j; left[i, j] that of j down to i
//   arcs[h, m]   the best of a span between h and m with the arc from h to m
// Changed: the squares of the space. Cuts of the left halves stand below the diagonal of those of the right ones.
inline void fill_projective(const double* S, size_t n, const int32_t* against, TreeSpace& space) {
  Projective& w = space.projective;
  double *R = fit(w.right, n * n), *L = fit(w.left, n * n), *A = fit(w.arcs, n * n);
  int32_t *r = fit(w.truths[0], n * n), *l = fit(w.truths[1], n * n), *a = fit(w.truths[2], n * n);
  int32_t *halves = fit(w.cuts[0], n * n), *between = fit(w.cuts[1], n * n);
  auto arc = [&](size_t head, size_t m, const Cut& inside) {
    A[head * n + m] = inside.score + S[m * (n + 1) + head + 1];
    a[head * n + m] = inside.truths + (against && against[m] == int32_t(head + 1));
  };
  for (size_t i = 0; i < n; ++i) R[i * n + i] = L[i * n + i] = r[i * n + i] = l[i * n + i] = 0;
  for (size_t width = 1; width < n; ++width, space.ask(width))
    for (size_t i = 0, j = width; j < n; ++i, ++j) {
      size_t at = i * n + j, across = j * n + i, first = i * n + i, low = j * n + i;
      Cut cut = Cut::find(width, R + first, L + low + 1, r + first, l + low + 1);
      between[at] = cut.at;
      arc(i, j, cut);
      arc(j, i, cut);
      cut = Cut::find(width, A + first + 1, R + low + 1, a + first + 1, r + low + 1);
      R[at] = R[across] = cut.score;
      r[at] = r[across] = cut.truths;
      halves[at] = cut.at;
      cut = Cut::find(width, L + first, A + low, l + first, a + low);
      L[at] = L[across] = cut.score;
      l[at] = l[across] = cut.truths;
      halves[across] = cut.at;
    }
}

// heads[m] in 0..n of the best projective tree; its score. `against` are the heads of the true tree, or null: in an
// exact tie a tree with fewer of its arcs wins. Further ties: the first token below the root, then the first cut of
// each span.
inline double best_projective(const double* S, size_t n, const int32_t* against, TreeSpace& space, int32_t* heads) {
  if (!n) return 0;
  Projective& w = space.projective;
  fill_projective(S, n, against, space);
  Cut best{kNever, std::numeric_limits<int32_t>::max(), 0};
  for (size_t top = 0; top < n; ++top) {
    double score = w.left[top] + w.right[top * n + n - 1] + S[top * (n + 1)];
    if (score < best.score) continue;
    int32_t truths = w.truths[1][top] + w.truths[0][top * n + n - 1] + (against && against[top] == 0);
    if (score > best.score || truths < best.truths) best = {score, truths, int32_t(top)};
  }
  heads[best.at] = 0;
  w.open.assign({{best.at, 0}, {best.at, int32_t(n - 1)}});  // half trees: the head, and where they end
  while (!w.open.empty()) {
    auto [head, end] = w.open.back();
    w.open.pop_back();
    if (head == end) continue;
    size_t cut = size_t(w.cuts[0][size_t(head) * n + size_t(end)]);
    int32_t m = int32_t(cut) + (head < end ? head + 1 : end);
    heads[m] = head + 1;
    int32_t low = std::min(head, m), high = std::max(head, m);
    int32_t middle = low + w.cuts[1][size_t(low) * n + size_t(high)];
    w.open.insert(w.open.end(), {{m, end}, {low, middle}, {high, middle + 1}});
  }
  return score_tree(S, n, heads);
}

// Contracts the nodes of the path from place `from` on, a cycle, to one node: an arc into it counts what it adds to the
// arc of the cycle that it replaces. Among equal arcs that of the first node of the path stays.
inline void contract(size_t n, size_t from, int32_t node, Spanning& w) {
  size_t columns = n + 1, first = size_t(w.row[size_t(w.path[from])]) * columns;
  for (size_t place = from; place < w.path.size(); ++place) {
    size_t member = size_t(w.path[place]), row = size_t(w.row[member]) * columns;
    w.parent[member] = node;
    for (size_t u = 0; u < columns; ++u) {
      Weight weight = w.weights[row + u] - w.chosen[member];
      if (place > from && !weight.beats(w.weights[first + u])) continue;
      w.weights[first + u] = weight;
      w.enters[first + u] = w.enters[row + u];
    }
  }
  for (size_t m = 0; m < n; ++m)
    if (int32_t up = w.parent[size_t(w.owner[m])]; up == node) w.owner[m] = node;
  w.row[size_t(node)] = int32_t(first / columns);
  w.path.resize(from);
}

inline void start_spanning(const double* S, size_t n, const int32_t* against, Spanning& w) {
  size_t columns = n + 1;
  w.weights.resize(n * columns);
  w.enters.resize(n * columns);
  w.chosen.resize(2 * n);
  for (auto* of_nodes : {&w.head, &w.token, &w.row}) of_nodes->resize(2 * n);
  w.parent.assign(2 * n, -1);
  w.state.assign(2 * n, 0);
  w.owner.resize(n);
  for (size_t m = 0; m < n; ++m) {
    w.owner[m] = w.row[m] = int32_t(m);
    for (size_t h = 0; h < columns; ++h) {
      double score = S[m * columns + h];
      bool never = score == kNever;
      int64_t broken = (int64_t(h == 0) << 32) + never;
      w.weights[m * columns + h] = {broken, never ? 0.0 : score, against && against[m] == int32_t(h)};
      w.enters[m * columns + h] = int32_t(m);
    }
  }
}

// The best arc into a node, from the lowest head among equals.
inline void choose_head(size_t n, int32_t node, Spanning& w) {
  size_t row = size_t(w.row[size_t(node)]) * (n + 1), found = 0;
  for (size_t u = 1; u <= n; ++u)
    if (w.owner[u - 1] != node && w.weights[row + u].beats(w.weights[row + found])) found = u;
  w.head[size_t(node)] = int32_t(found);
  w.token[size_t(node)] = w.enters[row + found];
  w.chosen[size_t(node)] = w.weights[row + found];
}

// The same as best_projective for trees whose arcs may cross. The path grows from each token in turn by the best arc
// into its end; where it meets itself, the cycle becomes one node. Further ties: see choose_head and contract.
inline double best_spanning(const double* S, size_t n, const int32_t* against, TreeSpace& space, int32_t* heads) {
  enum : int8_t { kNew, kOnPath, kDone };
  Spanning& w = space.spanning;
  start_spanning(S, n, against, w);
  int32_t nodes = int32_t(n);
  for (size_t start = 0; start < n; ++start) {
    int32_t node = w.owner[start];
    while (w.state[size_t(node)] == kNew) {
      w.path.push_back(node);
      w.state[size_t(node)] = kOnPath;
      choose_head(n, node, w);
      int32_t head = w.head[size_t(node)];
      if (head == 0) break;
      node = w.owner[size_t(head) - 1];
      if (w.state[size_t(node)] != kOnPath) continue;
      size_t from = size_t(std::find(w.path.begin(), w.path.end(), node) - w.path.begin());
      node = nodes++;
      contract(n, from, node, w);
    }
    for (int32_t done : w.path) w.state[size_t(done)] = kDone;
    w.path.clear();
  }
  // An arc into a cycle takes the place of the one inside it that enters the same token, from the outside in.
  for (size_t node = size_t(nodes); node-- > 0;) {
    if (w.state[node] < 0) continue;
    size_t m = size_t(w.token[node]);
    heads[m] = w.head[node];
    for (int32_t inner = int32_t(m); inner != int32_t(node); inner = w.parent[size_t(inner)])
      w.state[size_t(inner)] = -1;
  }
  return score_tree(S, n, heads);
}

// sum_k a[k] b[k], in four lanes.
template <class T>
T dot(size_t count, const T* a, const T* b) {
  T sums[4] = {};
  size_t k = 0;
  for (; k + 4 <= count; k += 4)
    for (size_t lane = 0; lane < 4; ++lane) sums[lane] += a[k + lane] * b[k + lane];
  for (; k < count; ++k) sums[k % 4] += a[k] * b[k];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Splits the chance p of a span with the sum `whole` among its cuts, a[k] b[k] each.
template <class T>
void split(double p, T whole, size_t count, const T* a, const T* b, double* to_a, double* to_b) {
  if (!(p > 0)) return;
  T factor = T(p) / whole;
  for (size_t k = 0; k < count; ++k) {
    double part = double(factor * a[k] * b[k]);
    to_a[k] += part;
    to_b[k] += part;
  }
}

// Inside sums, bottom up, in the squares of best_projective: `between` are spans before their arc. Returned: the sum
// over all trees of the products of e^(S - shift).
template <class T>
T sum_inside(const double* S, size_t n, const TreeSpace& space, Sums<T>& w) {
  T *R = fit(w.a, n * n), *L = fit(w.b, n * n), *A = fit(w.c, n * n), *between = fit(w.d, n * n);
  auto arc = [&](size_t head, size_t m) { return exp_to<T>(S[m * (n + 1) + head] - space.shift[m]); };
  for (size_t i = 0; i < n; ++i) R[i * n + i] = L[i * n + i] = T(1.0);
  for (size_t width = 1; width < n; ++width, space.ask(width))
    for (size_t i = 0, j = width; j < n; ++i, ++j) {
      size_t at = i * n + j, across = j * n + i, first = i * n + i, low = j * n + i;
      between[at] = dot(width, R + first, L + low + 1);
      A[at] = between[at] * arc(i + 1, j);
      A[across] = between[at] * arc(j + 1, i);
      R[at] = R[across] = dot(width, A + first + 1, R + low + 1);
      L[at] = L[across] = dot(width, L + first, A + low);
    }
  T total = T(0.0);
  for (size_t top = 0; top < n; ++top) total += L[top] * R[top * n + n - 1] * arc(0, top);
  return total;
}

// Chances of spans and arcs, top down. A half tree is part of two kinds of spans: one adds to its chance at [i, j], the
// other at [j, i].
template <class T>
void split_outside(const double* S, size_t n, T total, TreeSpace& space, Sums<T>& w, double* P) {
  const T *R = w.a.data(), *L = w.b.data(), *A = w.c.data(), *between = w.d.data();
  double *r = fit(space.right, n * n), *l = fit(space.left, n * n), *a = fit(space.arcs, n * n);
  for (double* square : {r, l, a}) std::fill_n(square, n * n, 0.0);
  std::fill_n(P, n * (n + 1), 0.0);
  for (size_t top = 0; top < n; ++top) {
    T mass = L[top] * R[top * n + n - 1] * exp_to<T>(S[top * (n + 1)] - space.shift[top]);
    P[top * (n + 1)] = l[top] = r[top * n + n - 1] = double(mass / total);
  }
  for (size_t width = n; width-- > 1; space.ask(width))
    for (size_t i = 0, j = width; j < n; ++i, ++j) {
      size_t at = i * n + j, across = j * n + i, first = i * n + i, low = j * n + i;
      split(r[at] + r[across], R[at], width, A + first + 1, R + low + 1, a + first + 1, r + low + 1);
      split(l[at] + l[across], L[at], width, L + first, A + low, l + first, a + low);
      split(a[at] + a[across], between[at], width, R + first, L + low + 1, r + first, l + low + 1);
      P[j * (n + 1) + i + 1] = a[at];
      P[i * (n + 1) + j + 1] = a[across];
    }
}

// Log sum e^score over all projective trees, and the chance of each arc (n, n+1); -inf and zeros where there is no
// tree.
inline double soft_projective(const double* S, size_t n, TreeSpace& space, double* P) {
  double* shift = fit(space.shift, n);
  double moved = 0;
  for (size_t m = 0; m < n; ++m) {
    shift[m] = kNever;
    for (size_t h = 0; h <= n; ++h)
      if (h != m + 1) shift[m] = std::max(shift[m], S[m * (n + 1) + h]);
    if (shift[m] == kNever) shift[m] = 0;
    moved += shift[m];
  }
  if (!n) return 0;
  // No e^(S - shift) is above 1, and there are at most 6.75^n trees, e^1.91 each. So what underflow takes from a span
  // counts e^(1.91 n - 744) at most, and a total far above that has all its digits.
  if (n <= 300) {
    double total = sum_inside(S, n, space, space.narrow), value = log_of(total);
    if (value > 1.91 * double(n) - 640) {
      split_outside(S, n, total, space, space.narrow, P);
      return moved + value;
    }
  }
  Wide total = sum_inside(S, n, space, space.wide);
  if (total.m == 0) {
    std::fill_n(P, n * (n + 1), 0.0);
    return kNever;
  }
  split_outside(S, n, total, space, space.wide, P);
  return moved + log_of(total);
}

// The tokens leave the sentence one by one, from the last to the first. Where token m leaves, each path h -> m -> j
// becomes an arc, w(h, j) += w(h, m) w(m, j) / D with D = sum_h w(h, m) over the tokens that are left. The root is not
// in D: of the sum over all forests, a polynomial in the weight of root arcs, that takes the linear term, one root. The
// sum over all trees is the product of all D, times what the root then gives to the last token.
// Nothing is subtracted, so small sums keep their digits; paths back to themselves are left out (`row[j] = 0`).
template <class T>
struct Elimination {
  size_t n;
  const TreeSpace& space;
  T *w, *root, *D;  // (n, n) by dependent and head; (n); (n). Rows of tokens that left are divided by their D.
  std::vector<size_t> order;

  T total_of(size_t m) const {
    T total = T(0.0);
    for (size_t h = 0; h < m; ++h) total += w[m * n + h];
    return total;
  }

  // A token that can have no head but the root must be the one that stays.
  void swap_with_first(size_t m) {
    std::swap_ranges(w, w + n, w + m * n);
    for (size_t j = 0; j < n; ++j) std::swap(w[j * n], w[j * n + m]);
    std::swap(root[0], root[m]);
    std::swap(order[0], order[m]);
  }

  // Log of the sum over all trees, -inf where there is none.
  double run() {
    double value = 0;
    for (size_t m = n; m-- > 1; space.ask(m)) {
      D[m] = total_of(m);
      if (D[m] == T(0.0)) {
        swap_with_first(m);
        D[m] = total_of(m);
      }
      if (D[m] == T(0.0)) return kNever;
      value += log_of(D[m]);
      T* shares = w + m * n;
      for (size_t h = 0; h < m; ++h) shares[h] = shares[h] / D[m];
      root[m] = root[m] / D[m];
      for (size_t j = 0; j < m; ++j) {
        T* row = w + j * n;
        T through = row[m];
        for (size_t h = 0; h < m; ++h) row[h] += through * shares[h];
        row[j] = T(0.0);
        root[j] += through * root[m];
      }
    }
    return value + log_of(root[0]);
  }

  // The derivatives of that in the weights as they were given: G (n, n) and those of root arcs (n). c: memory (n).
  void differentiate(T* G, T* to_root, T* c) const {
    G[0] = T(0.0);
    to_root[0] = T(1.0) / root[0];
    for (size_t m = 1; m < n; ++m, space.ask(m)) {
      const T* shares = w + m * n;
      std::fill_n(c, m, T(0.0));
      T c_root = T(0.0);
      for (size_t j = 0; j < m; ++j) {
        T *g = G + j * n, through = w[j * n + m];
        g[m] = dot(m, g, shares) + to_root[j] * root[m];
        for (size_t h = 0; h < m; ++h) c[h] += g[h] * through;
        c_root += to_root[j] * through;
      }
      T mean = dot(m, c, shares) + c_root * root[m];
      for (size_t h = 0; h < m; ++h) G[m * n + h] = (T(1.0) - mean + c[h]) / D[m];
      G[m * n + m] = T(0.0);
      to_root[m] = c_root / D[m];
    }
  }
};

// The sum of all trees with weights e^(S - shift), and the chances of arcs, in numbers T; -inf where the sum is 0.
template <class T>
double sum_spanning(const double* S, size_t n, const TreeSpace& space, Sums<T>& memory, double* P) {
  const double* shift = space.shift.data();
  Elimination<T> all{n, space, fit(memory.a, n * n), fit(memory.b, n), fit(memory.c, n), {}};
  all.order.resize(n);
  for (size_t m = 0; m < n; ++m) {
    all.order[m] = m;
    all.root[m] = exp_to<T>(S[m * (n + 1)] - shift[m]);
    for (size_t h = 0; h < n; ++h) all.w[m * n + h] = h == m ? T(0.0) : exp_to<T>(S[m * (n + 1) + h + 1] - shift[m]);
  }
  double value = all.run();
  std::fill_n(P, n * (n + 1), 0.0);
  if (value == kNever) return value;
  T *G = fit(memory.d, n * n), *rest = fit(memory.e, 2 * n);
  all.differentiate(G, rest, rest + n);
  auto chance = [&](T slope, size_t at, size_t m) {
    double p = double(slope * exp_to<T>(S[at] - shift[m]));
    if constexpr (std::is_same_v<T, Wide>) p = std::min(p, 1.0);  // where exponents stop, ratios are lost
    P[at] = p > 0 ? p : 0.0;                                      // rounding may leave less than nothing
  };
  for (size_t i = 0; i < n; ++i) {
    size_t m = all.order[i];
    chance(rest[i], m * (n + 1), m);
    for (size_t k = 0; k < n; ++k)
      if (k != i) chance(G[i * n + k], m * (n + 1) + all.order[k] + 1, m);
  }
  return value;
}

// Log sum e^score over all trees, and the chance of each arc (n, n+1); -inf and zeros where there is no tree.
inline double soft_spanning(const double* S, size_t n, TreeSpace& space, double* P) {
  double* shift = fit(space.shift, n);
  double moved = 0;
  for (size_t m = 0; m < n; ++m) {
    double most = kNever, sum = 0;
    for (size_t h = 0; h <= n; ++h)
      if (h != m + 1) most = std::max(most, S[m * (n + 1) + h]);
    if (most == kNever) most = 0;
    for (size_t h = 0; h <= n; ++h)
      if (h != m + 1) sum += elementary::exp(S[m * (n + 1) + h] - most);
    shift[m] = sum > 0 ? most + elementary::log(sum) : most;
    moved += shift[m];
  }
  if (!n) return 0;
  // The weights of a token's heads have the sum 1, so no sum is above 1, and what underflow takes counts e^-744.
  double value = sum_spanning(S, n, space, space.narrow, P);
  if (!(value > -640)) value = sum_spanning(S, n, space, space.wide, P);
  return moved + value;
}

}  // namespace linnaeus::dependency
