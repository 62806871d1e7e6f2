#include "daemon/http/response.h"

#include <fmt/format.h>

#include <cassert>

#include "daemon/version.h"

namespace rdmapulse::http {
namespace {

std::string_view Reason(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
  }
}

}  // namespace

std::string ResponseHeader(const Reply& reply, std::optional<std::size_t> length, bool keep_alive) {
  std::string header = fmt::format("HTTP/1.1 {} {}\r\nServer: rdmapulse/{}\r\nContent-Type: {}\r\n",
                                   reply.status, Reason(reply.status), kVersion, reply.type);
  header += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  if (!reply.allow.empty()) header += fmt::format("Allow: {}\r\n", reply.allow);
  header += length ? fmt::format("Content-Length: {}\r\n", *length)
                   : std::string("Transfer-Encoding: chunked\r\n");
  header += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return header;
}

std::string Chunk(std::string_view text) {
  assert(!text.empty());  // it would read as the last one
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

}  // namespace rdmapulse::http
