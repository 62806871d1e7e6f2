// Messages ↔ bytes. Pure. A frame is a 4-byte big-endian length and that many bytes of a protobuf
// Envelope (peers.proto). Every bound is checked in both directions, so that what we send is never
// what a peer would close the session for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/peers/message.h"

namespace rdmapulse::peers {

inline constexpr std::size_t kFrameHeaderBytes = 4;
// Ten times a hello with kPortsMax ports.
inline constexpr std::uint32_t kEnvelopeBytesMax = 64U << 10;

// The whole frame, ready to send. Texts are cut to kTextMax and made printable ASCII; anything else
// out of range is an error that names the field.
Result<std::string> EncodeFrame(const Message& message);

// One envelope, without its length. The error says which field was wrong and how.
Result<Message> DecodeEnvelope(std::span<const std::uint8_t> bytes);

// Host and device names: 1 to kNameMax letters, digits and "_-.:@+".
bool LegalName(std::string_view name);
bool LegalPort(const probes::PeerPort& port);

// Cuts a stream of bytes into envelopes. Grows only to the frame that is announced, so a length of
// 4 GB costs nothing but the session.
class FrameReader {
 public:
  // Where the next bytes go: never empty. Valid until the next call of anything but Commit.
  std::span<std::uint8_t> Space();
  // `count` bytes were written to Space().
  void Commit(std::size_t count);
  // The next complete envelope, nullopt when more bytes are needed; valid until Space(). An error
  // is final: the stream makes no more sense.
  Result<std::optional<std::span<const std::uint8_t>>> Next();

 private:
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0;  // of what is not consumed yet
  std::size_t end_ = 0;
};

}  // namespace rdmapulse::peers
