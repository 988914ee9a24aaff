// Digests of the blocks of a model file: they find damage where a block is first used, without a look at the others.
//
// A digest is XXH64 with seed 0 (Yann Collet, xxHash, 2012): four lanes of products and rotations over 32 bytes at a
// time, as quick as memory is read. It finds damage; it proves nothing about who wrote the file.
#pragma once
#include <atomic>
#include <bit>
#include <memory>
#include <stdexcept>

#include "arrays.hpp"
#include "hash.hpp"

namespace linnaeus {

inline constexpr size_t kBlockBytes = size_t(1) << 14;

namespace xxh64 {

inline constexpr uint64_t P1 = 0x9E3779B185EBCA87ull, P2 = 0xC2B2AE3D27D4EB4Full, P3 = 0x165667B19E3779F9ull,
                          P4 = 0x85EBCA77C2B2AE63ull, P5 = 0x27D4EB2F165667C5ull;

inline uint64_t round(uint64_t lane, uint64_t word) { return std::rotl(lane + word * P2, 31) * P1; }

inline uint64_t merge(uint64_t h, uint64_t lane) { return (h ^ round(0, lane)) * P1 + P4; }

inline uint64_t digest(const uint8_t* p, size_t n) {
  const uint8_t* end = p + n;
  uint64_t h = P5;
  if (n >= 32) {
    uint64_t lanes[4] = {P1 + P2, P2, 0, 0 - P1};
    for (; end - p >= 32; p += 32)
      for (size_t i = 0; i < 4; ++i) lanes[i] = round(lanes[i], load8(p + 8 * i));
    h = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (uint64_t lane : lanes) h = merge(h, lane);
  }
  h += n;
  for (; end - p >= 8; p += 8) h = std::rotl(h ^ round(0, load8(p)), 27) * P1 + P4;
  if (end - p >= 4) {
    uint64_t word = uint64_t(p[0]) | uint64_t(p[1]) << 8 | uint64_t(p[2]) << 16 | uint64_t(p[3]) << 24;
    h = std::rotl(h ^ (word * P1), 23) * P2 + P3;
    p += 4;
  }
  for (; p < end; ++p) h = std::rotl(h ^ (*p * P5), 11) * P1;
  h = (h ^ h >> 33) * P2;
  h = (h ^ h >> 29) * P3;
  return h ^ h >> 32;
}

}  // namespace xxh64

inline size_t block_count(size_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes; }

inline uint64_t block_digest(const uint8_t* data, size_t bytes, size_t block) {
  size_t first = block * kBlockBytes;
  return xxh64::digest(data + first, std::min(kBlockBytes, bytes - first));
}

// Bytes that somebody else owns and the digests of their blocks; each block is looked at once, when it is first asked
// about. Any number of threads may ask: two that come to a block at the same time both look at it.
class BlockGuard {
 public:
  BlockGuard(In<uint8_t> data, In<uint64_t> digests)
      : data_(data), digests_(digests), seen_(new std::atomic<uint8_t>[digests.size()]()) {
    if (digests.size() != block_count(data.size()))
      throw std::invalid_argument("BlockGuard: there is not one digest for each block");
  }

  size_t size() const { return data_.size(); }
  const uint8_t* begin() const { return data_.data(); }

  bool fits(size_t block) const {
    if (seen_[block].load(std::memory_order_acquire)) return true;
    if (block_digest(data_.data(), data_.size(), block) != digests_.data()[block]) return false;
    seen_[block].store(1, std::memory_order_release);
    return true;
  }

  // The rows of a table that begins with the bytes, each of so many bytes.
  void check_rows(const int32_t* rows, size_t count, size_t bytes) const {
    for (size_t i = 0; i < count && bytes; ++i) {
      size_t first = size_t(rows[i]) * bytes;
      for (size_t b = first / kBlockBytes, last = (first + bytes - 1) / kBlockBytes; b <= last; ++b)
        if (!fits(b)) [[unlikely]]
          throw std::runtime_error("BlockGuard: a block is not that of its digest");
    }
  }

 private:
  In<uint8_t> data_;
  In<uint64_t> digests_;
  std::unique_ptr<std::atomic<uint8_t>[]> seen_;
};

}  // namespace linnaeus
