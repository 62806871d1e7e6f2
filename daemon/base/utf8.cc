#include "daemon/base/utf8.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rdmapulse {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::uint8_t Byte(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<std::uint8_t>(text[at]) : 0;
}

bool InRange(std::uint8_t byte, std::uint8_t low, std::uint8_t high) {
  return byte >= low && byte <= high;
}

// Length of the well-formed UTF-8 sequence at `at` (Unicode, table 3-7); 0: there is none.
std::size_t SequenceLength(std::string_view text, std::size_t at) {
  const std::uint8_t first = Byte(text, at);
  if (first < 0x80) return 1;
  // The second byte's range keeps out overlong forms, surrogates and what is past U+10FFFF.
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
  std::size_t length = 0;
  if (InRange(first, 0xC2, 0xDF)) {
    length = 2;
  } else if (InRange(first, 0xE0, 0xEF)) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (InRange(first, 0xF0, 0xF4)) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (!InRange(Byte(text, at + 1), low, high)) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!InRange(Byte(text, at + i), 0x80, 0xBF)) return 0;
  }
  return length;
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<std::uint8_t>(c) < 0x80; });
}

}  // namespace

std::string CleanUtf8(std::string_view text) {
  if (IsAscii(text)) return std::string(text);
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = SequenceLength(text, at);
    clean += length == 0 ? kReplacement : text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return clean;
}

}  // namespace rdmapulse
