// One connection: reads requests, answers them, streams a series of probes. HTTP thread only; HTTP
// package only, since it brings Asio along.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <cstddef>
#include <memory>
#include <unordered_set>

#include "daemon/http/commands.h"
#include "daemon/http/routes.h"
#include "daemon/http/server.h"
#include "daemon/snapshot_store.h"

namespace rdmapulse::http {

class Connection;

// What all connections of a server share.
struct Shared {
  const SnapshotStore& store;
  Commands& commands;
  ServerLimits limits;
  MetricsPage metrics;
  std::unordered_set<Connection*> connections;  // those that are open
};

enum class Door { kTcp, kUnixSocket };

// A client. Two coroutines hold it while a series is streamed: the one that writes, and the one
// that waits for the client to go.
class Connection {
 public:
  // TCP and Unix sockets alike.
  using Stream = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;

  Connection(Shared& shared, Stream::socket_type socket, Door door, bool api_allowed);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Door door() const { return door_; }
  // What is pending ends with an error.
  void Close();

 private:
  friend class Session;

  Shared& shared_;
  Stream stream_;
  boost::beast::flat_buffer buffer_;  // what was read and is not yet parsed
  Door door_;
  bool api_allowed_;
  bool gone_ = false;  // while a series is streamed: the client closed its end
};

// Answers the connection's requests until either side has enough.
boost::asio::awaitable<void> Serve(std::shared_ptr<Connection> connection);

// Says 503 and closes: there are too many connections.
boost::asio::awaitable<void> TurnAway(std::shared_ptr<Connection> connection);

}  // namespace rdmapulse::http
