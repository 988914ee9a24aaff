// Ctrl-C in a kernel that works without the GIL: the thread that called it asks Python now and then.
#pragma once
#include <nanobind/nanobind.h>

#include <chrono>

namespace linnaeus {

// Between two pieces of work, call `ask`: it costs a look at the clock. Once in 50 ms it takes the GIL and lets Python
// run the handlers of signals that have come; what they raise (KeyboardInterrupt) is thrown. Python runs handlers on
// its main thread only, so for kernels called on another thread this does nothing.
class Interrupts {
 public:
  void ask() {
    auto now = std::chrono::steady_clock::now();
    if (now < due_) return;
    due_ = now + kPause;
    nanobind::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
  }

 private:
  static constexpr std::chrono::milliseconds kPause{50};
  std::chrono::steady_clock::time_point due_ = std::chrono::steady_clock::now() + kPause;
};

}  // namespace linnaeus
