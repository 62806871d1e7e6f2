// How messages quote what somebody wrote, and what they may have meant. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdmapulse::config {

// `text` as a message shows it: control bytes escaped, at most 60 bytes, cut between characters.
std::string Shown(std::string_view text);

// Shown, in double quotes.
std::string Quoted(std::string_view text);

// The candidate that `word` most likely stands for: the fewest changed, missing, added or swapped
// characters, case aside; the first of equals. Empty: none is near enough to be a slip of the hand.
std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates);

// "write0, write, read".
std::string Join(std::span<const std::string_view> words);

bool IsUtf8(std::string_view text);

// The bytes of the UTF-8 character at `at` (RFC 3629: no surrogates, nothing overlong); 0: the
// bytes there are none.
std::size_t Utf8Length(std::string_view text, std::size_t at);

}  // namespace rdmapulse::config
