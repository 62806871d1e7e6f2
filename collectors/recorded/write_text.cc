#include "collectors/recorded/write_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "collectors/recorded/pause_names.h"

namespace rdmapulse::collectors::recorded {
namespace {

std::string_view OnOff(bool on) { return on ? "on" : "off"; }

// "eth-mac/FramesReceivedOK" → "eth-mac-FramesReceivedOK"; nullopt: ethtool lists it nowhere.
std::optional<std::string> GroupedName(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return std::nullopt;
  std::string grouped = name;
  grouped[slash] = '-';
  return grouped;
}

// "KEY 0:A 1:B … \n"
template <typename Values, typename Word>
std::string List(std::string_view key, const Values& values, Word word) {
  std::string text(key);
  std::size_t index = 0;
  for (const auto& value : values) text += fmt::format(" {}:{}", index++, word(value));
  return text + " \n";
}

std::string_view SelectionWord(Selection selection) {
  switch (selection) {
    case Selection::kStrict: return "strict";
    case Selection::kCreditBased: return "cbs";
    case Selection::kEnhanced: return "ets";
    case Selection::kVendor: return "vendor";
  }
  return "strict";
}

template <typename T>
T Same(T value) {
  return value;
}

}  // namespace

std::string EthtoolStatisticsText(const std::vector<Value>& driver,
                                  const std::vector<Value>& standard, const std::string& netdev) {
  std::string groups;
  for (const Value& value : standard) {
    if (const auto name = GroupedName(value.name))
      groups += fmt::format("{}: {}\n", *name, value.value);
  }
  std::string text;
  if (!groups.empty()) text = fmt::format("Standard stats for {}:\n{}", netdev, groups);
  if (!driver.empty()) text += "NIC statistics:\n";
  for (const Value& value : driver) text += fmt::format("     {}: {}\n", value.name, value.value);
  return text;
}

std::string EthtoolPauseText(const PortQos& qos, const std::vector<Value>& values) {
  std::string settings;
  if (qos.pause_autonegotiated)
    settings += fmt::format("Autonegotiate:\t{}\n", OnOff(*qos.pause_autonegotiated));
  if (qos.pause_rx) settings += fmt::format("RX:\t\t{}\n", OnOff(*qos.pause_rx));
  if (qos.pause_tx) settings += fmt::format("TX:\t\t{}\n", OnOff(*qos.pause_tx));
  std::string statistics;
  for (const Value& value : values) {
    if (const auto name = PauseNameOfTool(value.name))
      statistics += fmt::format("  {}: {}\n", *name, value.value);
  }
  if (settings.empty() && statistics.empty()) return {};
  if (!statistics.empty()) statistics = "Statistics:\n" + statistics;
  return fmt::format("Pause parameters for {}:\n{}{}", qos.netdev, settings, statistics);
}

std::string EthtoolDriverText(const EthtoolDriver& driver) {
  return fmt::format("driver: {}\nfirmware-version: {}\nbus-info: {}\n", driver.driver,
                     driver.firmware, driver.bus_info);
}

std::string DcbPfcText(const PortQos& qos, const std::vector<Value>& statistics) {
  std::string text;
  if (qos.pfc_capability) text += fmt::format("pfc-cap {} ", *qos.pfc_capability);
  if (qos.pfc_delay) text += fmt::format("delay {} ", *qos.pfc_delay);
  if (!text.empty()) text += "\n";
  if (qos.pfc_priorities) {
    std::array<bool, kPriorities> on{};
    for (std::size_t i = 0; i < kPriorities; ++i) on[i] = qos.pfc_priorities->test(i);
    text += List("prio-pfc", on, OnOff);
  }
  for (const std::string_view key : {"requests", "indications"}) {
    std::string items;
    for (const Value& value : statistics) {
      const std::string_view name = value.name;
      if (!name.starts_with(key) || name.size() != key.size() + 3) continue;
      items += fmt::format(" {}:{}", name.substr(key.size() + 1, 1), value.value);
    }
    if (!items.empty()) text += fmt::format("{}{} \n", key, items);
  }
  return text;
}

std::string DcbAppText(const PortQos& qos) {
  if (!qos.dscp_priority || qos.dscp_priority->empty()) return {};
  std::string text = "dscp-prio";
  for (const auto& [dscp, priority] : *qos.dscp_priority)
    text += fmt::format(" {}:{}", dscp, priority);
  return text + " \n";
}

std::string DcbEtsText(const PortQos& qos) {
  std::string text;
  using Number = std::uint32_t;
  if (qos.tc_bandwidth_percent) text += List("tc-bw", *qos.tc_bandwidth_percent, Same<Number>);
  if (qos.tc_selection) text += List("tc-tsa", *qos.tc_selection, SelectionWord);
  if (qos.priority_tc) text += List("prio-tc", *qos.priority_tc, Same<Number>);
  return text;
}

std::string RdmaStatisticsText(const std::vector<RdmaLinkStatistics>& links) {
  std::string text;
  for (const RdmaLinkStatistics& link : links) {
    text += fmt::format("link {}/{} \n", link.device, link.port);
    for (const Value& value : link.values)
      text += fmt::format("    {} {} \n", value.name, value.value);
  }
  return text;
}

}  // namespace rdmapulse::collectors::recorded
