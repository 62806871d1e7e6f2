// What a reload changes, so that the daemon disturbs nothing else. Pure.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace rdmapulse::config {

struct ClassChange {
  bool schedule = false;       // interval, deadline or ops: the QPs stay
  bool qp_attributes = false;  // dscp, timeout or retry_cnt: the QPs of the class are rebuilt

  bool operator==(const ClassChange&) const = default;
};

struct Changes {
  // Names in the order of the list they are in. A peer with another address is another host: its
  // session and QPs are rebuilt. Other labels change only what is exported.
  std::vector<std::string> peers_added;
  std::vector<std::string> peers_removed;
  std::vector<std::string> peers_readdressed;
  std::vector<std::string> peers_relabelled;
  ClassChange lossless;
  ClassChange control;

  bool host = false;     // name or labels
  bool devices = false;  // devices or ports: some are opened, some let go
  bool rails = false;    // selection.rails: other paths
  bool discovery = false;
  bool selection = false;  // the rest of it
  bool gid = false;        // every QP is rebuilt
  bool paths = false;      // some are added, removed or moved to another source port
  bool connect = false;    // paths.connect: every QP but those of iWARP is rebuilt
  bool ud = false;
  bool polling = false;
  bool budget = false;
  bool collect = false;
  bool api_allow = false;
  bool expect = false;
  bool maintenance = false;
  bool trace = false;
  bool health = false;

  // Key paths whose new value is not taken until the daemon is restarted.
  std::vector<std::string> needs_restart;

  bool operator==(const Changes&) const = default;
  bool Any() const { return *this != Changes{}; }
};

// Both must be usable. The order of the peers does not matter.
Changes Diff(const Config& before, const Config& after);

}  // namespace rdmapulse::config
