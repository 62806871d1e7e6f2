// The bytes of a response besides its body. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/http/routes.h"

namespace rdmapulse::http {

// Status line and fields with the empty line that ends them. `length` of the body; nullopt: it
// comes in chunks.
std::string ResponseHeader(const Reply& reply, std::optional<std::size_t> length, bool keep_alive);

// One piece of a body that comes in chunks (RFC 9112, 7.1); not empty.
std::string Chunk(std::string_view text);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace rdmapulse::http
