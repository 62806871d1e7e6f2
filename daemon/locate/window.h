// What is to be judged: the results of probes by path, over one window of time. Plain values; where
// they come from is the caller's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rdmapulse::locate {

// One port of one host, where probes begin and end.
struct Nic {
  std::string host = {};
  std::string port = {};  // "mlx5_0/1"
  std::string tor = {};   // empty: unknown, and no ToR is held responsible for it
  // The condition that its own host's detectors name for it ("link_down"): its records are left
  // out. Empty: none.
  std::string explained = {};

  bool operator==(const Nic&) const = default;
};

// The switches of a path in order, from the ToR of the one end to the ToR of the other; the ToRs
// are spelt as in Nic::tor. Two that follow each other are a link.
struct Hops {
  std::vector<std::string> request = {};
  std::vector<std::string> response = {};  // its source port is the responder's own: another path

  bool operator==(const Hops&) const = default;
};

// What the probes of one path came to within the window. Probes that this or the other host's own
// slowness, or a restart, made meaningless are not counted at all.
struct Record {
  std::size_t source = 0;       // index into Window::nics
  std::size_t destination = 0;  // likewise
  std::string traffic_class = {};
  std::optional<std::uint16_t> sport = {};  // of the requests; unknown: one of several equal paths
  std::optional<Hops> hops = {};            // unknown: only what both ends tell is held responsible
  std::uint64_t probes = 0;                 // all that have an outcome, the three below among them
  std::uint64_t late_blocked = 0;
  std::uint64_t late_retx = 0;
  std::uint64_t failed = 0;

  bool operator==(const Record&) const = default;
};

struct Window {
  std::vector<Nic> nics = {};
  std::vector<Record> records = {};

  bool operator==(const Window&) const = default;
};

}  // namespace rdmapulse::locate
