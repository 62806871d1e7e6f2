#include "collectors/recorded/tool_text.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "collectors/kernel_files.h"
#include "collectors/value_kind.h"

namespace rdmapulse::collectors::recorded {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Fit for a label, and as long as it is: a counter's name must stay itself.
std::string Spelling(std::string_view name) {
  std::string spelling(name);
  for (char& c : spelling) {
    if (c < ' ' || c > '~') c = '?';
  }
  return spelling;
}

}  // namespace

Lines::Lines(std::string_view text) : rest_(text) {
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

std::optional<Line> Lines::Next() {
  if (rest_.empty()) return std::nullopt;
  const std::size_t end = rest_.find('\n');
  Line line{.text = rest_.substr(0, end), .whole = end != std::string_view::npos};
  rest_.remove_prefix(line.whole ? end + 1 : rest_.size());
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  return line;
}

bool IsBinary(std::string_view text) { return text.find('\0') != std::string_view::npos; }

bool IsJson(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  text = Trim(text);
  return text.starts_with('{') || text.starts_with('[');
}

Result<std::uint64_t> ParseNumber(std::string_view text) {
  std::string_view digits = Trim(text);
  const std::string shown = Printable(digits);
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  }
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  std::uint64_t value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value, base);
  if (error == std::errc::invalid_argument || end != last)
    return Fail({"not a number: '", shown, "'"});
  if (negative) return Fail({"negative: '", shown, "'"});
  if (error != std::errc()) return Fail({"more than 64 bits: '", shown, "'"});
  return value;
}

std::optional<std::uint32_t> NumberUpTo(std::string_view text, std::uint32_t limit) {
  const auto number = ParseNumber(text);
  if (!number || *number > limit) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

void NamedValues::Add(std::string_view name, std::string_view number) {
  const Result<std::uint64_t> value = ParseNumber(number);
  if (!value && names_.contains(Spelling(name))) return;
  if (!value) return Complain(name, value.error().doing);
  Add(name, *value);
}

void NamedValues::Add(std::string_view name, std::uint64_t value) {
  if (name.empty() || name.size() > kMaxNameLength)
    return Complain(name, name.empty() ? "a value without a name" : "the name is too long");
  std::string spelling = Spelling(name);
  if (names_.contains(spelling)) return;
  if (values_.size() == kMaxValues) return Complain(name, "more values than any driver has");
  names_.insert(spelling);
  const ValueKind kind = KindOf(source_, spelling);
  values_.push_back({std::move(spelling), value, kind});
}

void NamedValues::Complain(std::string_view name, std::string reason) {
  if (problems_.size() < kMaxProblems) problems_.push_back({Printable(name), std::move(reason)});
}

}  // namespace rdmapulse::collectors::recorded
