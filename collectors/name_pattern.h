// The names of counters as the catalogue writes them: literal text, and placeholders for what
// varies. Pure. No regular expressions: a name is walked once, whatever somebody wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace rdmapulse::collectors {

// Ethtool's names have 31 characters, sysfs' have up to 255; ours are far from that.
inline constexpr std::size_t kPatternMax = 128;

// "rx_prio{prio}_pause": {prio} is a digit from 0 to 7. {tc}, {cos} and {lane} are numbers that
// tell values apart; {n} is a number that does not. {any} is at least one character, whatever they
// are, and the last placeholder. At most one of the first four, no two next to each other.
class NamePattern {
 public:
  enum class Kind : std::uint8_t { kPriority, kTrafficClass, kCos, kLane, kNumber, kAny };

  struct Match {
    std::optional<Kind> kind{};  // kPriority to kLane, if the pattern has one of them
    std::uint32_t number = 0;    // what stood there

    bool operator==(const Match&) const = default;
  };

  // The error says what is wrong with the text, for the one who wrote it.
  static Result<NamePattern> Parse(std::string_view text);

  std::optional<Match> Matches(std::string_view name) const;
  bool IsExact() const { return pieces_.size() == 1 && !pieces_.front().kind; }
  const std::string& Text() const { return text_; }

 private:
  struct Piece {
    std::string literal;       // before the placeholder
    std::optional<Kind> kind;  // nullopt: the end
  };

  Result<void> AddPlaceholder(std::string_view word, std::string literal);

  std::string text_;
  std::vector<Piece> pieces_;
};

// "priority", "tc", "cos", "lane"; empty for the others.
std::string_view LabelOf(NamePattern::Kind kind);

}  // namespace rdmapulse::collectors
