#include "collectors/ethtool_netlink.h"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace rdmapulse::collectors {
namespace {

using Kind = NetlinkRequest::Kind;

constexpr std::array<std::uint32_t, 5> kSets = {ETH_SS_STATS_STD, ETH_SS_STATS_ETH_PHY,
                                                ETH_SS_STATS_ETH_MAC, ETH_SS_STATS_ETH_CTRL,
                                                ETH_SS_STATS_RMON};
// eth-phy, eth-mac, eth-ctrl, rmon: ETHTOOL_STATS_… as bits.
constexpr std::uint32_t kGroups = 0xf;
constexpr std::uint32_t kGroupCount = 4;

NetlinkRequest MakeRequest(std::uint16_t family, std::uint8_t command, std::string what) {
  NetlinkRequest request(family, Kind::kOne, std::move(what));
  const genlmsghdr header = {.cmd = command, .version = ETHTOOL_GENL_VERSION, .reserved = 0};
  request.Header(std::as_bytes(std::span(&header, 1)));
  return request;
}

// All messages have their header at 1, but the one of STATS_GET.
std::uint16_t HeaderAttribute(std::uint8_t command) {
  return command == ETHTOOL_MSG_STATS_GET ? ETHTOOL_A_STATS_HEADER : 1;
}

// A bit set in its compact form; without a mask the value is the whole.
void AskForGroups(NetlinkRequest& request) {
  request.BeginNest(ETHTOOL_A_STATS_GROUPS)
      .Flag(ETHTOOL_A_BITSET_NOMASK)
      .U32(ETHTOOL_A_BITSET_SIZE, kGroupCount)
      .U32(ETHTOOL_A_BITSET_VALUE, kGroups)
      .EndNest();
}

}  // namespace

Result<StringSets> StandardNames(Netlink& generic, std::uint16_t family) {
  NetlinkRequest request =
      MakeRequest(family, ETHTOOL_MSG_STRSET_GET, "the names of the standard statistics");
  // Of no netdev; the kernel wants to be told so.
  request.BeginNest(ETHTOOL_A_STRSET_HEADER).EndNest().BeginNest(ETHTOOL_A_STRSET_STRINGSETS);
  for (const std::uint32_t set : kSets) {
    request.BeginNest(ETHTOOL_A_STRINGSETS_STRINGSET).U32(ETHTOOL_A_STRINGSET_ID, set).EndNest();
  }
  request.EndNest();
  StringSets sets;
  const auto answer = generic.Ask(request);
  if (!answer) {
    // Kernels before 5.13 have no such sets, and none of the statistics.
    if (answer.error().code.value() == EOPNOTSUPP) return sets;
    return tl::unexpected(answer.error());
  }
  for (const auto& message : *answer) {
    if (auto parsed = ParseStringSets(message, sets); !parsed)
      return tl::unexpected(std::move(parsed.error()));
  }
  return sets;
}

// Once: what the kernel itself knows does not change while it runs.
Result<void> EthtoolNetlink::Prepare() {
  if (family_) return {};
  const auto family = FamilyNumber(generic_, ETHTOOL_GENL_NAME);
  if (!family) {
    no_family_ = family.error().code.value() == ENOENT;
    return tl::unexpected(family.error());
  }
  auto names = StandardNames(generic_, *family);
  if (!names) return tl::unexpected(std::move(names.error()));
  names_ = std::move(*names);
  family_ = *family;
  return {};
}

template <typename Parse>
int EthtoolNetlink::Ask(std::uint8_t command, std::string_view what, TimePoint now,
                        const std::string& netdev, Reading& reading, Parse parse) {
  if (refusals_.Holds(netdev, command, now)) return 0;
  NetlinkRequest request = MakeRequest(*family_, command, std::string(what) + " of " + netdev);
  request.BeginNest(HeaderAttribute(command))
      .Text(ETHTOOL_A_HEADER_DEV_NAME, netdev)
      .U32(ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_STATS)
      .EndNest();
  if (command == ETHTOOL_MSG_STATS_GET) AskForGroups(request);
  const auto answer = generic_.Ask(request);
  if (!answer) {
    const int error = answer.error().code.value();
    if (IsRefusal(error)) {
      refusals_.Remember(netdev, command, now);
      return 0;
    }
    reading.problems.push_back(ProblemOf(std::string(what), answer.error().code.value()));
    return error == 0 ? EBADMSG : error;
  }
  for (const auto& message : *answer) {
    const Result<void> parsed = parse(message);
    if (parsed) continue;
    reading.problems.push_back({std::string(what), parsed.error().Text()});
    return EBADMSG;
  }
  return 0;
}

SourceRead EthtoolNetlink::ReadInto(TimePoint now, Reading& reading, PortQos& qos,
                                    LinkCondition& link) {
  if (no_family_) return {};
  if (const Result<void> prepared = Prepare(); !prepared) {
    if (no_family_) return {};
    reading.problems.push_back({"ethtool", prepared.error().Text()});
    return {.exists = true, .success = false};
  }
  std::vector<Value>& values = reading.values;
  const std::array errors = {
      Ask(ETHTOOL_MSG_PAUSE_GET, "pause", now, reading.netdev, reading,
          [&](Bytes message) { return ParsePause(message, qos, values); }),
      Ask(ETHTOOL_MSG_LINKSTATE_GET, "link state", now, reading.netdev, reading,
          [&](Bytes message) { return ParseLinkState(message, link, values); }),
      Ask(ETHTOOL_MSG_FEC_GET, "FEC", now, reading.netdev, reading,
          [&](Bytes message) { return ParseFec(message, values); }),
      Ask(ETHTOOL_MSG_STATS_GET, "standard statistics", now, reading.netdev, reading,
          [&](Bytes message) { return ParseStandardStatistics(message, names_, values); })};
  SourceRead read{.exists = !values.empty() || !reading.problems.empty()};
  for (const int error : errors) read.success &= error == 0;
  return read;
}

}  // namespace rdmapulse::collectors
