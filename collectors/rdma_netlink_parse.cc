#include "collectors/rdma_netlink_parse.h"

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "collectors/kernel_files.h"
#include "collectors/rdma_netlink_attributes.h"

namespace rdmapulse::collectors {
namespace {

constexpr std::string_view kBroken = "reading an answer of RDMA netlink";

template <typename Take>
Result<void> ForEach(Bytes bytes, Take take) {
  return ForEachAttribute(kBroken, bytes, take);
}

Result<std::string> TakeText(Bytes payload) {
  const auto text = NetlinkText(payload);
  if (!text) return Fail({kBroken, ": a name is no string"});
  return std::string(*text);
}

// HWCOUNTER_ENTRY → its name and value.
Result<std::optional<Value>> ParseCounter(Bytes entry) {
  Value value;
  std::optional<std::uint64_t> number;
  const Result<void> walked = ForEach(entry, [&value, &number](const NetlinkAttribute& a) {
    if (a.type == nldev::kCounterName) {
      auto name = TakeText(a.payload);
      if (!name) return Result<void>(tl::unexpected(name.error()));
      // A driver's free text: what no label may hold is shown as '?'.
      value.name = Printable(*name);
    } else if (a.type == nldev::kCounterValue) {
      number = NetlinkNumber<std::uint64_t>(a.payload);
    }
    return Result<void>();
  });
  if (!walked) return tl::unexpected(walked.error());
  if (value.name.Text().empty() || !number) return Result<std::optional<Value>>(std::nullopt);
  value.value = *number;
  return std::optional(std::move(value));
}

Result<void> ParseCounters(Bytes counters, std::vector<Value>& values) {
  return ForEach(counters, [&values](const NetlinkAttribute& a) -> Result<void> {
    if (a.type != nldev::kCounterEntry) return {};
    auto value = ParseCounter(a.payload);
    if (!value) return tl::unexpected(std::move(value.error()));
    if (!*value) return {};
    if (values.size() == kMaxNetlinkValues) return Fail(E2BIG, {kBroken});
    values.push_back(std::move(**value));
    return {};
  });
}

Result<void> ParseSummaryEntry(Bytes entry, std::vector<Value>& values) {
  std::string name;
  std::optional<std::uint64_t> count;
  const Result<void> walked = ForEach(entry, [&](const NetlinkAttribute& a) -> Result<void> {
    if (a.type == nldev::kSummaryCurrent) count = NetlinkNumber<std::uint64_t>(a.payload);
    if (a.type != nldev::kSummaryName) return {};
    auto text = TakeText(a.payload);
    if (!text) return tl::unexpected(std::move(text.error()));
    name = Printable(*text);
    return {};
  });
  if (!walked) return walked;
  if (name.empty() || !count) return {};
  if (values.size() == kMaxNetlinkValues) return Fail(E2BIG, {kBroken});
  values.push_back({"resource/" + name, *count, ValueKind::kGauge});
  return {};
}

// ib_qp_state.
constexpr std::array<std::string_view, 7> kQpStates = {"reset", "init", "rtr", "rts",
                                                       "sqd",   "sqe",  "err"};

}  // namespace

Result<NetlinkDevice> ParseDevice(Bytes message) {
  NetlinkDevice device;
  bool indexed = false;
  const Result<void> walked = ForEach(message, [&](const NetlinkAttribute& a) -> Result<void> {
    if (a.type == nldev::kDeviceIndex) {
      const auto index = NetlinkNumber<std::uint32_t>(a.payload);
      indexed = index.has_value();
      device.index = index.value_or(0);
    } else if (a.type == nldev::kPortIndex) {
      device.ports = NetlinkNumber<std::uint32_t>(a.payload).value_or(0);
    } else if (a.type == nldev::kDeviceName) {
      auto name = TakeText(a.payload);
      if (!name) return tl::unexpected(std::move(name.error()));
      device.name = std::move(*name);
    }
    return {};
  });
  if (!walked) return tl::unexpected(walked.error());
  if (!indexed) return Fail({kBroken, ": a device without an index"});
  if (device.name.empty()) return Fail({kBroken, ": a device without a name"});
  return device;
}

Result<std::string> ParsePortNetdev(Bytes message) {
  std::string netdev;
  const Result<void> walked =
      ForEach(message, [&netdev](const NetlinkAttribute& a) -> Result<void> {
        if (a.type != nldev::kNetdevName) return {};
        auto name = TakeText(a.payload);
        if (!name) return tl::unexpected(std::move(name.error()));
        netdev = std::move(*name);
        return {};
      });
  if (!walked) return tl::unexpected(walked.error());
  return netdev;
}

Result<void> ParsePortStatistics(Bytes message, std::vector<Value>& values) {
  return ForEach(message, [&values](const NetlinkAttribute& a) {
    return a.type == nldev::kCounters ? ParseCounters(a.payload, values) : Result<void>();
  });
}

Result<void> ParseCounterSets(Bytes message, std::map<std::string, std::uint64_t>& totals) {
  // STAT_COUNTER { STAT_COUNTER_ENTRY { …, STAT_HWCOUNTERS { … } } }
  const auto add = [&totals](const NetlinkAttribute& a) -> Result<void> {
    if (a.type != nldev::kCounters) return {};
    std::vector<Value> values;
    if (auto parsed = ParseCounters(a.payload, values); !parsed) return parsed;
    for (Value& value : values) {
      if (totals.size() == kMaxNetlinkValues && !totals.contains(value.name))
        return Fail(E2BIG, {kBroken});
      totals[std::move(value.name)] += value.value;
    }
    return {};
  };
  return ForEach(message, [&add](const NetlinkAttribute& sets) -> Result<void> {
    if (sets.type != nldev::kCounterSets) return {};
    return ForEach(sets.payload, [&add](const NetlinkAttribute& set) -> Result<void> {
      return set.type == nldev::kCounterSet ? ForEach(set.payload, add) : Result<void>();
    });
  });
}

Result<void> ParseResourceSummary(Bytes message, std::vector<Value>& values) {
  return ForEach(message, [&values](const NetlinkAttribute& summary) -> Result<void> {
    if (summary.type != nldev::kSummary) return {};
    return ForEach(summary.payload, [&values](const NetlinkAttribute& a) {
      return a.type == nldev::kSummaryEntry ? ParseSummaryEntry(a.payload, values) : Result<void>();
    });
  });
}

Result<void> ParseQpStates(Bytes message, std::map<std::string, std::uint64_t>& states) {
  const auto count = [&states](const NetlinkAttribute& a) -> Result<void> {
    if (a.type != nldev::kResourceState) return {};
    const auto state = NetlinkNumber<std::uint8_t>(a.payload);
    if (state && *state < kQpStates.size()) ++states[std::string(kQpStates.at(*state))];
    return {};
  };
  return ForEach(message, [&count](const NetlinkAttribute& qps) -> Result<void> {
    if (qps.type != nldev::kQps) return {};
    return ForEach(qps.payload, [&count](const NetlinkAttribute& qp) -> Result<void> {
      return qp.type == nldev::kQp ? ForEach(qp.payload, count) : Result<void>();
    });
  });
}

Result<std::optional<bool>> ParseNamespacesShared(Bytes message) {
  std::optional<bool> shared;
  const Result<void> walked =
      ForEach(message, [&shared](const NetlinkAttribute& a) -> Result<void> {
        if (a.type != nldev::kNamespacesShared) return {};
        if (const auto mode = NetlinkNumber<std::uint8_t>(a.payload)) shared = *mode != 0;
        return {};
      });
  if (!walked) return tl::unexpected(walked.error());
  return shared;
}

Result<std::string> ParseCharacterDevice(Bytes message) {
  std::string node;
  const Result<void> walked = ForEach(message, [&node](const NetlinkAttribute& a) -> Result<void> {
    if (a.type != nldev::kCharacterDeviceName) return {};
    auto name = TakeText(a.payload);
    if (!name) return tl::unexpected(std::move(name.error()));
    node = std::move(*name);
    return {};
  });
  if (!walked) return tl::unexpected(walked.error());
  return node;
}

}  // namespace rdmapulse::collectors
