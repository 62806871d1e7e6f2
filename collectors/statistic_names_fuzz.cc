// Whatever bytes a driver gives as names, they come out as labels may hold them, each at most once.
#include <linux/ethtool.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "collectors/ethtool_stats.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto count = static_cast<std::uint32_t>(size / ETH_GSTRING_LEN);
  const char* first = static_cast<const char*>(static_cast<const void*>(data));
  const std::vector<char> blocks(first, first + std::size_t{count} * ETH_GSTRING_LEN);
  const auto names = rdmapulse::collectors::StatisticNames(blocks.data(), count);
  if (names.size() != count) std::abort();
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.size() > ETH_GSTRING_LEN) std::abort();
    if (!name.empty() && !seen.insert(name).second) std::abort();
    for (const char c : name) {
      if (c < ' ' || c > '~') std::abort();
    }
  }
  return 0;
}
