// The first line is the query, the rest the body.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/http/command_parameters.h"

using namespace std::chrono_literals;

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  const std::string_view query = text.substr(0, line);
  const std::string_view body = line == std::string_view::npos ? "" : text.substr(line + 1);

  const auto request = rdmapulse::http::ParseProbeRequest(query, body);
  if (request) {
    Check(!request->peer.empty() && request->peer.size() <= 256);
    Check(request->count <= 1'000'000);
    Check(request->interval >= 10ms && request->interval <= 1h);
  } else {
    Check(!request.error().Text().empty());
  }
  const auto on = rdmapulse::http::ParseMaintenance(query, body);
  Check(on || !on.error().Text().empty());
  const auto id = rdmapulse::http::ParseTraceId(query);
  Check(id ? !id->empty() && id->size() <= 1024 : !id.error().Text().empty());
  return 0;
}
