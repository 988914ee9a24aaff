// Threads that work through the same steps and wait for each other between them.
#pragma once
#include <algorithm>
#include <atomic>
#include <barrier>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace linnaeus {

// One of several workers; `meet` waits until all of them have come.
struct Team {
  size_t worker, workers;
  std::barrier<>* barrier;
  void meet() const { barrier->arrive_and_wait(); }
};

// Calls work(team) on `threads` threads, or on as many as the system gives. It must not throw.
template <class Work>
void work_together(size_t threads, Work&& work) {
  std::atomic<size_t> begun{0};
  std::optional<std::barrier<>> barrier;
  size_t workers = 1;
  auto wait = [&](size_t worker) {
    begun.wait(0);
    work(Team{worker, workers, &*barrier});
  };
  std::vector<std::thread> pool;
  pool.reserve(threads);
  try {
    for (size_t t = 1; t < threads; ++t) pool.emplace_back(wait, t);
  } catch (const std::system_error&) {
    // The system gives no more threads: those that are there do all of the work.
  }
  workers = 1 + pool.size();
  barrier.emplace(std::ptrdiff_t(workers));
  begun.store(1);
  begun.notify_all();
  work(Team{0, workers, &*barrier});
  for (auto& t : pool) t.join();
}

}  // namespace linnaeus
