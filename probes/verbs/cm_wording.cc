#include "probes/verbs/cm_wording.h"

#include <cerrno>
#include <string>

namespace rdmapulse::verbs {
namespace {

// iWARP has no reasons, but errno values.
std::string Rejection(const CmEvent& event, const probes::QpEndpoint& here) {
  const std::string manner(MannerOf(here));
  if (here.protocol == Protocol::kIwarp || event.error == kRefusedByOwner) {
    return manner + " was refused";
  }
  if (event.error == kNobodyListens) return manner + " was refused, as nobody listens,";
  return manner + " was refused for reason " + std::to_string(event.error);
}

}  // namespace

CmAddress DialledAt(const probes::QpEndpoint& end) {
  return {.ip = end.cm_address.IsZero() ? end.gid : end.cm_address, .port = end.tcp_port};
}

std::string_view MannerOf(const probes::QpEndpoint& here) {
  return here.protocol == Protocol::kIwarp ? "iWARP" : "rdma_cm";
}

std::string_view AdviceWhenLate(Protocol protocol) {
  switch (protocol) {
    case Protocol::kIwarp: return "is TCP between the two let through on every port?";
    case Protocol::kInfiniband: return "does the subnet manager answer both?";
    default: return "is UDP port 4791 let through between the two?";
  }
}

std::optional<Error> FailureOf(const CmEvent& event, const probes::QpEndpoint& here,
                               const probes::QpEndpoint& there, bool up) {
  const std::string to = DialledAt(there).Text();
  const std::string manner(MannerOf(here));
  const auto code = [&event](int otherwise) { return event.error != 0 ? event.error : otherwise; };
  const bool infiniband = here.protocol == Protocol::kInfiniband;
  switch (event.type) {
    case CmEventType::kAddressError:
      return Fail(code(EHOSTUNREACH), {manner, " finds no way to ", to},
                  "the address does not answer ARP or neighbour discovery, or has no route")
          .value();
    case CmEventType::kRouteError:
      return Fail(code(EHOSTUNREACH), {manner, " finds no route to ", to},
                  infiniband ? "does the subnet manager answer?" : "")
          .value();
    case CmEventType::kRejected:
      return Fail(ECONNREFUSED, {Rejection(event, here), " by ", to}).value();
    case CmEventType::kUnreachable:
    case CmEventType::kConnectError:
      // Of a RoCE connection that was up: the neighbour has another hardware address.
      return Fail(code(ECONNABORTED),
                  {manner, up ? " lost the way to " : " did not connect to ", to})
          .value();
    case CmEventType::kDisconnected:
      return Fail(code(ECONNRESET), {"the ", manner, " connection ended to ", to}).value();
    default: return std::nullopt;
  }
}

}  // namespace rdmapulse::verbs
