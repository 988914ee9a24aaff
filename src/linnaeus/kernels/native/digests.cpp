// Problem: the digests of the blocks of some bytes, and whether blocks are those of their digests. See digests.hpp.
#include "digests.hpp"

#include "blocks.hpp"
#include "parallel.hpp"
#include "rows.hpp"

namespace linnaeus {
namespace {

constexpr size_t kBlocksPerPiece = 64;

auto block_digests(In<uint8_t> data, int threads) {
  size_t count = block_count(data.size());
  Buffer<uint64_t> out(count);
  {
    nb::gil_scoped_release release;
    for_each_piece((count + kBlocksPerPiece - 1) / kBlocksPerPiece, threads, [&](size_t piece, int) {
      for (size_t b = piece * kBlocksPerPiece; b < std::min(count, (piece + 1) * kBlocksPerPiece); ++b)
        out.get()[b] = block_digest(data.data(), data.size(), b);
    });
  }
  return to_numpy(std::move(out));
}

bool check(const BlockGuard& guard, int64_t start, int64_t end, int threads) {
  if (start < 0 || end < start || uint64_t(end) > guard.size())
    throw std::invalid_argument("BlockGuard: there are no such bytes");
  if (start == end) return true;
  size_t first = size_t(start) / kBlockBytes, last = size_t(end - 1) / kBlockBytes + 1;
  std::atomic<bool> fine{true};
  nb::gil_scoped_release release;
  for_each_piece((last - first + kBlocksPerPiece - 1) / kBlocksPerPiece, threads, [&](size_t piece, int) {
    size_t from = first + piece * kBlocksPerPiece;
    for (size_t b = from; b < std::min(last, from + kBlocksPerPiece) && fine; ++b)
      if (!guard.fits(b)) fine = false;
  });
  return fine;
}

}  // namespace

void bind_digests(nb::module_& m) {
  using namespace nb::literals;
  m.def("block_digests", &block_digests, "data"_a, "threads"_a);
  nb::class_<BlockGuard>(m, "BlockGuard")
      .def(nb::init<In<uint8_t>, In<uint64_t>>(), "data"_a, "digests"_a)
      .def("check", &check, "start"_a, "end"_a, "threads"_a);
}

}  // namespace linnaeus
