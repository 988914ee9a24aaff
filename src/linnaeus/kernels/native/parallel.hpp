// Work cut into numbered pieces that do not depend on the number of threads; threads take the next piece in turn.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "interrupts.hpp"

namespace linnaeus {

// Calls work(piece, worker) once for each piece 0..pieces-1. The first exception is thrown again in the caller; so is
// what Ctrl-C raises, between two pieces.
template <class Work>
void for_each_piece(size_t pieces, int threads, Work&& work) {
  Interrupts interrupts;
  if (threads <= 1 || pieces <= 1) {
    for (size_t i = 0; i < pieces; ++i, interrupts.ask()) work(i, 0);
    return;
  }
  std::atomic<size_t> next{0};
  std::exception_ptr error;
  std::mutex guard;
  auto loop = [&](int worker) {
    try {
      for (size_t i; (i = next.fetch_add(1)) < pieces;) {
        work(i, worker);
        if (worker == 0) interrupts.ask();
      }
    } catch (...) {
      std::lock_guard<std::mutex> lock(guard);
      if (!error) error = std::current_exception();
      next.store(pieces);
    }
  };
  size_t count = std::min<size_t>(threads, pieces);
  std::vector<std::thread> pool;
  try {
    for (size_t t = 1; t < count; ++t) pool.emplace_back(loop, int(t));
  } catch (const std::system_error&) {
    // The system gives no more threads: those that are there do all of the work.
  }
  loop(0);
  for (auto& t : pool) t.join();
  if (error) std::rethrow_exception(error);
}

constexpr size_t kArcsPerPiece = 1 << 14;  // of dependency trees

// Cuts between examples after about `size` of what their offsets count: those of piece i are cuts[i]..cuts[i+1]-1.
inline std::vector<size_t> cut_after(size_t size, const std::vector<size_t>& offsets) {
  std::vector<size_t> cuts{0};
  for (size_t i = 1; i < offsets.size(); ++i)
    if (i + 1 == offsets.size() || offsets[i] - offsets[cuts.back()] >= size) cuts.push_back(i);
  return cuts;
}

// How many threads some work is worth: starting one costs as much as some ten thousand multiplications.
inline int worth(int threads, size_t multiplications) {
  return int(std::min<size_t>(size_t(std::max(threads, 1)), 1 + multiplications / 100000));
}

// One set of scratch memory for each thread.
template <class Worker, class... Args>
std::vector<Worker> make_workers(int threads, const Args&... args) {
  std::vector<Worker> workers;
  workers.reserve(std::max(threads, 1));
  for (int i = 0; i < std::max(threads, 1); ++i) workers.emplace_back(args...);
  return workers;
}

}  // namespace linnaeus
