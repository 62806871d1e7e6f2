// What the prober needs of the configuration, in its own types.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "daemon/base/time.h"
#include "probes/pairing.h"
#include "probes/probe.h"
#include "probes/transport.h"

namespace rdmapulse::probes {

struct ClassSettings {
  QpAttributes attributes;
  Duration interval{};
  Duration deadline{};        // soft: a probe without completion by then is overdue
  std::vector<Op> ops;        // that are sent to peers; at least one
  std::uint32_t streams = 1;  // that take turns; each has this interval so many times over
  Duration rotate{};          // how often the streams beside the first change their source port
  bool connect = false;       // what making a path takes is a series
  bool loopback = false;      // each port is read through itself
  Duration ud_interval{};     // of the datagrams beside them; 0: none are sent

  bool operator==(const ClassSettings&) const = default;

  // One try of the requester: 4.096 µs × 2^timeout (InfiniBand specification, local ACK timeout).
  Duration AckTimeout() const;
  // Past this no completion can come any more: NICs may take four times the nominal timeout a try.
  Duration HardDeadline() const;
  // What of it a path over this protocol can do. On iWARP its ops are `read` alone, asked for or
  // not, and its timeouts are TCP's.
  ClassSettings On(Protocol protocol) const;
};

struct Settings {
  // Names of those we chose to probe. Others that connect are guests: probed while they are there.
  std::vector<std::string> peers;
  std::array<ClassSettings, kClassCount> classes;
  Rails rails = Rails::kAligned;
  std::uint32_t streams = 1;  // UDP source ports of a pair of ports and class; 1 to kStreamsMax
  Duration rotate{};          // how often those beside the first change; 0: never
  std::uint32_t qps_per_nic = 256;
  std::uint32_t probes_per_second_per_nic = 200;

  bool operator==(const Settings&) const = default;
};

// Of a valid configuration; ops this version cannot send are left out (validation refuses them).
// `peers`: those of the configuration and those that were selected.
Settings MakeSettings(const config::Config& config, const std::vector<config::Peer>& peers);

}  // namespace rdmapulse::probes
