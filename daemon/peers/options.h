// What a control plane is told at its start. The defaults are the product's; tests shorten timers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "daemon/base/time.h"
#include "daemon/peers/liveness.h"
#include "daemon/peers/tls.h"

namespace rdmapulse::peers {

struct Timers {
  Duration ping_interval = std::chrono::milliseconds(500);  // design.md 5.4
  Duration up_within = std::chrono::seconds(2);  // design.md 5.4: an answer in the last 2 s
  Liveness::Limits liveness;
  Duration hello_timeout = std::chrono::seconds(3);
  Duration connect_timeout = std::chrono::seconds(3);  // two retransmitted SYNs
  Duration request_timeout = std::chrono::seconds(5);
  Duration drain = std::chrono::seconds(1);  // for a last word to reach the peer
  Duration first_dial = std::chrono::seconds(1);
  Duration longest_dial = std::chrono::seconds(30);
  Duration quiet = std::chrono::minutes(1);  // between two log lines of one kind about one subject
};

struct Limits {
  // A burst holds a connect, its ready and a lost for 128 paths; nobody sustains 200 a second.
  double messages_per_second = 200;
  double message_burst = 500;
  // Unsent bytes of a session, beyond what the socket takes: some 1,000 messages.
  std::size_t outbox_bytes = 128U << 10;
  std::size_t sessions_per_peer = 4;
  std::size_t waiting = 64;  // inbound connections that have not said who they are
  // A handshake costs a millisecond of the loop, and under TLS anybody may begin one: those from
  // addresses that no peer has are fewer, at once and a second.
  std::size_t waiting_strangers = 16;
  double strangers_per_second = 10;
  double stranger_burst = 64;
  double handshakes_per_second = 100;
  double handshake_burst = 512;
  std::size_t addresses_per_peer = 8;
};

struct Options {
  std::string listen = ":9937";  // "host:port", "[v6]:port", ":port"; empty: only dial
  std::string host;              // our name: 1 to 64 letters, digits and "_-.:@+"
  std::string agent_version;
  std::uint64_t epoch = 0;         // µs since 1970 at our start; not 0
  std::uint64_t instance = 0;      // random, one a process: RandomInstance()
  std::function<double()> random;  // in [0, 1): for the jitter of dialling
  std::optional<TlsFiles> tls;     // none: in clear, and a peer is who has its address
  Timers timers;
  Limits limits;
};

}  // namespace rdmapulse::peers
