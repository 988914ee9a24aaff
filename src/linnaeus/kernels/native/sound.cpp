// Problem: whether the tables of a vocabulary that came from a file can be followed without stepping outside.
//
// Given token bytes and offsets, a probe table over the tokens, their columns, a probe table of longer terms, and the
// width; returned, whether all of it fits: every token stands once in its table, with its length; every longer term
// has a node of its own behind those of the tokens, begins with a node before it, ends with a token, and parents
// ascend; every column below the width is given once; no search in either table walks over more than kLongestRun slots
// (tables of ours are at most 4/5 full, and the longest run of millions of random places is some 600); no term has
// `longest` tokens or more. One pass over each table: a file of a million terms is looked at in milliseconds.
#include <algorithm>
#include <bit>
#include <vector>

#include "lookup.hpp"
#include "targets.hpp"

namespace linnaeus {
namespace {

using Numbers = std::vector<uint32_t, LargeAllocator<uint32_t>>;

// Numbers below `size`, each of which may be marked once.
class Marks {
 public:
  explicit Marks(size_t size) : size_(size), bits_(size / 32 + 1) {}
  bool mark(size_t i) {
    if (i >= size_) return false;
    uint32_t bit = 1u << (i % 32), &word = bits_[i / 32];
    bool fresh = !(word & bit);
    word |= bit;
    count_ += fresh;
    return fresh;
  }
  bool all() const { return count_ == size_; }

 private:
  size_t size_, count_ = 0;
  Numbers bits_;
};

constexpr size_t kLongestRun = 2048;

// Whether an empty slot ends every search soon; the table is a ring.
template <class Used>
bool short_runs(size_t size, Used&& used) {
  size_t run = 0, most = 0, first = size;
  for (size_t i = 0; i < size; ++i) {
    run = used(i) ? run + 1 : 0;
    if (!run && first == size) first = i;
    most = std::max(most, run);
  }
  return first < size && std::max(most, run + first) <= kLongestRun;
}

bool sound_offsets(const In<int64_t>& offsets, size_t count, size_t bytes) {
  const int64_t* at = offsets.data();
  if (offsets.size() != count + 1 || at[0] != 0 || at[count] != int64_t(bytes)) return false;
  bool ascend = true;
  for (size_t i = 0; i < count; ++i) ascend &= at[i] < at[i + 1];
  return ascend;
}

bool sound_tokens(const TokenSlot* slots, size_t size, const int64_t* at, size_t count) {
  if (count >= size || !short_runs(size, [&](size_t i) { return slots[i].tag != 0; })) return false;
  Marks seen(count);
  for (size_t i = 0; i < size; ++i) {
    if (slots[i].tag == 0) continue;
    size_t id = slots[i].id;
    if (!seen.mark(id)) return false;
    uint64_t length = uint64_t(at[id + 1] - at[id]);
    if (slots[i].tag != (length <= 8 ? length : length | 0x80000000u)) return false;
  }
  return seen.all();
}

// Parents ascend and come before their children; n-grams of 2, 3 ... then stand one order after the other.
bool sound_parents(const uint32_t* parents, size_t n, size_t count, int longest) {
  uint64_t before = 0, next = count;
  int orders = n > 0;
  for (size_t i = 0; i < n; ++i) {
    uint64_t parent = parents[i] - 1;  // 0 was kept for those without
    if (parents[i] == 0 || parent < before || parent >= count + i) return false;
    if (parent >= next) ++orders, next = count + i;
    before = parent;
  }
  return orders < longest;
}

bool sound_pairs(const PairSlot* slots, size_t size, size_t count, Marks& columns, int longest) {
  constexpr size_t ahead = 16;
  if (!short_runs(size, [&](size_t i) { return slots[i].key != NO_PAIR; })) return false;
  Numbers parents(size);
  size_t used = 0, last = 0;
  for (size_t i = 0; i < size; ++i) {
    const PairSlot& s = slots[i];
    if (i + ahead < size) prefetch(parents.data(), sizeof(uint32_t) * (size_t(slots[i + ahead].node) - count));
    if (s.key == NO_PAIR) continue;
    size_t node = size_t(s.node) - count;
    uint64_t parent = s.key >> 32;
    if (node >= size || parents[node] || parent >= uint64_t(INT32_MAX) || (s.key & 0xFFFFFFFFu) >= count) return false;
    if (s.column >= 0 && !columns.mark(size_t(s.column))) return false;
    parents[node] = uint32_t(parent) + 1;
    last = std::max(last, node + 1);
    ++used;
  }
  return used < size && last == used && sound_parents(parents.data(), used, count, longest);
}

bool is_sound(const VocabularyArrays& arrays, int64_t width, int longest) {
  const auto& [bytes, offsets, token_slots, columns, pair_slots] = arrays;
  auto table = [](const In<uint64_t>& slots) { return slots.size() % 2 == 0 && std::has_single_bit(slots.size() / 2); };
  size_t count = columns.size();
  if (width < 0 || width > INT32_MAX || count > INT32_MAX || !table(token_slots) || !table(pair_slots)) return false;
  nb::gil_scoped_release release;
  if (!sound_offsets(offsets, count, bytes.size())) return false;
  if (!sound_tokens(reinterpret_cast<const TokenSlot*>(token_slots.data()), token_slots.size() / 2, offsets.data(),
                    count))
    return false;
  if (size_t(width) > count + pair_slots.size() / 2) return false;
  Marks given{size_t(width)};
  for (size_t i = 0; i < count; ++i)
    if (columns.data()[i] >= 0 && !given.mark(size_t(columns.data()[i]))) return false;
  auto* pairs = reinterpret_cast<const PairSlot*>(pair_slots.data());
  return sound_pairs(pairs, pair_slots.size() / 2, count, given, longest) && given.all();
}

}  // namespace

void bind_sound(nb::module_& m) {
  using namespace nb::literals;
  m.def("is_sound", &is_sound, "vocabulary"_a, "width"_a, "longest"_a);
}

}  // namespace linnaeus
