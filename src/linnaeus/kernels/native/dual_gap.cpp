// The certificate of dual ascent: primal and dual value of every unfinished problem, from the margins of all its
// members.
//
// Returned (p, 3): primal value 1/2 |w|^2 + sum_i C_i phi(m_i); dual value sum_i conjugate(alpha_i) - 1/2 |w|^2; and
// the dual value of a balanced point. Without regularization of the bias a dual point is feasible only if
// sum_i y_i alpha_i = 0: the heavier side is scaled down by r until it is. With v the part of w that this takes away,
// |w - v|^2 = |w|^2 - 2 w.v + |v|^2, where w.v follows from the margins and |v| is at most the sum of its lengths: so
// the third value is a lower bound for the optimum, and no second look at the data is needed. Without a bias (beta is
// 0) it is the second.
//
// Members that were left out and whose slope points inward are made active again, each in the place of its row.
#include <vector>

#include "dual_losses.hpp"
#include "dual_problems.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {

using namespace dual;

constexpr int64_t kMembersPerPiece = 1024;

struct Piece {
  size_t problem;
  int64_t begin, end;
};

struct Sums {
  double loss = 0, dual = 0, balanced = 0, met = 0, length = 0;
};

// By what the variables of negatives and positives are multiplied so that both sides weigh the same.
struct Balance {
  double keep[2] = {1.0, 1.0};

  explicit Balance(const Problem& p) {
    if (!(p.facts[kBeta] > 0.0)) return;
    double sides[2] = {0, 0};
    for (int64_t i = 0; i < p.size; ++i) sides[p.order[i] >= 0] += p.alpha[row_of(p.order[i])];
    size_t heavy = sides[1] > sides[0];
    if (sides[heavy] > 0.0) keep[heavy] = sides[1 - heavy] / sides[heavy];
  }
};

bool by_row(int32_t a, int32_t b) { return row_of(a) < row_of(b); }

// Active and inactive members, each sorted by row, as one sequence in the order of the rows: reading them as they lie
// in memory takes half the time.
class Places {
 public:
  // From the member of this rank on.
  Places(const Problem& p, int64_t rank) : order_(p.order), middle_(p.counts[kActive]), end_(p.size) {
    int64_t low = std::max<int64_t>(0, rank - (end_ - middle_)), high = std::min(rank, middle_);
    while (low < high) {
      int64_t half = low + (high - low) / 2;
      if (by_row(order_[half], order_[middle_ + rank - half - 1])) {
        low = half + 1;
      } else {
        high = half;
      }
    }
    active_ = low;
    inactive_ = middle_ + rank - low;
  }

  int64_t next() {
    bool first = inactive_ == end_ || (active_ < middle_ && by_row(order_[active_], order_[inactive_]));
    return first ? active_++ : inactive_++;
  }

 private:
  const int32_t* order_;
  int64_t middle_, end_, active_ = 0, inactive_ = 0;
};

// What is known of the members of a piece that count.
struct Members {
  double m[kMembersPerPiece], a[kMembersPerPiece], C[kMembersPerPiece], kept[kMembersPerPiece];
  double loss[kMembersPerPiece], dual[kMembersPerPiece], balanced[kMembersPerPiece];
};

template <class Loss, class T>
Sums add_up(const Matrix<T>& X, const Problem& p, const Piece& piece, const Balance& balance, double* margins) {
  Sums sums;
  Members of{};
  size_t used = 0;
  Places places(p, piece.begin);
  for (int64_t at = piece.begin; at < piece.end; ++at) {
    int64_t i = places.next();
    int32_t member = p.order[i], row = row_of(member);
    double C = p.cost(member), a = p.alpha[row], y = sign_of(member), keep = balance.keep[member >= 0];
    X.check(row);
    double score = X.dot(row, p.w);
    margins[i] = y * (score + p.bias());
    if (!(C > 0.0)) continue;
    of.m[used] = margins[i];
    of.C[used] = C;
    of.a[used] = a;
    of.kept[used++] = a * keep;
    sums.met += (1.0 - keep) * a * y * score;
    sums.length += (1.0 - keep) * a * std::sqrt(p.squares[row]);
  }
  Loss::values(of.m, of.loss, used);
  Loss::conjugates(of.a, of.C, of.dual, used);
  Loss::conjugates(of.kept, of.C, of.balanced, used);
  for (size_t i = 0; i < used; ++i) {
    sums.loss += of.C[i] * of.loss[i];
    sums.dual += of.dual[i];
    sums.balanced += of.balanced[i];
  }
  return sums;
}

// `Places` needs both parts in order; the active members are.
void sort_parts(Problem& p) {
  int32_t *middle = p.order + p.counts[kActive], *last = p.order + p.size;
  if (!std::is_sorted(p.order, middle, by_row)) std::sort(p.order, middle, by_row);
  if (!std::is_sorted(middle, last, by_row)) std::sort(middle, last, by_row);
}

// Members behind the active ones that a step would move come to the front.
template <class Loss>
void activate(Problem& p, const double* margins) {
  int64_t &active = p.counts[kActive], before = active;
  for (int64_t i = active; i < p.size; ++i) {
    int32_t member = p.order[i], row = row_of(member);
    double C = p.cost(member), a = p.alpha[row];
    if (!(C > 0.0)) continue;
    double slope = Loss::slope(a, margins[i], C);
    bool moves = (slope < 0.0 && a < Loss::top(C)) || (slope > 0.0 && a > 0.0);
    if (moves) std::swap(p.order[i], p.order[active++]);
  }
  if (active > before) std::sort(p.order, p.order + active, by_row);
}

template <class Loss, class T>
auto gap(Sparse<T> rows, Box box, State state, int threads) {
  Wave wave(box, state, std::max<size_t>(std::get<0>(rows).size(), 1) - 1);
  Matrix<T> X(rows, wave.d);
  Buffer<double> values(wave.count * 3);
  {
    nb::gil_scoped_release release;
    std::vector<Piece> pieces;
    std::vector<Balance> balances;
    std::vector<size_t> firsts;
    for (size_t i = 0; i < wave.count; ++i) {
      Problem p = wave.problem(i);
      firsts.push_back(pieces.size());
      balances.emplace_back(p);
      if (!wave.finished(i)) sort_parts(p);
      for (int64_t at = 0; at < p.size && !wave.finished(i); at += kMembersPerPiece)
        pieces.push_back({i, at, std::min(p.size, at + kMembersPerPiece)});
    }
    firsts.push_back(pieces.size());
    auto& starts = std::get<3>(state);
    std::vector<Sums> sums(pieces.size());
    std::vector<double> margins(std::get<2>(state).size());
    for_each_piece(pieces.size(), threads, [&](size_t i, int) {
      size_t of = pieces[i].problem;
      sums[i] = add_up<Loss>(X, wave.problem(of), pieces[i], balances[of], margins.data() + starts.data()[of]);
    });
    for_each_piece(wave.count, threads, [&](size_t i, int) {
      Problem p = wave.problem(i);
      Sums all;
      for (size_t at = firsts[i]; at < firsts[i + 1]; ++at) {
        all.loss += sums[at].loss;
        all.dual += sums[at].dual;
        all.balanced += sums[at].balanced;
        all.met += sums[at].met;
        all.length += sums[at].length;
      }
      double norm = p.squared_norm();
      values[i * 3] = 0.5 * norm + all.loss;
      values[i * 3 + 1] = all.dual - 0.5 * norm;
      values[i * 3 + 2] = all.balanced - 0.5 * (norm - 2.0 * all.met + all.length * all.length);
      if (!wave.finished(i)) activate<Loss>(p, margins.data() + starts.data()[i]);
    });
  }
  return to_numpy(std::move(values));
}

template <class Loss>
void bind(nb::module_& m, const char* name) {
  using namespace nb::literals;
  m.def(name, &gap<Loss, float>, "rows"_a, "box"_a, "state"_a, "threads"_a);
  m.def(name, &gap<Loss, double>, "rows"_a, "box"_a, "state"_a, "threads"_a);
}

}  // namespace

void bind_dual_gap(nb::module_& m) {
  bind<Hinge>(m, "dual_gap_hinge");
  bind<SquaredHinge>(m, "dual_gap_squared_hinge");
  bind<Logistic>(m, "dual_gap_logistic");
}

}  // namespace linnaeus
