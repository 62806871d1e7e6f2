// A series of probes as a response that grows: a line a probe. HTTP package only.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/http/commands.h"
#include "daemon/http/connection.h"

namespace rdmapulse::http {

// Until the series ends or the client goes, which cancels it. The connection is of no use after it.
boost::asio::awaitable<void> StreamSeries(Connection& connection, Commands& commands,
                                          const ProbeRequest& request);

// The scheduled probes of all paths, likewise: a line when one is over, and before that one when it
// is overdue.
boost::asio::awaitable<void> StreamScheduled(Connection& connection, Commands& commands);

}  // namespace rdmapulse::http
