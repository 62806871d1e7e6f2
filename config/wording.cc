#include "config/wording.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace rdmapulse::config {
namespace {

constexpr std::size_t kShownMax = 60;  // a message stays one readable line
// Longer words are no slip of a key of ours, the longest of which has 25 characters.
constexpr std::size_t kWordMax = 40;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

unsigned Byte(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Optimal string alignment: Levenshtein's distance with neighbours swapped as one change.
std::size_t Distance(std::string_view a, std::string_view b) {
  using Row = std::array<std::size_t, kWordMax + 1>;
  Row two_up{};
  Row up{};
  Row row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_up = up;
    up = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) &&
                           Lower(a[i - 2]) == Lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::size_t Utf8Length(std::string_view text, std::size_t at) {
  const unsigned first = Byte(text, at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF5 ? 0 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || length == 0 || text.size() - at < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((Byte(text, at + i) & 0xC0U) != 0x80) return 0;
  }
  const unsigned second = Byte(text, at + 1);
  if (first == 0xE0 && second < 0xA0) return 0;  // overlong
  if (first == 0xED && second > 0x9F) return 0;  // surrogates
  if (first == 0xF0 && second < 0x90) return 0;  // overlong
  if (first == 0xF4 && second > 0x8F) return 0;  // past U+10FFFF
  return length;
}

bool IsUtf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = Utf8Length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string Shown(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    if (shown.size() >= kShownMax) return shown + "…";
    const unsigned byte = Byte(text, at);
    const std::size_t length = Utf8Length(text, at);
    // C1 controls (U+0080 to U+009F) steer terminals as well as C0 do.
    const bool c1 = byte == 0xC2 && length == 2 && Byte(text, at + 1) < 0xA0;
    if (length == 0 || byte < 0x20 || byte == 0x7F || c1) {
      shown += "\\x";
      shown += kHex[byte >> 4];
      shown += kHex[byte & 0xFU];
      ++at;
    } else {
      shown += text.substr(at, length);
      at += length;
    }
  }
  return shown;
}

std::string Quoted(std::string_view text) { return '"' + Shown(text) + '"'; }

std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kWordMax) return {};
  std::string_view nearest;
  std::size_t best = kWordMax + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kWordMax) continue;
    const std::size_t distance = Distance(word, candidate);
    // One slip in three characters; more is another word.
    const std::size_t allowed = std::max<std::size_t>(1, candidate.size() / 3);
    if (distance <= allowed && distance < std::min(best, candidate.size())) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string Join(std::span<const std::string_view> words) {
  std::string joined;
  for (const std::string_view word : words) {
    if (!joined.empty()) joined += ", ";
    joined += word;
  }
  return joined;
}

}  // namespace rdmapulse::config
