#include "config/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "config/units.h"
#include "config/wording.h"

namespace rdmapulse::config {
namespace {

// Longer lists come from a program gone wrong; 4096 peers are a large fabric for one daemon.
constexpr std::size_t kItemsMax = 4096;
// No option needs more: a path has 4096 bytes at most.
constexpr std::size_t kTextMax = 4096;

constexpr std::string_view Name(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::kNull: return "nothing";
    case Node::Kind::kScalar: return "a single value";
    case Node::Kind::kSequence: return "a list";
    case Node::Kind::kMapping: return "a mapping";
  }
  return "unknown";
}

// The text of a single value; nullopt, and reported, for anything else.
std::optional<std::string_view> ScalarText(const Value& value, std::string_view wanted) {
  if (value.node.kind == Node::Kind::kNull) {
    value.Error("has no value; write " + std::string(wanted) + " or delete the line");
    return std::nullopt;
  }
  if (value.node.kind != Node::Kind::kScalar) {
    value.Error("is " + std::string(Name(value.node.kind)) + "; write " + std::string(wanted));
    return std::nullopt;
  }
  return value.node.text;
}

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Control characters get in by escapes ("\0") even though the file has none.
bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace

std::optional<std::uint32_t> ReadNumber(const Value& value, const Bounds& bounds) {
  const std::string range =
      "use " + std::to_string(bounds.min) + " to " + std::to_string(bounds.max);
  const auto text = ScalarText(value, "a whole number");
  if (!text) return std::nullopt;
  if (!value.node.plain && AllDigits(*text)) {
    value.Error(Quoted(*text) + " is text because of its quotes; write the number without them");
    return std::nullopt;
  }
  const std::string_view digits = text->substr(text->starts_with('-') ? 1 : 0);
  if (!AllDigits(digits)) {
    value.Error(Quoted(*text) + " is not a whole number; " + range);
    return std::nullopt;
  }
  if (digits.size() > 1 && digits.starts_with('0')) {
    value.Error(Shown(*text) + " begins with a zero, which some read as octal; write it without");
    return std::nullopt;
  }
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || number < bounds.min || number > bounds.max) {
    value.Error(Shown(*text) + " is not " + std::string(bounds.noun) + "; " + range);
    return std::nullopt;
  }
  return number;
}

void Read(const Value& value, const NumberBounds& bounds, double& out) {
  const auto text = ScalarText(value, "a number");
  if (!text) return;
  double number = 0;
  const char* const end = text->data() + text->size();
  const auto parsed = std::from_chars(text->data(), end, number);
  const bool is_number = value.node.plain && parsed.ec == std::errc() && parsed.ptr == end;
  // NaN is neither below nor above.
  if (is_number && number >= bounds.min && number <= bounds.max) {
    out = number;
    return;
  }
  value.Error(Shown(*text) + " is not " + std::string(bounds.noun));
}

void Read(const Value& value, bool& out) {
  const auto text = ScalarText(value, "true or false");
  if (!text) return;
  if (value.node.plain && (*text == "true" || *text == "false")) {
    out = *text == "true";
  } else {
    value.Error(Quoted(*text) + " is not a truth value; write true or false, without quotes");
  }
}

void Read(const Value& value, std::string& out) {
  const auto text = ScalarText(value, "a text");
  if (!text) return;
  if (text->size() > kTextMax) {
    value.Error("has " + std::to_string(text->size()) + " bytes; use at most " +
                std::to_string(kTextMax));
  } else if (HasControl(*text) || !IsUtf8(*text)) {
    value.Error(Quoted(*text) + " holds control characters; delete them");
  } else {
    out = *text;
  }
}

void Read(const Value& value, const DurationBounds& bounds, std::chrono::milliseconds& out) {
  const auto text = ScalarText(value, "a duration such as 1s");
  if (!text) return;
  const Result<std::chrono::milliseconds> duration = ParseDuration(*text);
  if (!duration) return value.Error(duration.error().Text());
  if (*duration < bounds.min || *duration > bounds.max) {
    return value.Error(Shown(*text) + " is out of range; use " + DurationText(bounds.min) + " to " +
                       DurationText(bounds.max));
  }
  out = *duration;
}

void ReadBytes(const Value& value, std::uint64_t& out) {
  const auto text = ScalarText(value, "a size such as 256MiB");
  if (!text) return;
  const Result<std::uint64_t> bytes = ParseBytes(*text);
  if (!bytes) return value.Error(bytes.error().Text());
  out = *bytes;
}

void ReadChoice(const Value& value, std::span<const std::string_view> choices, std::string& out) {
  const auto text = ScalarText(value, "one of " + Join(choices));
  if (!text) return;
  if (std::find(choices.begin(), choices.end(), *text) == choices.end()) {
    const std::string_view nearest = Nearest(*text, choices);
    return value.Error(Quoted(*text) + " is not known here; " +
                       (nearest.empty() ? "use one of " + Join(choices)
                                        : "did you mean " + std::string(nearest) + "?"));
  }
  out = *text;
}

void Read(const Value& value, std::vector<std::string>& out) {
  std::vector<std::string> items;
  bool all_good = true;
  const bool is_list = ForEachItem(value, "[a, b]", [&items, &all_good](const Value& item) {
    std::string text;
    Read(item, text);
    all_good = all_good && !item.report.Failed(item.key);
    items.push_back(std::move(text));
  });
  if (is_list && all_good && value.node.kind != Node::Kind::kNull) out = std::move(items);
}

void Read(const Value& value, Labels& out) {
  ForEachEntry(value, "{tor: t7, pod: p1}", [&out](const std::string& name, const Value& entry) {
    std::string text;
    Read(entry, text);
    if (!entry.report.Failed(entry.key)) out.insert_or_assign(name, std::move(text));
  });
}

bool ForEachEntry(const Value& value, std::string_view example,
                  const std::function<void(const std::string& name, const Value& entry)>& visit) {
  if (value.node.kind == Node::Kind::kNull) return true;
  if (value.node.kind != Node::Kind::kMapping) {
    value.Error("is " + std::string(Name(value.node.kind)) + "; write a mapping such as " +
                std::string(example));
    return false;
  }
  std::unordered_map<std::string_view, int> lines;
  for (const Child& child : value.node.children) {
    const std::string key = Under(value.key, child.key);
    const auto [first, is_new] = lines.emplace(child.key, child.position.line);
    if (!is_new) {
      value.report.ErrorAt(child.position, key,
                           "is set a second time; the first is in line " +
                               std::to_string(first->second) + ": keep one of them");
    } else if (child.key == "<<") {
      value.report.ErrorAt(child.position, key,
                           "merge keys are not part of this file's YAML; write the keys out");
    } else {
      value.report.Locate(key, child.position);
      visit(child.key, Value{*child.node, key, value.report});
    }
  }
  return true;
}

bool ForEachItem(const Value& value, std::string_view example,
                 const std::function<void(const Value& item)>& visit) {
  if (value.node.kind == Node::Kind::kNull) return true;
  if (value.node.kind != Node::Kind::kSequence) {
    value.Error("is " + std::string(Name(value.node.kind)) + "; write a list such as " +
                std::string(example));
    return false;
  }
  const std::vector<Child>& items = value.node.children;
  if (items.size() > kItemsMax) {
    value.Error("has " + std::to_string(items.size()) + " entries; use at most " +
                std::to_string(kItemsMax));
    return false;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string key = value.key + "[" + std::to_string(i) + "]";
    value.report.Locate(key, items[i].position);
    visit(Value{*items[i].node, key, value.report});
  }
  return true;
}

}  // namespace rdmapulse::config
