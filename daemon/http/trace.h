// The answer to GET /api/v1/findings/trace, for which the loop must be asked. HTTP package only.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "daemon/http/connection.h"
#include "daemon/http/traces.h"

namespace rdmapulse::http {

// Other clients are served meanwhile. The connection is of no use after it. `head`: without its
// body.
boost::asio::awaitable<void> AnswerTrace(Connection& connection, Traces& traces,
                                         const std::string& id, bool head);

}  // namespace rdmapulse::http
