// What the tools printed about each interface of a recorded host, file by file.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/kernel_files.h"
#include "collectors/port_qos.h"
#include "collectors/reading.h"
#include "collectors/recorded/ethtool_text.h"
#include "collectors/recorded/rdma_statistic_text.h"
#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors::recorded {

// The longest output there is, `ethtool -S` of kMaxStatistics values, has 2 MB; what is larger than
// this is something else and is not read.
constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20;

// A source of one interface. Not there: no file, or the tool said that the driver has none.
struct SourceText {
  std::vector<Value> values{};
  std::vector<Problem> problems{};
};

struct InterfaceFiles {
  std::optional<SourceText> ethtool{};
  std::optional<SourceText> ethtool_nl{};
  std::optional<SourceText> dcb{};
  EthtoolDriver driver{};  // of ethtool-i/
  std::optional<PortQos> qos{};
};

// How reading went for one source over all its files.
struct SourceFiles {
  bool exists = false;
  bool success = true;
  Duration duration{};
};

struct ToolFiles {
  std::map<std::string, InterfaceFiles> interfaces{};  // by name
  std::vector<RdmaLinkStatistics> links{};             // each port once
  std::map<Source, SourceFiles> sources{};
  std::vector<Problem> problems{};  // by file
};

// Reads ethtool-S/, ethtool-a/, ethtool-I-a/, ethtool-i/, dcb/, mlnx_qos/ and rdma-statistic/ under
// the root of `files`.
ToolFiles ReadToolFiles(const KernelFiles& files);

// The whole text of a file of up to `limit` bytes. nullopt: it is not there.
Result<std::optional<std::string>> ReadWholeText(const KernelFiles& files, const std::string& path,
                                                 std::size_t limit);

}  // namespace rdmapulse::collectors::recorded
