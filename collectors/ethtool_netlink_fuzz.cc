// Whatever message arrives, reading it ends, stays inside it and keeps to the limits.
#include <linux/ethtool.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "collectors/ethtool_netlink_parse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rdmapulse::collectors;
  const std::vector<std::byte> message(
      static_cast<const std::byte*>(static_cast<const void*>(data)),
      static_cast<const std::byte*>(static_cast<const void*>(data)) + size);
  PortQos qos;
  LinkCondition link;
  std::vector<Value> values;
  (void)ParsePause(message, qos, values);
  (void)ParseLinkState(message, link, values);
  (void)ParseFec(message, values);
  const StringSets names = {{ETH_SS_STATS_STD, {"eth-phy", "eth-mac", "eth-ctrl", "rmon"}},
                            {ETH_SS_STATS_ETH_MAC, {"a", "b"}}};
  (void)ParseStandardStatistics(message, names, values);
  if (values.size() > kMaxEthtoolValues) std::abort();
  for (const Value& value : values) {
    if (value.name.Text().empty() || value.name.Text().size() > 128) std::abort();
  }
  StringSets sets;
  (void)ParseStringSets(message, sets);
  for (const auto& [id, strings] : sets) {
    if (strings.size() > 512) std::abort();
  }
  return 0;
}
