// The parameters of commands and questions: bytes from outside, made values or refused
// with a sentence. Pure.
//
// A parameter stands in the query (?peer=h2&count=5) or in a JSON object as the body
// ({"peer": "h2", "count": 5}); twice is an error, and so is one that does not exist.
#pragma once

#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/http/commands.h"

namespace rdmapulse::http {

// POST /api/v1/probe: peer (required), op (write0), class (lossless), count (0, until the client
// goes; at most 1,000,000), interval (1; seconds, 0.01 to 3600), trace (false).
Result<ProbeRequest> ParseProbeRequest(std::string_view query, std::string_view body);

// POST /api/v1/maintenance: on (required; true or false).
Result<bool> ParseMaintenance(std::string_view query, std::string_view body);

// GET /api/v1/findings/trace: id (required), of a finding.
Result<std::string> ParseTraceId(std::string_view query);

}  // namespace rdmapulse::http
