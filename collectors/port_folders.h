// Folders of counters that a device or a port has in sysfs, each kind of them one source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectors/counter_folder.h"
#include "collectors/kernel_files.h"
#include "collectors/reading.h"

namespace rdmapulse::collectors {

// A driver offers some of the sources. Stateful, one thread, blocks.
class PortFolders {
 public:
  struct Folder {
    std::string path;  // "class/infiniband/mlx5_0/hw_counters"
    FolderRules rules{};
  };

  // `files` and what the rules refer to must outlive it. Without a port: the device's own.
  PortFolders(const KernelFiles& files, Source source, std::string device,
              std::optional<std::uint32_t> port, std::vector<Folder> folders);

  // Replaces `reading`.
  SourceRead Read(Reading& reading);

 private:
  Source source_;
  std::string device_;
  std::optional<std::uint32_t> port_;
  std::vector<CounterFolder> folders_;
};

// ports/N/counters: the InfiniBand performance management attributes, one management query a file.
// Half of the drivers have no such folder.
PortFolders PortCounters(const KernelFiles& files, const std::string& device, std::uint32_t port);

// ports/N/hw_counters, or without a port the device's own hw_counters: what the driver counts under
// its own names. A driver offers either folder, both or none.
PortFolders HwCounters(const KernelFiles& files, const std::string& device,
                       std::optional<std::uint32_t> port);

// The kernel's own counts of InfiniBand connection management, by message: "cm_tx_retries/req",
// "cm_rx_duplicates/rep", …. Each kind of count is a folder below the port; kernels before 5.14
// have them below class/infiniband_cm/DEVICE/PORT.
PortFolders CmCounters(const KernelFiles& files, const std::string& device, std::uint32_t port);

// ports/N/diag_counters of qib.
PortFolders DiagCounters(const KernelFiles& files, const std::string& device, std::uint32_t port);

}  // namespace rdmapulse::collectors
