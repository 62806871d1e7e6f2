#include "collectors/dcb_netlink_parse.h"

#include <linux/dcbnl.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace rdmapulse::collectors {
namespace {

constexpr std::string_view kBroken = "reading an answer of DCB netlink";

// Later than the headers that we build with: the selectors that are trusted, in order.
constexpr std::uint16_t kAppTrustTable = 11;  // DCB_ATTR_DCB_APP_TRUST_TABLE, since 6.2
constexpr std::uint8_t kPcpSelector = 255;    // DCB_APP_SEL_PCP
constexpr std::uint8_t kMaxDscp = 63;

template <typename Take>
Result<void> ForEach(Bytes bytes, Take take) {
  return ForEachAttribute(kBroken, bytes, take);
}

// The kernel's structs as they lie in memory; later kernels may append to them.
template <typename Struct>
Result<Struct> Take(Bytes payload, std::string_view what) {
  Struct value{};
  if (payload.size() < sizeof(value)) return Fail({kBroken, ": ", what, " is cut short"});
  std::memcpy(&value, payload.data(), sizeof(value));
  return value;
}

template <std::size_t kCount>
std::array<std::uint32_t, kCount> Widened(const __u8 (&bytes)[kCount]) {
  std::array<std::uint32_t, kCount> wide{};
  std::copy(std::begin(bytes), std::end(bytes), wide.begin());
  return wide;
}

Result<void> TakePfc(Bytes payload, DcbState& state) {
  const auto pfc = Take<ieee_pfc>(payload, "PFC");
  if (!pfc) return tl::unexpected(pfc.error());
  state.qos.pfc_priorities = std::bitset<kPriorities>(pfc->pfc_en);
  state.qos.pfc_capability = pfc->pfc_cap;
  state.qos.pfc_delay = pfc->delay;
  PfcCounters counters;
  std::copy(std::begin(pfc->requests), std::end(pfc->requests), counters.requests.begin());
  std::copy(std::begin(pfc->indications), std::end(pfc->indications), counters.indications.begin());
  state.pfc = counters;
  return {};
}

Selection SelectionOf(std::uint8_t tsa) {
  switch (tsa) {
    case IEEE_8021QAZ_TSA_STRICT: return Selection::kStrict;
    case IEEE_8021QAZ_TSA_CB_SHAPER: return Selection::kCreditBased;
    case IEEE_8021QAZ_TSA_ETS: return Selection::kEnhanced;
    default: return Selection::kVendor;
  }
}

Result<void> TakeEts(Bytes payload, PortQos& qos) {
  const auto ets = Take<ieee_ets>(payload, "ETS");
  if (!ets) return tl::unexpected(ets.error());
  qos.priority_tc = Widened(ets->prio_tc);
  qos.tc_bandwidth_percent = Widened(ets->tc_tx_bw);
  std::array<Selection, kPriorities> selection{};
  std::transform(std::begin(ets->tc_tsa), std::end(ets->tc_tsa), selection.begin(), SelectionOf);
  qos.tc_selection = selection;
  return {};
}

// Of several rules for one DSCP the highest priority holds, as drivers have it.
Result<void> TakeRules(Bytes table, PortQos& qos) {
  qos.dscp_priority.emplace();
  return ForEach(table, [&qos](const NetlinkAttribute& a) -> Result<void> {
    if (a.type != DCB_ATTR_IEEE_APP) return {};
    const auto rule = Take<dcb_app>(a.payload, "a rule");
    if (!rule) return tl::unexpected(rule.error());
    if (rule->selector != IEEE_8021QAZ_APP_SEL_DSCP || rule->protocol > kMaxDscp ||
        rule->priority >= kPriorities)
      return {};
    std::uint32_t& priority = (*qos.dscp_priority)[rule->protocol];
    priority = std::max<std::uint32_t>(priority, rule->priority);
    return {};
  });
}

Result<void> TakeBuffers(Bytes payload, PortQos& qos) {
  const auto buffer = Take<dcbnl_buffer>(payload, "the buffers");
  if (!buffer) return tl::unexpected(buffer.error());
  qos.priority_buffer = Widened(buffer->prio2buffer);
  qos.buffer_bytes.assign(std::begin(buffer->buffer_size), std::end(buffer->buffer_size));
  return {};
}

// The first selector of the table decides for a packet that has both.
Result<void> TakeTrust(Bytes table, PortQos& qos) {
  return ForEach(table, [&qos](const NetlinkAttribute& a) -> Result<void> {
    const auto selector = NetlinkNumber<std::uint8_t>(a.payload);
    if (qos.trust) return {};
    if (selector == IEEE_8021QAZ_APP_SEL_DSCP) qos.trust = Trust::kDscp;
    if (selector == kPcpSelector) qos.trust = Trust::kPcp;
    return {};
  });
}

Result<void> TakeIeee(Bytes ieee, DcbState& state) {
  return ForEach(ieee, [&state](const NetlinkAttribute& a) -> Result<void> {
    switch (a.type) {
      case DCB_ATTR_IEEE_PFC: return TakePfc(a.payload, state);
      case DCB_ATTR_IEEE_ETS: return TakeEts(a.payload, state.qos);
      case DCB_ATTR_IEEE_APP_TABLE: return TakeRules(a.payload, state.qos);
      case DCB_ATTR_DCB_BUFFER: return TakeBuffers(a.payload, state.qos);
      case kAppTrustTable: return TakeTrust(a.payload, state.qos);
      default: return {};
    }
  });
}

// What a driver's counters in DCB are worth.
enum class DcbCounters {
  kLive,     // read when asked, or refreshed every second
  kCopy,     // what the last reading of `ethtool -S` left; 0 until somebody reads that
  kNone,     // always 0: no counters at all
  kSwapped,  // requests hold what was received
};

struct DcbDriver {
  DcbCounters counters = DcbCounters::kLive;
  // The driver sorts by DSCP as soon as there is one rule for a DSCP, and by PCP while there is
  // none.
  bool rules_are_trust = false;
};

struct Quirk {
  std::string_view driver;
  DcbDriver is;
};
constexpr std::array kQuirks = {
    // A copy of the port's registers that only `ethtool -S` makes.
    Quirk{"mlx5_core", {.counters = DcbCounters::kCopy, .rules_are_trust = true}},
    Quirk{"mlx4_en", {.counters = DcbCounters::kNone}},
    Quirk{"mlx4_core", {.counters = DcbCounters::kNone}},
    Quirk{"qede", {.counters = DcbCounters::kNone}},
    Quirk{"cxgb4", {.counters = DcbCounters::kNone}},
    // Its registers of received XOFF frames are stored as requests.
    Quirk{"ixgbe", {.counters = DcbCounters::kSwapped}},
    Quirk{"ice", {.rules_are_trust = true}},
    Quirk{"hns3", {.rules_are_trust = true}},
};

DcbDriver DcbQuirks(std::string_view netdev_driver) {
  const auto* found = std::find_if(kQuirks.begin(), kQuirks.end(), [&](const Quirk& quirk) {
    return quirk.driver == netdev_driver;
  });
  return found == kQuirks.end() ? DcbDriver{} : found->is;
}

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

Result<DcbState> ParseDcb(Bytes message) {
  const auto attributes = AfterHeader(message, sizeof(dcbmsg));
  if (!attributes) return Fail({kBroken, ": the message is cut short"});
  DcbState state;
  const Result<void> walked =
      ForEach(*attributes, [&state](const NetlinkAttribute& a) -> Result<void> {
        return a.type == DCB_ATTR_IEEE ? TakeIeee(a.payload, state) : Result<void>();
      });
  if (!walked) return tl::unexpected(walked.error());
  return state;
}

std::vector<Value> PfcValues(const PfcCounters& counters) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < kPriorities; ++i) {
    const std::string index = "[" + std::to_string(i) + "]";
    values.push_back({"requests" + index, counters.requests.at(i)});
    values.push_back({"indications" + index, counters.indications.at(i)});
  }
  return values;
}

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

PfcAgreement ComparePfc(const ByPriority& ethtool_received, const ByPriority& ethtool_sent,
                        const PfcCounters& dcb) {
  bool compared = false;
  bool behind = false;
  bool swapped = true;
  bool differ = false;  // equal directions cannot be told apart
  for (std::size_t i = 0; i < kPriorities; ++i) {
    const auto& received = ethtool_received.at(i);
    const auto& sent = ethtool_sent.at(i);
    if (!received || !sent) continue;
    compared = true;
    behind |= dcb.indications.at(i) < *received || dcb.requests.at(i) < *sent;
    swapped &= dcb.indications.at(i) >= *sent && dcb.requests.at(i) >= *received;
    differ |= *received != *sent;
  }
  if (!compared) return PfcAgreement::kUnknown;
  if (!behind) return PfcAgreement::kAgrees;
  return swapped && differ ? PfcAgreement::kSwapped : PfcAgreement::kBehind;
}

}  // namespace rdmapulse::collectors
