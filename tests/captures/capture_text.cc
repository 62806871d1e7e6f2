#include "tests/captures/capture_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "collectors/recorded/recording.h"
#include "daemon/cli/recorded_host.h"

namespace rdmapulse::captures {
namespace {

namespace fs = std::filesystem;
using collectors::PortQos;
using collectors::Reading;
using collectors::recorded::Recording;

// " name=value"; nothing for what is not known.
std::string Known(std::string_view name, std::string_view value) {
  return value.empty() || value == "unknown" ? "" : fmt::format(" {}={}", name, value);
}

template <typename T>
std::string Known(std::string_view name, const std::optional<T>& value) {
  return value ? fmt::format(" {}={}", name, *value) : "";
}

template <typename T>
std::string KnownList(std::string_view name, const std::optional<T>& values) {
  return values ? fmt::format(" {}={}", name, fmt::join(*values, ",")) : "";
}

std::string DeviceText(const DeviceInfo& device) {
  std::string text = fmt::format(
      "device {}{}{}{}{}{}\n", device.name, Known("driver", device.driver),
      Known("firmware", device.firmware), Known("board", device.board_id), Known("pci", device.pci),
      device.node_guid == 0 ? "" : fmt::format(" guid={:016x}", device.node_guid));
  for (const PortInfo& port : device.ports) {
    text += fmt::format("  port {}{}{}{}{}{}{}{}{}\n", port.port,
                        Known("link_layer", Name(port.link_layer)),
                        Known("protocol", Name(port.protocol)), Known("state", Name(port.state)),
                        Known("phys_state", port.phys_state), Known("netdev", port.netdev),
                        Known("rate_bytes_per_second", port.rate_bytes_per_second),
                        Known("mtu", port.netdev_mtu_bytes), Known("lid", port.lid));
  }
  return text;
}

std::string ReadingText(const Reading& reading) {
  std::string text = "reading";
  if (!reading.device.empty()) text += " " + reading.device;
  if (reading.port) text += fmt::format("/{}", *reading.port);
  if (!reading.netdev.empty()) text += " " + reading.netdev;
  text += fmt::format(" {}\n", Name(reading.source));
  for (const auto& value : reading.values) {
    text += fmt::format("  {} {}{}\n", value.name, value.value,
                        value.kind == collectors::ValueKind::kGauge ? " gauge" : "");
  }
  for (const auto& problem : reading.problems)
    text += fmt::format("  ! {}: {}\n", problem.name, problem.reason);
  return text;
}

std::string_view Word(collectors::Selection selection) {
  switch (selection) {
    case collectors::Selection::kStrict: return "strict";
    case collectors::Selection::kCreditBased: return "cbs";
    case collectors::Selection::kEnhanced: return "ets";
    case collectors::Selection::kVendor: return "vendor";
  }
  return "?";
}

std::string QosText(const PortQos& qos) {
  std::string text = fmt::format("qos {}", qos.netdev);
  if (qos.pfc_priorities) {
    std::vector<std::size_t> on;
    for (std::size_t i = 0; i < collectors::kPriorities; ++i) {
      if (qos.pfc_priorities->test(i)) on.push_back(i);
    }
    text += fmt::format(" pfc={{{}}}", fmt::join(on, ","));
  }
  text += Known("pfc_capability", qos.pfc_capability) + Known("pfc_delay", qos.pfc_delay);
  if (qos.trust) text += *qos.trust == collectors::Trust::kDscp ? " trust=dscp" : " trust=pcp";
  if (qos.dscp_priority) {
    text += " dscp={";
    for (const auto& [dscp, priority] : *qos.dscp_priority)
      text += fmt::format("{}{}:{}", text.ends_with('{') ? "" : ",", dscp, priority);
    text += "}";
  }
  text += KnownList("priority_tc", qos.priority_tc);
  if (qos.tc_selection) {
    std::vector<std::string_view> words;
    for (const auto selection : *qos.tc_selection) words.push_back(Word(selection));
    text += fmt::format(" selection={}", fmt::join(words, ","));
  }
  text +=
      KnownList("bandwidth", qos.tc_bandwidth_percent) + KnownList("buffer", qos.priority_buffer);
  if (!qos.buffer_bytes.empty())
    text += fmt::format(" buffer_bytes={}", fmt::join(qos.buffer_bytes, ","));
  return text + Known("pause_autonegotiated", qos.pause_autonegotiated) +
         Known("pause_rx", qos.pause_rx) + Known("pause_tx", qos.pause_tx) + "\n";
}

std::string RecordingText(const Recording& recording) {
  std::string text;
  for (const DeviceInfo& device : recording.devices) text += DeviceText(device);
  for (const auto& collection : recording.collections) {
    for (const Reading& reading : collection.readings) text += ReadingText(reading);
  }
  for (const PortQos& qos : recording.qos) text += QosText(qos);
  for (const auto& [netdev, driver] : recording.netdev_drivers)
    text += fmt::format("driver of {}: {}\n", netdev, driver);
  for (const auto& problem : recording.problems)
    text += fmt::format("problem {}: {}\n", problem.name, problem.reason);
  for (const std::string& assumption : recording.assumptions)
    text += "assumed: " + assumption + "\n";
  for (const auto& collection : recording.collections) {
    for (const auto& status : collection.statuses) {
      if (!status.success)
        text += fmt::format("failed: {}{}\n", status.collector, Known("device", status.device));
    }
  }
  return text;
}

std::string WithoutRoot(std::string text, const std::string& root) {
  for (std::size_t at = 0; (at = text.find(root, at)) != std::string::npos;)
    text.replace(at, root.size(), "DIR");
  return text;
}

void AddHost(const fs::path& folder, const std::string& root, std::string& text) {
  const auto host = cli::OpenRecordedHost(folder);
  if (!host) {
    text += WithoutRoot(host.error().Text(), root) + "\n";
    std::vector<fs::path> below;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_directory() && cli::OpenRecordedHost(entry.path()))
        below.push_back(entry.path());
    }
    std::sort(below.begin(), below.end());
    for (const fs::path& sub : below) AddHost(sub, root, text);
    return;
  }
  for (const cli::Moment& moment : host->moments) {
    text +=
        fmt::format("\n{}{}\n", WithoutRoot(moment.folder, root), Known("kernel", host->kernel));
    text += RecordingText(
        collectors::recorded::ReadRecording(moment.folder, moment.errors, TimePoint{}));
  }
}

}  // namespace

std::string CaptureText(const std::string& root) {
  std::string text;
  AddHost(root, root, text);
  return text;
}

}  // namespace rdmapulse::captures
