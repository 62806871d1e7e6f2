#include "collectors/pfc_check.h"

#include <string>
#include <vector>

#include "collectors/dcb_netlink_parse.h"
#include "collectors/signals.h"

namespace rdmapulse::collectors {
namespace {

ByPriority SignalByPriority(const std::vector<SignalValue>& values, std::string_view signal) {
  ByPriority of;
  for (const SignalValue& value : values) {
    if (value.signal == signal && value.priority && *value.priority < of.size())
      of.at(*value.priority) = value.value;
  }
  return of;
}

// `kind`: "requests", "indications".
ByPriority ValueByPriority(const Reading& dcb, const std::string& kind) {
  ByPriority of;
  for (std::size_t i = 0; i < of.size(); ++i) {
    const std::string name = kind + "[" + std::to_string(i) + "]";
    for (const Value& value : dcb.values) {
      if (value.name == name) of.at(i) = value.value;
    }
  }
  return of;
}

PfcAgreement Compare(const std::vector<SignalValue>& ethtool, const Reading& dcb) {
  ByPriority received = SignalByPriority(ethtool, "pfc_rx_pause_frames");
  const ByPriority sent = SignalByPriority(ethtool, "pfc_tx_pause_frames");
  const ByPriority requests = ValueByPriority(dcb, "requests");
  const ByPriority indications = ValueByPriority(dcb, "indications");
  PfcCounters counters;
  for (std::size_t i = 0; i < received.size(); ++i) {
    if (!requests.at(i) || !indications.at(i)) received.at(i).reset();  // nothing to compare with
    counters.requests.at(i) = requests.at(i).value_or(0);
    counters.indications.at(i) = indications.at(i).value_or(0);
  }
  return ComparePfc(received, sent, counters);
}

}  // namespace

void CheckPfc(const Collection& before, std::string_view driver, Reading& dcb) {
  for (const Reading& ethtool : before.readings) {
    if (ethtool.source != Source::kEthtool || ethtool.netdev != dcb.netdev) continue;
    const PfcAgreement agreement = Compare(Signals(ethtool, driver), dcb);
    if (agreement == PfcAgreement::kUnknown || agreement == PfcAgreement::kAgrees) continue;
    dcb.values.clear();
    dcb.problems.push_back(
        {"PFC", agreement == PfcAgreement::kSwapped
                    ? "requests and indications are exchanged against `ethtool -S`: left out"
                    : "less than `ethtool -S` counted before, a copy that nobody refreshes: "
                      "left out"});
  }
}

}  // namespace rdmapulse::collectors
