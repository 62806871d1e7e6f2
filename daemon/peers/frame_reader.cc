#include <algorithm>
#include <cstring>

#include "daemon/peers/wire.h"

namespace rdmapulse::peers {
namespace {

// Holds a few pings or a connect; a hello with many ports grows it once.
constexpr std::size_t kBufferBytes = 512;
// How a TLS record begins (RFC 8446 5.1): its type, and the major version 3.
constexpr std::uint32_t kTlsHandshake = 0x1603;
constexpr std::uint32_t kTlsAlert = 0x1503;

std::uint32_t ReadLength(const std::uint8_t* bytes) {
  return (std::uint32_t{bytes[0]} << 24) | (std::uint32_t{bytes[1]} << 16) |
         (std::uint32_t{bytes[2]} << 8) | std::uint32_t{bytes[3]};
}

}  // namespace

std::span<std::uint8_t> FrameReader::Space() {
  if (begin_ > 0) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  std::size_t wanted = kBufferBytes;
  if (end_ >= kFrameHeaderBytes) {
    // Next() has checked it.
    const std::size_t length = std::min(ReadLength(buffer_.data()), kEnvelopeBytesMax);
    wanted = std::max(wanted, kFrameHeaderBytes + length);
  }
  if (end_ == 0 && buffer_.size() > kBufferBytes) buffer_ = {};  // a large frame is rare
  if (buffer_.size() < wanted || end_ == buffer_.size()) buffer_.resize(std::max(wanted, end_ + 1));
  return std::span(buffer_).subspan(end_);
}

void FrameReader::Commit(std::size_t count) { end_ += std::min(count, buffer_.size() - end_); }

Result<std::optional<std::span<const std::uint8_t>>> FrameReader::Next() {
  if (end_ - begin_ < kFrameHeaderBytes) return std::nullopt;
  const std::uint32_t length = ReadLength(buffer_.data() + begin_);
  if (length == 0) return Fail({"a frame of 0 bytes"});
  if (length >> 16 == kTlsHandshake || length >> 16 == kTlsAlert) {
    return Fail({"a TLS record, and we speak none; set control.tls at both ends or at none"});
  }
  if (length > kEnvelopeBytesMax) {
    return Fail({"a frame of ", std::to_string(length), " bytes, more than the ",
                 std::to_string(kEnvelopeBytesMax), " that are allowed"});
  }
  if (end_ - begin_ - kFrameHeaderBytes < length) return std::nullopt;
  const auto envelope =
      std::span<const std::uint8_t>(buffer_).subspan(begin_ + kFrameHeaderBytes, length);
  begin_ += kFrameHeaderBytes + length;
  return std::optional(envelope);
}

}  // namespace rdmapulse::peers
