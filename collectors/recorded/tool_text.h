// What the outputs of ethtool, dcb, mlnx_qos and rdma have in common: lines, numbers, and values
// that are listed under a name once. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectors/reading.h"
#include "collectors/words.h"
#include "daemon/base/result.h"

namespace rdmapulse::collectors::recorded {

// A tool's output is lines of a few words; past so many that could not be understood the file is of
// another kind, and one more sentence about it helps nobody.
constexpr std::size_t kMaxProblems = 20;
// A list longer than the kernel's own limit (see ethtool_stats.h) is not one of statistics.
constexpr std::size_t kMaxValues = 32768;
// The kernel's names have at most 31 characters, the standard groups' some more.
constexpr std::size_t kMaxNameLength = 128;

struct Line {
  std::string_view text{};  // without its end, be it LF or CRLF
  bool whole = true;        // false: the file ends within it, so that its last word may be cut
};

// The lines of a text, without a byte order mark.
class Lines {
 public:
  explicit Lines(std::string_view text);

  std::optional<Line> Next();

 private:
  std::string_view rest_;
};

// Not the output of any tool: it holds a NUL.
bool IsBinary(std::string_view text);
// The first character that is no blank opens an object or an array.
bool IsJson(std::string_view text);

// 64 bits, exactly: decimal, or hexadecimal with 0x. The error says what is wrong with it: "not a
// number: 'abc'", "negative: '-1'", "more than 64 bits: '…'".
Result<std::uint64_t> ParseNumber(std::string_view text);

// For settings; nullopt: not a number, or more than `limit`, which fits 32 bits.
std::optional<std::uint32_t> NumberUpTo(std::string_view text, std::uint32_t limit);

// Values under their names, in the order of the file. The first of two equal names counts, as when
// the kernel is asked: drivers list some once for each queue.
class NamedValues {
 public:
  explicit NamedValues(Source source) : source_(source) {}

  // `number` as it stands in the file.
  void Add(std::string_view name, std::string_view number);
  void Add(std::string_view name, std::uint64_t value);
  // Keeps the first kMaxProblems.
  void Complain(std::string_view name, std::string reason);

  bool Empty() const { return values_.empty(); }
  bool HasProblems() const { return !problems_.empty(); }
  std::vector<Value> TakeValues() { return std::move(values_); }
  std::vector<Problem> TakeProblems() { return std::move(problems_); }

 private:
  Source source_;
  std::vector<Value> values_;
  std::vector<Problem> problems_;
  std::set<std::string> names_;
};

}  // namespace rdmapulse::collectors::recorded
