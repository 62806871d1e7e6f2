#include "tests/lab/guest/framing.h"

namespace rdmapulse::lab {
namespace {
constexpr std::size_t kHeaderBytes = 5;
}

std::string Encode(char type, std::string_view body) {
  std::string bytes(1, type);
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>((body.size() >> shift) & 0xff));
  }
  bytes.append(body);
  return bytes;
}

std::optional<Message> MessageReader::Next() {
  if (broken_ || buffer_.size() < kHeaderBytes) return std::nullopt;
  std::uint32_t size = 0;
  for (std::size_t i = 1; i < kHeaderBytes; ++i) {
    size = (size << 8) | static_cast<std::uint8_t>(buffer_[i]);
  }
  if (size > kBodyBytesMax) {
    broken_ = true;
    return std::nullopt;
  }
  if (buffer_.size() < kHeaderBytes + size) return std::nullopt;
  Message message{buffer_[0], buffer_.substr(kHeaderBytes, size)};
  buffer_.erase(0, kHeaderBytes + size);
  return message;
}

}  // namespace rdmapulse::lab
