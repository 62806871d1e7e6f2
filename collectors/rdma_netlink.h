// The devices that RDMA netlink lists: unlike sysfs it forgets a device at once when it is being
// removed, which is how a daemon that holds devices open learns that it must let go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace rdmapulse::collectors {

// A host has dozens; past this many names the dump is refused as broken.
constexpr std::size_t kMaxNetlinkDevices = 4096;

// Asks the kernel. nullopt: it has no RDMA netlink (no InfiniBand support, or not loaded), which is
// no error. Needs no privilege. Waits at most a second for each part of the answer.
Result<std::optional<std::vector<std::string>>> ListNetlinkDevices();

enum class Dump { kMore, kDone, kInterrupted };

// One datagram of the answer to request `sequence`: appends the names. Pure. kInterrupted: the set
// changed meanwhile and must be asked for again. Error: the kernel's errno, or bytes that are no
// such answer.
Result<Dump> ParseDeviceNames(std::span<const std::byte> datagram, std::uint32_t sequence,
                              std::vector<std::string>& names);

}  // namespace rdmapulse::collectors
