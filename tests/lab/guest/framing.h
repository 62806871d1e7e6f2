// Messages between the lab outside and its agent in a guest: a type, a length, bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rdmapulse::lab {

// From the lab: the command first, then its standard input; an empty kInput ends it.
constexpr char kCommand = 'C';  // arguments, each followed by a NUL
constexpr char kInput = 'I';
// To the lab.
constexpr char kOutput = 'O';
constexpr char kErrorOutput = 'E';
constexpr char kExit = 'X';  // the exit code in decimal; 128 + number for a signal

struct Message {
  char type = 0;
  std::string body;
};

std::string Encode(char type, std::string_view body);

// Collects bytes as they come and hands out whole messages.
class MessageReader {
 public:
  static constexpr std::uint32_t kBodyBytesMax = 1u << 20;

  void Append(std::string_view bytes) { buffer_.append(bytes); }
  // Nothing yet, or Broken().
  std::optional<Message> Next();
  bool Broken() const { return broken_; }  // a length no lab sends: hang up

 private:
  std::string buffer_;
  bool broken_ = false;
};

}  // namespace rdmapulse::lab
