// The compiled module: every kernel family registers itself here.
#include <nanobind/nanobind.h>

NB_MODULE(_native, m) { (void)m; }
