#include "collectors/ethtool_stats.h"

#include <linux/ethtool.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>

#include "collectors/kernel_files.h"
#include "collectors/value_kind.h"

namespace rdmapulse::collectors {
namespace {

// The set changes when an administrator changes PFC or a channel count; three changes within one
// read do not happen by themselves.
constexpr int kMaxAttempts = 3;

std::size_t Words(std::size_t bytes) {
  return (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
}

// The number of entries that a buffer for `count` must have room for.
std::size_t Room(std::size_t count) { return 2 * count + kSpareStatistics; }

}  // namespace

std::vector<std::string> StatisticNames(const char* blocks, std::uint32_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  std::set<std::string_view> seen;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view block(blocks + std::size_t{i} * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
    std::string name = Printable(Trim(block.substr(0, block.find('\0'))));
    // The strings never move: the vector has room for all.
    names.push_back(std::move(name));
    if (!seen.insert(names.back()).second) names.back().clear();
  }
  return names;
}

int EthtoolStats::Count(const std::string& netdev, std::uint32_t& count) {
  buffer_.assign(Words(sizeof(ethtool_sset_info) + sizeof(std::uint32_t)), 0);
  auto* info = static_cast<ethtool_sset_info*>(static_cast<void*>(buffer_.data()));
  info->cmd = ETHTOOL_GSSET_INFO;
  info->sset_mask = 1ULL << ETH_SS_STATS;
  if (const int error = ioctl_.Call(netdev, info); error != 0) return error;
  if (info->sset_mask == 0) return EOPNOTSUPP;  // the driver has no such set
  std::memcpy(&count, buffer_.data() + sizeof(ethtool_sset_info) / sizeof(std::uint64_t),
              sizeof(count));
  return count > kMaxStatistics ? E2BIG : 0;
}

int EthtoolStats::ReadNames(const std::string& netdev, Names& names) {
  names = {};
  std::uint32_t count = 0;
  if (const int error = Count(netdev, count); error != 0) return error;
  if (count == 0) return EOPNOTSUPP;
  buffer_.assign(Words(sizeof(ethtool_gstrings) + Room(count) * ETH_GSTRING_LEN), 0);
  auto* strings = static_cast<ethtool_gstrings*>(static_cast<void*>(buffer_.data()));
  strings->cmd = ETHTOOL_GSTRINGS;
  strings->string_set = ETH_SS_STATS;
  strings->len = count;  // kernels from 6.19 on answer nothing unless it is exact
  if (const int error = ioctl_.Call(netdev, strings); error != 0) return error;
  if (strings->len != count) return EAGAIN;
  const char* blocks =
      static_cast<const char*>(static_cast<const void*>(buffer_.data())) + sizeof(ethtool_gstrings);
  names.names.clear();
  for (std::string& name : StatisticNames(blocks, count)) names.names.emplace_back(std::move(name));
  names.reads_left = kReadsPerNaming;
  return 0;
}

int EthtoolStats::ReadValues(const std::string& netdev, std::size_t count) {
  static_assert(sizeof(ethtool_stats) == sizeof(std::uint64_t));
  buffer_.assign(Words(sizeof(ethtool_stats)) + Room(count), 0);
  auto* stats = static_cast<ethtool_stats*>(static_cast<void*>(buffer_.data()));
  stats->cmd = ETHTOOL_GSTATS;
  stats->n_stats = static_cast<std::uint32_t>(count);
  if (const int error = ioctl_.Call(netdev, stats); error != 0) return error;
  return stats->n_stats == count ? 0 : EAGAIN;
}

int EthtoolStats::ReadOnce(const std::string& netdev, Names& names) {
  if (names.reads_left == 0) {
    if (const int error = ReadNames(netdev, names); error != 0) return error;
  }
  --names.reads_left;
  const int error = ReadValues(netdev, names.names.size());
  if (error != 0) names.reads_left = 0;
  return error;
}

SourceRead EthtoolStats::ReadInto(Reading& reading) {
  Names& names = names_[reading.netdev];
  int error = EAGAIN;
  for (int attempt = 0; attempt < kMaxAttempts && error == EAGAIN; ++attempt)
    error = ReadOnce(reading.netdev, names);
  if (error == EOPNOTSUPP) return {};
  if (error != 0) {
    reading.problems.push_back(error == EAGAIN
                                   ? Problem{reading.netdev, "the set of statistics keeps changing"}
                                   : ProblemOf(reading.netdev, error));
    return {.exists = true, .success = false};
  }
  reading.values.reserve(names.names.size());
  for (std::size_t i = 0; i < names.names.size(); ++i) {
    const CounterName& name = names.names[i];
    if (!name.Text().empty())
      reading.values.push_back({name, buffer_[i + 1], KindOf(Source::kEthtool, name.Text())});
  }
  return {.exists = true, .success = true};
}

void EthtoolStats::KeepOnly(const std::vector<std::string>& netdevs) {
  std::erase_if(names_, [&netdevs](const auto& entry) {
    return !std::binary_search(netdevs.begin(), netdevs.end(), entry.first);
  });
}

}  // namespace rdmapulse::collectors
