// The daemon's HTTP: /metrics, health and the API from the last snapshot, and commands on the Unix
// socket. Runs on a thread of its own; a scrape touches nothing but SnapshotStore, which asks
// the loop for at most four copies a second, so it can delay neither a probe nor a kernel read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "daemon/base/background.h"
#include "daemon/base/result.h"
#include "daemon/http/access.h"
#include "daemon/http/commands.h"
#include "daemon/http/traces.h"
#include "daemon/snapshot_store.h"

namespace rdmapulse::http {

// What a client can cost at most.
struct ServerLimits {
  std::size_t tcp_connections = 256;  // a connection past this gets 503 and is closed
  std::size_t unix_connections = 32;
  std::uint32_t header_bytes = 8 << 10;      // 431 past this
  std::uint64_t body_bytes = 64 << 10;       // 413 past this
  std::chrono::milliseconds idle{30000};     // between requests
  std::chrono::milliseconds request{10000};  // from a request's first byte to its last
  std::chrono::milliseconds write{30000};    // for one response, or one line of a series
  // For the loop's answer to one question; a whole ring takes a second or two, and rdmapulse itself
  // gives up after ten.
  std::chrono::milliseconds loop{8000};
};

struct ServerOptions {
  std::string listen{};  // http.listen: ":9936", "127.0.0.1:9936", "[::1]:9936"; empty: no TCP
  std::string socket{};  // http.socket: path of the Unix socket; empty: none
  AddressPredicate api_allowed{};  // who beside loopback may read / and /api over TCP; HTTP thread
  ServerLimits limits{};
  Urgency urgency =
      Urgency::kBackground;  // of the thread; tests of its patience want no other delay
};

class Server {
 public:
  // Listens and starts the thread. `store`, `commands` and `traces` must outlive the server; the
  // latter two are called on the HTTP thread.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, SnapshotStore& store,
                                               Commands& commands, Traces& traces);
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);  // Start's
  // Closes every connection, cancels their series of probes, ends the thread, removes the socket.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The TCP port that is listened on, for a `listen` with port 0; 0: no TCP.
  std::uint16_t Port() const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace rdmapulse::http
