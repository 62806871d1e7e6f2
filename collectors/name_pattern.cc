#include "collectors/name_pattern.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace rdmapulse::collectors {
namespace {

using Kind = NamePattern::Kind;

struct Placeholder {
  std::string_view word;
  Kind kind;
};
constexpr std::array<Placeholder, 6> kPlaceholders = {{{"prio", Kind::kPriority},
                                                       {"tc", Kind::kTrafficClass},
                                                       {"cos", Kind::kCos},
                                                       {"lane", Kind::kLane},
                                                       {"n", Kind::kNumber},
                                                       {"any", Kind::kAny}}};

// No port has more queues, lanes or classes.
constexpr std::uint32_t kNumberMax = 65535;
constexpr std::uint32_t kPriorityMax = 7;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool TellsApart(Kind kind) { return kind != Kind::kNumber && kind != Kind::kAny; }

// Takes a number from the front of `text`; nullopt: there is none, or it is too large.
std::optional<std::uint32_t> TakeNumber(std::string_view& text, std::uint32_t max) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > max || !IsDigit(text.front())) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::string_view LabelOf(Kind kind) {
  switch (kind) {
    case Kind::kPriority: return "priority";
    case Kind::kTrafficClass: return "tc";
    case Kind::kCos: return "cos";
    case Kind::kLane: return "lane";
    case Kind::kNumber:
    case Kind::kAny: return {};
  }
  return {};
}

Result<void> NamePattern::AddPlaceholder(std::string_view word, std::string literal) {
  const auto known = std::find_if(kPlaceholders.begin(), kPlaceholders.end(),
                                  [word](const Placeholder& p) { return p.word == word; });
  if (known == kPlaceholders.end()) {
    return Fail({"{", word, "} is no placeholder"},
                "use {prio}, {tc}, {cos}, {lane}, {n} or {any}");
  }
  if (literal.empty() && !pieces_.empty()) {
    return Fail({"{", word, "} follows another placeholder directly"}, "put text between them");
  }
  if (!pieces_.empty() && pieces_.back().kind == Kind::kAny) {
    return Fail({"{", word, "} follows {any}"}, "{any} must be the last placeholder");
  }
  const bool second = TellsApart(known->kind) &&
                      std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& piece) {
                        return piece.kind && TellsApart(*piece.kind);
                      });
  if (second) {
    return Fail({"{", word, "} is the second placeholder that tells values apart"}, "use one");
  }
  pieces_.push_back({std::move(literal), known->kind});
  return {};
}

Result<NamePattern> NamePattern::Parse(std::string_view text) {
  if (text.empty()) return Fail({"the name is empty"});
  if (text.size() > kPatternMax) return Fail({"the name is longer than 128 bytes"});
  NamePattern pattern;
  pattern.text_ = text;
  std::string literal;
  while (!text.empty()) {
    if (text.front() != '{') {
      if (IsDigit(text.front()) && literal.empty() && !pattern.pieces_.empty()) {
        return Fail({"a digit follows a placeholder directly"}, "put other text between them");
      }
      literal += text.front();
      text.remove_prefix(1);
      continue;
    }
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos) return Fail({"a { has no }"});
    const Result<void> added = pattern.AddPlaceholder(text.substr(1, close - 1), literal);
    if (!added) return tl::unexpected(added.error());
    literal.clear();
    text.remove_prefix(close + 1);
  }
  pattern.pieces_.push_back({std::move(literal), std::nullopt});
  return pattern;
}

std::optional<NamePattern::Match> NamePattern::Matches(std::string_view name) const {
  Match match;
  for (const Piece& piece : pieces_) {
    if (!name.starts_with(piece.literal)) return std::nullopt;
    name.remove_prefix(piece.literal.size());
    if (!piece.kind) break;
    if (name.empty()) return std::nullopt;
    if (*piece.kind == Kind::kAny) {
      const std::string& end = pieces_.back().literal;
      return name.size() > end.size() && name.ends_with(end) ? std::optional(match) : std::nullopt;
    }
    const auto number =
        TakeNumber(name, *piece.kind == Kind::kPriority ? kPriorityMax : kNumberMax);
    if (!number) return std::nullopt;
    if (TellsApart(*piece.kind)) match = {piece.kind, *number};
  }
  return name.empty() ? std::optional(match) : std::nullopt;
}

}  // namespace rdmapulse::collectors
