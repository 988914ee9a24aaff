// The two halves of a batch of an embedding bag, and the workers that do them together.
#pragma once
#include "bag_scores.hpp"

namespace linnaeus::bag {

// What the examples of a batch leave for its second half.
struct Batch {
  std::vector<float> h, d, g;
  std::vector<int32_t> from;
  std::vector<double> losses;
  std::vector<char> mistakes;
  size_t size, width, places;

  Batch(const Problem& p, size_t width, size_t places)
      : h(p.batch * p.size),
        d(p.batch * width),
        g(p.batch * p.size),
        from(p.batch * places),
        losses(p.batch),
        mistakes(p.batch),
        size(p.size),
        width(width),
        places(places) {}
};

// The first half: vectors, scores and gradients of one example, from the tables as the batch found them.
template <class Pool, class Scores>
void look_at(const Problem& p, const Scores& scores, typename Scores::Worker& own, Batch& batch, size_t row, size_t i,
             double scale) {
  float *h = batch.h.data() + row * p.size, *g = batch.g.data() + row * p.size;
  Pool::pool(p, i, h, batch.from.data() + row * batch.places);
  for (size_t c = p.frozen; c < p.numbers; ++c) h[c] *= float(scale);
  std::fill(h + p.numbers, h + p.size, 0.0f);
  const online::Verdict said = scores.look(p, own, i, h, batch.d.data() + row * batch.width, g);
  std::fill(g, g + p.frozen, 0.0f);
  std::fill(g + p.numbers, g + p.size, 0.0f);
  batch.losses[row] = said.loss, batch.mistakes[row] = said.mistake;
}

// The second half: some parts of E and as large a part of O change, each row by one example after the other.
template <class Pool, class Scores>
void move_parts(const Problem& p, const Scores& scores, typename Scores::Worker& own, const Batch& batch, size_t number,
                size_t first, size_t last, double scale) {
  const size_t begin = number * p.batch, count = std::min(p.batch, p.steps - begin);
  const size_t from = p.w * first / kParts, to = p.w * last / kParts;
  const double rate = p.rates[number];
  const Pace pace{float(rate), float(p.smoothing)}, inner{float(rate / scale), pace.smoothing};
  if (p.decay > 0) {
    const float kept = float(elementary::exp(-rate * p.decay));
    for (size_t k = from; k < to; ++k) embed::scale(p.O + k * p.size, kept, p.numbers);
  }
  if (p.frozen < p.numbers)
    for (size_t row = 0; row < count; ++row)
      Pool::move(p, size_t(p.order[begin + row]), first, last, batch.g.data() + row * p.size,
                 batch.from.data() + row * batch.places, inner);
  scores.move(p, own, p.order + begin, from, to, {batch.h.data(), batch.d.data(), count}, pace);
}

// All batches. In the first half of a batch workers take its examples in turn; in the second each changes the rows of
// its parts. The scale of E carries the decay of all of its vectors at once.
template <class Pool, class Scores>
Outcome run(const Problem& p, const Scores& scores, int threads) {
  Batch batch(p, std::max<size_t>(scores.room(p), 1), Pool::room(p));
  std::vector<std::atomic<size_t>> next(p.batches);
  Meeting meeting;
  double loss = 0;
  int64_t mistakes = 0;
  // Workers meet twice in a batch, which costs more than a small batch does.
  const size_t each = (p.work / std::max<size_t>(p.batches, 1) + p.batch * scores.room(p)) * p.size;
  const size_t most = std::min({size_t(worth(threads, each)), kParts, p.batch});
  work_together(most, [&](Team team) {
    const size_t first = kParts * team.worker / team.workers, last = kParts * (team.worker + 1) / team.workers;
    auto own = scores.worker(p);
    double scale = *p.scale;
    team.meet();  // before any of them writes the scale
    for (size_t number = 0; number < p.batches; ++number) {
      const size_t begin = number * p.batch, count = std::min(p.batch, p.steps - begin);
      for (size_t row; (row = next[number].fetch_add(1)) < count;)
        look_at<Pool>(p, scores, own, batch, row, size_t(p.order[begin + row]), scale);
      meeting.meet(team.workers);
      if (p.decay > 0) scale *= elementary::exp(-p.rates[number] * p.decay);
      move_parts<Pool>(p, scores, own, batch, number, first, last, scale);
      if (team.worker == 0)
        for (size_t row = 0; row < count; ++row) loss += batch.losses[row], mistakes += batch.mistakes[row];
      meeting.meet(team.workers);
    }
    if (team.worker == 0) *p.scale = scale;
  });
  return {loss, mistakes};
}

}  // namespace linnaeus::bag
