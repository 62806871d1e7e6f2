#include "collectors/recorded/dcb_quirks.h"

#include <string>

#include "collectors/dcb_netlink_parse.h"

namespace rdmapulse::collectors::recorded {
namespace {

constexpr std::string_view kRequests = "requests";
constexpr std::string_view kIndications = "indications";

// "requests[3]" ↔ "indications[3]".
CounterName OtherDirection(std::string_view name) {
  if (name.starts_with(kRequests))
    return std::string(kIndications) + std::string(name.substr(kRequests.size()));
  if (name.starts_with(kIndications))
    return std::string(kRequests) + std::string(name.substr(kIndications.size()));
  return name;
}

}  // namespace

void ApplyDcbQuirks(std::string_view netdev_driver, std::vector<Value>& values) {
  const DcbCounters counters = DcbQuirks(netdev_driver).counters;
  if (counters == DcbCounters::kNone) values.clear();
  if (counters != DcbCounters::kSwapped) return;
  for (Value& value : values) value.name = OtherDirection(value.name);
}

void ApplyDcbQuirks(std::string_view netdev_driver, PortQos& qos) {
  if (!qos.trust && DcbQuirks(netdev_driver).rules_are_trust && qos.dscp_priority)
    qos.trust = qos.dscp_priority->empty() ? Trust::kPcp : Trust::kDscp;
}

}  // namespace rdmapulse::collectors::recorded
