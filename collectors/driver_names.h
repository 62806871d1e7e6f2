// Which driver a device belongs to, in the short names that the counter catalogue uses.
#pragma once

#include <string>
#include <string_view>

namespace rdmapulse::collectors {

// What sysfs says that can tell the driver; empty: it does not say.
struct DriverHints {
  std::string_view device{};           // "mlx5_0"
  std::string_view bound{};            // basename of device/driver: "mlx5_core"
  std::string_view node_type{};        // "4: RNIC"
  std::string_view node_desc{};        // "Software iWARP stack"
  std::string_view hca_type{};         // "MT4119"
  bool has_parent_file = false;        // only rxe has the file `parent`
  bool has_completer_retries = false;  // only rxe counts completer_retry_err
};

// "mlx5", "rxe", "irdma_gen2", …; a driver that nobody has told us of keeps the name it is bound
// under; empty: unknown. Pure.
//
// Software devices come first: both kernels' siw and older ones' rxe name the NIC below as their
// parent device, whose driver is not theirs.
std::string DriverName(const DriverHints& hints);

// Ethernet drivers that speak iWARP and nothing else.
bool IsIwarpOnly(std::string_view driver);

}  // namespace rdmapulse::collectors
