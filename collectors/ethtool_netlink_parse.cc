#include "collectors/ethtool_netlink_parse.h"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "collectors/kernel_files.h"

namespace rdmapulse::collectors {
namespace {

constexpr std::string_view kBroken = "reading an answer of ethtool netlink";

// Later than the headers that we build with.
constexpr std::uint16_t kPauseStormEvents = 4;  // ETHTOOL_A_PAUSE_STAT_TX_PAUSE_STORM_EVENTS
constexpr std::uint16_t kExtDownCount = 7;      // ETHTOOL_A_LINKSTATE_EXT_DOWN_CNT, u32

// The longest table, link modes, has about 120 names; nothing near this is a set of statistics.
constexpr std::size_t kMaxStrings = 512;
constexpr std::size_t kMaxSets = 64;
constexpr std::size_t kMaxLanes = 8;

template <typename Take>
Result<void> ForEach(Bytes bytes, Take take) {
  return ForEachAttribute(kBroken, bytes, take);
}

// The attributes of a message, behind its genlmsghdr.
template <typename Take>
Result<void> ForEachOfMessage(Bytes message, Take take) {
  const auto attributes = AfterHeader(message, GENL_HDRLEN);
  if (!attributes) return Fail({kBroken, ": the message is cut short"});
  return ForEach(*attributes, take);
}

std::optional<bool> Flag(Bytes payload) {
  const auto value = NetlinkNumber<std::uint8_t>(payload);
  return value ? std::optional(*value != 0) : std::nullopt;
}

Result<void> Add(std::string name, std::optional<std::uint64_t> value, std::vector<Value>& values) {
  if (!value) return Fail({kBroken, ": ", name, " is no number"});
  if (values.size() == kMaxEthtoolValues) return Fail(E2BIG, {kBroken});
  values.push_back({std::move(name), *value});
  return {};
}

Result<void> AddPauseStatistic(const NetlinkAttribute& a, std::vector<Value>& values) {
  const auto number = NetlinkNumber<std::uint64_t>(a.payload);
  switch (a.type) {
    case ETHTOOL_A_PAUSE_STAT_RX_FRAMES: return Add("rx-frames", number, values);
    case ETHTOOL_A_PAUSE_STAT_TX_FRAMES: return Add("tx-frames", number, values);
    case kPauseStormEvents: return Add("tx-pause-storm-events", number, values);
    default: return {};
  }
}

// An array of u64: the port's total, then one for each lane.
Result<void> AddFecCounter(const std::string& name, Bytes array, std::vector<Value>& values) {
  if (array.size() % sizeof(std::uint64_t) != 0) return Fail({kBroken, ": ", name, " is no array"});
  const std::size_t count = array.size() / sizeof(std::uint64_t);
  if (count > kMaxLanes + 1) return Fail({kBroken, ": ", name, " has too many lanes"});
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = NetlinkNumber<std::uint64_t>(
        array.subspan(i * sizeof(std::uint64_t), sizeof(std::uint64_t)));
    const std::string suffix = i == 0 ? "" : "[" + std::to_string(i - 1) + "]";
    if (auto added = Add(name + suffix, value, values); !added) return added;
  }
  return {};
}

std::string NameOf(const StringSets& names, std::uint32_t set, std::uint32_t index) {
  const auto found = names.find(set);
  if (found == names.end() || index >= found->second.size()) return {};
  return found->second[index];
}

// GRP_STAT holds one attribute, whose type is the index of its name.
Result<void> AddStatistics(Bytes stat, const std::string& group, std::uint32_t set,
                           const StringSets& names, std::vector<Value>& values) {
  return ForEach(stat, [&](const NetlinkAttribute& a) -> Result<void> {
    const std::string name = NameOf(names, set, a.type);
    const auto value = NetlinkNumber<std::uint64_t>(a.payload);
    if (name.empty() || !value) return {};  // padding looks like a statistic without a number
    return Add(group + "/" + name, value, values);
  });
}

// One bucket: its least and greatest frame size in octets (0: no limit) and its count.
Result<void> AddBucket(Bytes bucket, const std::string& prefix, std::vector<Value>& values) {
  std::optional<std::uint32_t> low;
  std::optional<std::uint32_t> high;
  std::optional<std::uint64_t> count;
  const Result<void> walked = ForEach(bucket, [&](const NetlinkAttribute& a) -> Result<void> {
    if (a.type == ETHTOOL_A_STATS_GRP_HIST_BKT_LOW) low = NetlinkNumber<std::uint32_t>(a.payload);
    if (a.type == ETHTOOL_A_STATS_GRP_HIST_BKT_HI) high = NetlinkNumber<std::uint32_t>(a.payload);
    if (a.type == ETHTOOL_A_STATS_GRP_HIST_VAL) count = NetlinkNumber<std::uint64_t>(a.payload);
    return {};
  });
  if (!walked || !low || !high || !count) return walked;
  const std::string to = *high == 0 ? "Inf" : std::to_string(*high);
  return Add(prefix + "etherStatsPkts" + std::to_string(*low) + "to" + to + "Octets", count,
             values);
}

Result<void> AddGroup(Bytes group, const StringSets& names, std::vector<Value>& values) {
  std::string name;
  std::uint32_t set = 0;
  // Statistics may come before what says how to name them.
  const Result<void> named = ForEach(group, [&](const NetlinkAttribute& a) -> Result<void> {
    const auto number = NetlinkNumber<std::uint32_t>(a.payload);
    if (a.type == ETHTOOL_A_STATS_GRP_ID && number) name = NameOf(names, ETH_SS_STATS_STD, *number);
    if (a.type == ETHTOOL_A_STATS_GRP_SS_ID && number) set = *number;
    return {};
  });
  if (!named || name.empty()) return named;
  return ForEach(group, [&](const NetlinkAttribute& a) -> Result<void> {
    switch (a.type) {
      case ETHTOOL_A_STATS_GRP_STAT: return AddStatistics(a.payload, name, set, names, values);
      case ETHTOOL_A_STATS_GRP_HIST_RX: return AddBucket(a.payload, name + "/rx-", values);
      case ETHTOOL_A_STATS_GRP_HIST_TX: return AddBucket(a.payload, name + "/tx-", values);
      default: return {};
    }
  });
}

Result<void> AddString(Bytes bytes, std::vector<std::string>& strings) {
  std::optional<std::uint32_t> index;
  std::string text;
  const Result<void> walked = ForEach(bytes, [&](const NetlinkAttribute& a) -> Result<void> {
    if (a.type == ETHTOOL_A_STRING_INDEX) index = NetlinkNumber<std::uint32_t>(a.payload);
    if (a.type == ETHTOOL_A_STRING_VALUE)
      text = Printable(NetlinkText(a.payload).value_or(std::string_view{}));
    return {};
  });
  if (!walked || !index) return walked;
  if (*index >= kMaxStrings) return Fail(E2BIG, {kBroken});
  if (strings.size() <= *index) strings.resize(*index + 1);
  strings[*index] = std::move(text);
  return {};
}

Result<void> AddStringSet(Bytes bytes, StringSets& sets) {
  std::optional<std::uint32_t> id;
  std::vector<std::string> strings;
  const Result<void> walked = ForEach(bytes, [&](const NetlinkAttribute& a) -> Result<void> {
    if (a.type == ETHTOOL_A_STRINGSET_ID) id = NetlinkNumber<std::uint32_t>(a.payload);
    if (a.type != ETHTOOL_A_STRINGSET_STRINGS) return {};
    return ForEach(a.payload, [&strings](const NetlinkAttribute& string) -> Result<void> {
      return string.type == ETHTOOL_A_STRINGS_STRING ? AddString(string.payload, strings)
                                                     : Result<void>();
    });
  });
  if (!walked || !id) return walked;
  if (sets.size() == kMaxSets) return Fail(E2BIG, {kBroken});
  sets[*id] = std::move(strings);
  return {};
}

// enum ethtool_link_ext_state and, where a state has them, its substates.
struct Reason {
  std::uint8_t state;
  std::string_view text;
  std::array<std::string_view, 7> substates;  // from 1
};
constexpr std::array kReasons = {
    Reason{ETHTOOL_LINK_EXT_STATE_AUTONEG,
           "Autoneg",
           {"No partner detected", "Ack not received", "Next page exchange failed",
            "No partner detected during force mode", "FEC mismatch during override", "No HCD"}},
    Reason{ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE,
           "Link training failure",
           {"KR frame lock not acquired", "KR link inhibit timeout",
            "KR Link partner did not set receiver ready", "Remote side is not ready yet"}},
    Reason{ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH,
           "Logical mismatch",
           {"PCS did not acquire block lock", "PCS did not acquire AM lock",
            "PCS did not get align_status", "FC FEC is not locked", "RS FEC is not locked"}},
    Reason{ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY,
           "Bad signal integrity",
           {"Large number of physical errors", "Unsupported rate", "Serdes reference clock lost",
            "Serdes ALOS"}},
    Reason{ETHTOOL_LINK_EXT_STATE_NO_CABLE, "No cable", {}},
    Reason{ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE,
           "Cable issue",
           {"Unsupported cable", "Cable test failure"}},
    Reason{ETHTOOL_LINK_EXT_STATE_EEPROM_ISSUE, "EEPROM issue", {}},
    Reason{ETHTOOL_LINK_EXT_STATE_CALIBRATION_FAILURE, "Calibration failure", {}},
    Reason{ETHTOOL_LINK_EXT_STATE_POWER_BUDGET_EXCEEDED, "Power budget exceeded", {}},
    Reason{ETHTOOL_LINK_EXT_STATE_OVERHEAT, "Overheat", {}},
    Reason{ETHTOOL_LINK_EXT_STATE_MODULE, "Module", {"CMIS module is not in ModuleReady state"}},
};

}  // namespace

std::string LinkReason(std::optional<std::uint8_t> state, std::optional<std::uint8_t> substate) {
  if (!state) return {};
  for (const Reason& reason : kReasons) {
    if (reason.state != *state) continue;
    std::string text(reason.text);
    if (substate && *substate >= 1 && *substate <= reason.substates.size() &&
        !reason.substates.at(*substate - 1U).empty())
      text.append(": ").append(reason.substates.at(*substate - 1U));
    return text;
  }
  return "state " + std::to_string(*state);
}

Result<void> ParsePause(Bytes message, PortQos& qos, std::vector<Value>& values) {
  return ForEachOfMessage(message, [&](const NetlinkAttribute& a) -> Result<void> {
    switch (a.type) {
      case ETHTOOL_A_PAUSE_AUTONEG: qos.pause_autonegotiated = Flag(a.payload); return {};
      case ETHTOOL_A_PAUSE_RX: qos.pause_rx = Flag(a.payload); return {};
      case ETHTOOL_A_PAUSE_TX: qos.pause_tx = Flag(a.payload); return {};
      case ETHTOOL_A_PAUSE_STATS:
        return ForEach(a.payload, [&values](const NetlinkAttribute& statistic) {
          return AddPauseStatistic(statistic, values);
        });
      default: return {};
    }
  });
}

Result<void> ParseLinkState(Bytes message, LinkCondition& link, std::vector<Value>& values) {
  std::optional<std::uint8_t> state;
  std::optional<std::uint8_t> substate;
  const Result<void> walked = ForEachOfMessage(message, [&](const NetlinkAttribute& a) {
    switch (a.type) {
      case ETHTOOL_A_LINKSTATE_LINK: link.up = Flag(a.payload); break;
      case ETHTOOL_A_LINKSTATE_EXT_STATE: state = NetlinkNumber<std::uint8_t>(a.payload); break;
      case ETHTOOL_A_LINKSTATE_EXT_SUBSTATE:
        substate = NetlinkNumber<std::uint8_t>(a.payload);
        break;
      case kExtDownCount:
        return Add("ext-down-cnt", NetlinkNumber<std::uint32_t>(a.payload), values);
      default: break;
    }
    return Result<void>();
  });
  link.reason = LinkReason(state, substate);
  return walked;
}

Result<void> ParseFec(Bytes message, std::vector<Value>& values) {
  return ForEachOfMessage(message, [&values](const NetlinkAttribute& fec) -> Result<void> {
    if (fec.type != ETHTOOL_A_FEC_STATS) return {};
    return ForEach(fec.payload, [&values](const NetlinkAttribute& a) -> Result<void> {
      switch (a.type) {
        case ETHTOOL_A_FEC_STAT_CORRECTED: return AddFecCounter("corrected", a.payload, values);
        case ETHTOOL_A_FEC_STAT_UNCORR: return AddFecCounter("uncorr", a.payload, values);
        case ETHTOOL_A_FEC_STAT_CORR_BITS: return AddFecCounter("corr-bits", a.payload, values);
        default: return {};
      }
    });
  });
}

Result<void> ParseStandardStatistics(Bytes message, const StringSets& names,
                                     std::vector<Value>& values) {
  return ForEachOfMessage(message, [&](const NetlinkAttribute& a) -> Result<void> {
    return a.type == ETHTOOL_A_STATS_GRP ? AddGroup(a.payload, names, values) : Result<void>();
  });
}

Result<void> ParseStringSets(Bytes message, StringSets& sets) {
  return ForEachOfMessage(message, [&sets](const NetlinkAttribute& a) -> Result<void> {
    if (a.type != ETHTOOL_A_STRSET_STRINGSETS) return {};
    return ForEach(a.payload, [&sets](const NetlinkAttribute& set) -> Result<void> {
      return set.type == ETHTOOL_A_STRINGSETS_STRINGSET ? AddStringSet(set.payload, sets)
                                                        : Result<void>();
    });
  });
}

}  // namespace rdmapulse::collectors
