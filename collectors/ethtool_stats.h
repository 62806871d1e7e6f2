// `ethtool -S`: what a netdev's driver counts under its own names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collectors/counter_folder.h"
#include "collectors/ethtool_ioctl.h"
#include "collectors/reading.h"

namespace rdmapulse::collectors {

// mlx5 with 128 channels lists about 6000. What claims more than this is not read (E2BIG).
constexpr std::uint32_t kMaxStatistics = 32768;
// The names are asked for again when their number changes; an exchange of equal size (PFC moved
// from one priority to another) is only noticed by asking now and then.
constexpr unsigned kReadsPerNaming = 60;

// Kernels before 6.19 write as many entries as the driver has at that moment, whatever the caller
// had room for: buffers have this many entries more than twice the announced number.
constexpr std::uint32_t kSpareStatistics = 4096;

// Pure. Names from GSTRINGS' blocks of 32 bytes, which need not end in NUL: without padding at the
// end, and '?' for bytes that no label may hold. The second of two equal names, and a name that is
// empty, come out empty: such values cannot be told apart and are left out.
std::vector<std::string> StatisticNames(const char* blocks, std::uint32_t count);

// Stateful, one thread, blocks. Keeps the names of each netdev between reads.
class EthtoolStats {
 public:
  explicit EthtoolStats(EthtoolIoctl& ioctl) : ioctl_(ioctl) {}

  // Appends values and problems to `reading`, whose netdev says which. A netdev without statistics
  // does not exist as a source.
  SourceRead ReadInto(Reading& reading);

  // Forgets the names of all netdevs but these (sorted).
  void KeepOnly(const std::vector<std::string>& netdevs);

 private:
  struct Names {
    std::vector<CounterName> names;
    unsigned reads_left = 0;
  };

  // Each returns an errno. EAGAIN: the set of statistics changed between two calls.
  int Count(const std::string& netdev, std::uint32_t& count);
  int ReadNames(const std::string& netdev, Names& names);
  int ReadValues(const std::string& netdev, std::size_t count);
  int ReadOnce(const std::string& netdev, Names& names);

  EthtoolIoctl& ioctl_;
  std::map<std::string, Names> names_;
  std::vector<std::uint64_t> buffer_;  // of both calls; u64 so that values are aligned
};

}  // namespace rdmapulse::collectors
