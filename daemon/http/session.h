// A conversation over one connection: requests are read and answered, a series of probes is
// streamed. HTTP thread only; HTTP package only.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "daemon/http/commands.h"
#include "daemon/http/connection.h"
#include "daemon/http/routes.h"
#include "daemon/http/traces.h"
#include "daemon/snapshot_store.h"

namespace rdmapulse::http {

// What all conversations of a server share.
struct Shared {
  SnapshotStore& store;
  Commands& commands;
  Traces& traces;
  MetricsPage metrics;
};

// Answers the client's requests until either side has enough.
boost::asio::awaitable<void> Serve(Shared& shared, std::shared_ptr<Connection> connection);

// Says 503 and closes: there are too many connections.
boost::asio::awaitable<void> TurnAway(std::shared_ptr<Connection> connection);

}  // namespace rdmapulse::http
