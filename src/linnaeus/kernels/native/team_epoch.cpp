// One epoch of dual coordinate ascent for teams of problems over the same rows; each team is one piece of work.
#include "parallel.hpp"
#include "team_sweep.hpp"

namespace linnaeus {
namespace {

using namespace team;

template <class Loss, class R, class T>
void epoch(Sparse<T> rows, Box box, State<R> state, int threads) {
  Teams<R, T> teams(rows, box, state);
  nb::gil_scoped_release release;
  if (!columns_fit(teams.rows, teams.d)) throw std::invalid_argument("team: a column has no weights");
  auto scratch = make_workers<Scratch>(threads);
  for_each_piece(teams.count, threads, [&](size_t t, int worker) {
    if (teams.finished(t)) return;
    with_lanes(teams.lanes, [&](auto lanes) {
      run_epoch<Loss, R, lanes.value>(teams.rows, teams.team(t), scratch[size_t(worker)]);
    });
  });
}

template <class Loss>
struct Epoch {
  template <class R, class T>
  static void run(Sparse<T> rows, Box box, State<R> state, int threads) {
    return epoch<Loss, R, T>(rows, box, state, threads);
  }
};

}  // namespace

void bind_team_epoch(nb::module_& m) {
  bind<Epoch<Hinge>>(m, "team_epoch_hinge");
  bind<Epoch<SquaredHinge>>(m, "team_epoch_squared_hinge");
}

}  // namespace linnaeus
