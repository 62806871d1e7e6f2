#include "config/patterns.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <regex>
#include <string>
#include <system_error>
#include <utility>

#include "config/wording.h"

namespace rdmapulse::config {
namespace {

// The library recurses over groups when it compiles and over states when it matches; device and
// counter names have 64 bytes at most.
constexpr std::size_t kPatternMax = 256;
constexpr std::size_t kTextMax = 256;
// "a{9}" is compiled as nine copies. 256 bytes copied 50 times still match within 2 MiB of stack.
constexpr std::uint64_t kCopiesMax = 50;
// An extension of the library: matching tries all ways at once, so that no pattern takes longer
// than its length times the text's, where "(a+)+b" would else take for ever. It has no
// back-references.
constexpr auto kSyntax = std::regex::ECMAScript | std::regex_constants::__polynomial;

// How often the innermost part of `pattern` is copied: the product of its repeat counts.
std::uint64_t Copies(std::string_view pattern) {
  std::uint64_t copies = 1;
  for (std::size_t at = pattern.find('{'); at != pattern.npos; at = pattern.find('{', at + 1)) {
    const std::string_view braces = pattern.substr(at + 1, pattern.find('}', at) - at - 1);
    std::uint64_t most = 1;
    for (std::size_t begin = 0; begin <= braces.size();) {
      const std::size_t comma = std::min(braces.find(',', begin), braces.size());
      std::uint64_t count = 0;
      const auto parsed = std::from_chars(braces.data() + begin, braces.data() + comma, count);
      if (parsed.ec == std::errc::result_out_of_range) count = kCopiesMax + 1;
      most = std::max(most, std::min(count, kCopiesMax + 1));
      begin = comma + 1;
    }
    copies = std::min(copies * most, kCopiesMax + 1);
  }
  return copies;
}

std::string_view Why(std::regex_constants::error_type code) {
  namespace codes = std::regex_constants;
  // The library says the same of both.
  if (code == codes::error_paren || code == codes::error_badrepeat) {
    return "its parentheses do not pair, or a *, +, ? or { has nothing before it to repeat";
  }
  if (code == codes::error_brack) return "its square brackets do not pair";
  if (code == codes::error_brace || code == codes::error_badbrace) {
    return "its braces hold no valid count";
  }
  if (code == codes::error_escape) return "a backslash has nothing behind it to escape";
  if (code == codes::error_range) return "a range in square brackets runs backwards";
  if (code == codes::error_ctype) return "it names no class of characters";
  if (code == codes::error_complexity || code == codes::error_backref)
    return "back-references are not supported";
  if (code == codes::error_space || code == codes::error_stack) return "it is too large";
  return "it is not valid";
}

}  // namespace

struct Patterns::Compiled {
  std::vector<std::regex> regexes;
};

Patterns::Patterns() = default;
Patterns::Patterns(Patterns&&) noexcept = default;
Patterns& Patterns::operator=(Patterns&&) noexcept = default;
Patterns::~Patterns() = default;

Result<Patterns> Patterns::Compile(const std::vector<std::string>& patterns) {
  Patterns made;
  made.compiled_ = std::make_unique<Compiled>();
  for (const std::string& pattern : patterns) {
    if (pattern.size() > kPatternMax) {
      return Fail({"the pattern ", Quoted(pattern), " has more than 256 bytes"},
                  "split it into several entries of the list");
    }
    if (Copies(pattern) > kCopiesMax) {
      return Fail({"the repeat counts of the pattern ", Quoted(pattern), " multiply to more than ",
                   std::to_string(kCopiesMax)},
                  "use * or + instead of counts");
    }
    try {
      made.compiled_->regexes.emplace_back(pattern, kSyntax);
    } catch (const std::regex_error& error) {
      return Fail({Quoted(pattern), " is not a regular expression: ", Why(error.code())},
                  pattern.starts_with('*') ? "write .* where a shell would take *" : "");
    }
  }
  return made;
}

bool Patterns::MatchesAny(std::string_view text) const {
  if (compiled_ == nullptr || text.size() > kTextMax) return false;
  const auto matches = [text](const std::regex& regex) {
    return std::regex_match(text.begin(), text.end(), regex);
  };
  return std::any_of(compiled_->regexes.begin(), compiled_->regexes.end(), matches);
}

}  // namespace rdmapulse::config
