#include "collectors/dcb_netlink.h"

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <utility>

#include "collectors/dcb_netlink_parse.h"

namespace rdmapulse::collectors {
namespace {

// The pause settings come from elsewhere.
void TakeOver(PortQos from, PortQos& to) {
  from.netdev = std::move(to.netdev);
  from.pause_autonegotiated = to.pause_autonegotiated;
  from.pause_rx = to.pause_rx;
  from.pause_tx = to.pause_tx;
  to = std::move(from);
}

}  // namespace

SourceRead DcbNetlink::ReadInto(TimePoint now, std::string_view netdev_driver, Reading& reading,
                                PortQos& qos) {
  if (refusals_.Holds(reading.netdev, DCB_CMD_IEEE_GET, now)) return {};
  NetlinkRequest request(RTM_GETDCB, NetlinkRequest::Kind::kOne, "DCB of " + reading.netdev);
  const dcbmsg header = {.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET, .dcb_pad = 0};
  request.Header(std::as_bytes(std::span(&header, 1))).Text(DCB_ATTR_IFNAME, reading.netdev);
  const auto answer = route_.Ask(request);
  if (!answer) {
    if (IsRefusal(answer.error().code.value())) {
      refusals_.Remember(reading.netdev, DCB_CMD_IEEE_GET, now);
      return {};
    }
    reading.problems.push_back(ProblemOf("DCB", answer.error().code.value()));
    return {.exists = true, .success = false};
  }
  for (const auto& message : *answer) {
    auto state = ParseDcb(message);
    if (!state) {
      reading.problems.push_back({"DCB", state.error().Text()});
      return {.exists = true, .success = false};
    }
    ApplyDcbQuirks(netdev_driver, state->qos);
    TakeOver(std::move(state->qos), qos);
    if (!state->pfc) continue;
    reading.values = PfcValues(*state->pfc);
    ApplyDcbQuirks(netdev_driver, reading.values);
  }
  return {.exists = true, .success = true};
}

}  // namespace rdmapulse::collectors
