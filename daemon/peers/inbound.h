// What the listener tells, without the sockets.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/peers/message.h"

namespace rdmapulse::peers {

class Session;

// What became of inbound connections since the start.
struct InboundCounts {
  std::uint64_t accepted = 0;  // all of them
  std::uint64_t unknown = 0;   // closed unread: the source address is no peer's
  std::uint64_t full = 0;      // closed unread: too many had not said hello
  std::uint64_t refused = 0;   // their hello was missing, broken, or of nobody that we know

  bool operator==(const InboundCounts&) const = default;
};

class ListenerUser {
 public:
  virtual ~ListenerUser() = default;
  // A hello of the configured peer `name` came on `session`.
  virtual void OnPeerHello(const std::string& name, Session& session, const Hello& hello) = 0;
  // A connection from `name`'s address, if only one peer has it, ended before that.
  virtual void OnInboundFailed(const std::string& name, const std::string& why) = 0;
};

}  // namespace rdmapulse::peers
