// Sparse rows put together: the columns of one row sorted and counted, the rows of all pieces joined in order.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "counter.hpp"
#include "growing.hpp"
#include "parallel.hpp"

namespace linnaeus {

// Joins the rows of numbered pieces in the order of their numbers, whoever is done first. A piece that comes early is
// kept until its turn; whoever brings the one that was missing writes those behind it too.
class OrderedRows {
 public:
  // The block is empty afterwards, and ready for another piece.
  void append(size_t piece, RowBlock& block) {
    std::unique_lock<std::mutex> lock(guard_);
    turn_.wait(lock, [&] { return piece < next_ + AHEAD || failed_; });
    if (failed_) return;
    if (piece != next_) {
      early_.emplace(piece, std::move(block));
      block = take_spare();
      return;
    }
    std::vector<Placed> placed;
    placed.push_back(place(std::move(block)));
    for (auto it = early_.find(next_); it != early_.end(); it = early_.find(next_)) {
      placed.push_back(place(std::move(it->second)));
      early_.erase(it);
    }
    turn_.notify_all();
    // Writing fresh memory is the slow part: only where the arrays may still move is it done under the lock.
    bool alone = !columns_.stays() || !values_.stays();
    if (!alone) lock.unlock();
    for (const Placed& p : placed) copy(p);
    if (!alone) lock.lock();
    for (Placed& p : placed) spare_.push_back(std::move(p.block));
    block = take_spare();
  }

  // With one thread the next rows can be written where they will stay.
  void lend(RowBlock& block) {
    size_t at = columns_.size(), room = columns_.room();
    if (columns_.stays() && values_.stays()) block.lend(columns_.data() + at, values_.data() + at, room);
  }

  // After an error nobody waits for a turn that will not come.
  void fail() {
    std::lock_guard<std::mutex> lock(guard_);
    failed_ = true;
    turn_.notify_all();
  }

  nb::tuple release() { return nb::make_tuple(offsets_.release(), columns_.release(), values_.release()); }

  explicit OrderedRows(size_t most_values) {
    columns_.reserve(most_values);
    values_.reserve(most_values);
    *offsets_.extend(1) = 0;
  }

 private:
  static constexpr size_t AHEAD = 64;  // pieces that may wait for one that is late

  struct Placed {
    RowBlock block;
    size_t at;
  };

  Placed place(RowBlock&& block) {
    for (uint32_t length : block.lengths()) *offsets_.extend(1) = total_ += length;
    ++next_;
    size_t at = columns_.size();
    columns_.extend(block.size());
    values_.extend(block.size());
    return {std::move(block), at};
  }

  void copy(const Placed& p) {
    if (p.block.lent()) return;
    std::copy_n(p.block.columns(), p.block.size(), columns_.data() + p.at);
    std::copy_n(p.block.values(), p.block.size(), values_.data() + p.at);
  }

  RowBlock take_spare() {
    if (spare_.empty()) return {};
    RowBlock block = std::move(spare_.back());
    spare_.pop_back();
    return block;
  }

  std::mutex guard_;
  std::condition_variable turn_;
  size_t next_ = 0;
  bool failed_ = false;
  std::map<size_t, RowBlock> early_;
  std::vector<RowBlock> spare_;
  int64_t total_ = 0;
  Growing<int64_t> offsets_;
  Growing<int32_t> columns_;
  Growing<float> values_;
};

// Texts cut into pieces of about 256 kB, whatever the number of threads: piece i is rows [cuts[i], cuts[i+1]).
inline std::vector<size_t> cut_pieces(const int64_t* offsets, size_t n, int64_t bytes = 256 * 1024,
                                      size_t most = 8192) {
  std::vector<size_t> cuts{0};
  for (size_t i = 0; i < n; ++i) {
    size_t first = cuts.back();
    if (i > first && (offsets[i] - offsets[first] >= bytes || i - first >= most)) cuts.push_back(i);
  }
  if (n > cuts.back()) cuts.push_back(n);
  return cuts;
}

// Calls make(piece, block, worker) for each piece and joins the blocks; there will be at most `most` values.
template <class Make>
nb::tuple join_rows(size_t pieces, int threads, size_t most, Make&& make) {
  OrderedRows rows(most);
  {
    nb::gil_scoped_release release;
    std::vector<RowBlock> blocks(std::max(threads, 1));
    for_each_piece(pieces, threads, [&](size_t piece, int worker) {
      try {
        blocks[worker].clear();
        if (threads <= 1) rows.lend(blocks[worker]);
        make(piece, blocks[worker], worker);
        rows.append(piece, blocks[worker]);
      } catch (...) {
        rows.fail();
        throw;
      }
    });
  }
  return rows.release();
}

// Calls make(first, last, block, worker) for the rows of each piece of the texts; a byte of text makes at most
// `terms_per_byte` terms.
template <class Make>
nb::tuple build_rows(const int64_t* offsets, size_t n, int threads, size_t terms_per_byte, Make&& make) {
  std::vector<size_t> cuts = cut_pieces(offsets, n);
  size_t most = n ? terms_per_byte * (size_t(offsets[n] - offsets[0]) + n) : 0;
  return join_rows(cuts.size() - 1, threads, most, [&](size_t piece, RowBlock& block, int worker) {
    make(cuts[piece], cuts[piece + 1], block, worker);
  });
}

}  // namespace linnaeus
