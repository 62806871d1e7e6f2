// Reads one request from a connection. HTTP package only.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "daemon/http/connection.h"

namespace rdmapulse::http {

using Request = boost::beast::http::request<boost::beast::http::string_body>;
using RequestParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

// Until `parser`, which is new, has the whole request; what follows it stays in the buffer. Errors
// are those of boost::beast::http when the bytes are to blame (header_limit and body_limit when
// they are too many), others when the connection is.
boost::asio::awaitable<boost::system::error_code> ReadRequest(Connection& connection,
                                                              RequestParser& parser);

}  // namespace rdmapulse::http
