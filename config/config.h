// Every option with its default: the shape of /etc/rdmapulse/rdmapulse.yaml (config/rdmapulse.yaml
// shows it whole). Loaded by load.h, checked by validate.h; a value here is always in range.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/health_settings.h"

namespace rdmapulse::config {

using std::chrono::milliseconds;
using Labels = std::map<std::string, std::string>;

struct Host {
  std::string name = "auto";  // auto: the kernel's host name
  Labels labels = {{"fabric", "default"}};
  bool operator==(const Host&) const = default;
};

struct Http {
  // "address:port", "[v6]:port" or ":port" for all addresses (address.h); empty: off
  std::string listen = ":9936";
  std::string socket = "/run/rdmapulse/rdmapulse.sock";
  // Networks beside loopback that may ask the API: "10.0.0.0/8" (network.h)
  std::vector<std::string> api_allow;
  bool operator==(const Http&) const = default;
};

struct Tls {
  std::string cert, key, ca;  // PEM files; all three or none
  bool operator==(const Tls&) const = default;
};

struct Control {
  std::string listen = ":9937";  // as above; empty: peers are dialled, none can dial us
  Tls tls;
  bool operator==(const Control&) const = default;
};

// Regular expressions (patterns.h) over the whole device name. Excluded devices are never opened.
struct Devices {
  std::vector<std::string> include = {".*"};
  std::vector<std::string> exclude;
  bool operator==(const Devices&) const = default;
};

struct Ports {
  std::vector<std::string> ignore;  // regular expressions over "device/port": "mlx5_2/1"
  bool operator==(const Ports&) const = default;
};

struct Collect {
  milliseconds interval{1000};
  milliseconds fast_interval{100};
  // Also the sums of the sets of counters that QPs are bound to; each set costs a firmware command.
  bool qp_counters = false;
  // InfiniBand's performance management by MADs: none, port (our own), switch (also the port of the
  // switch that ours is connected to)
  std::string mad = "none";
  std::uint32_t series_max = 5000;
  std::vector<std::string> allow, deny;  // regular expressions over "source/name"
  std::vector<std::string> catalogue;    // files that say what counters mean
  bool operator==(const Collect&) const = default;
};

struct Peer {
  std::string name;
  std::string address;  // host, host:port or [v6]:port; 9937 when there is no port
  Labels labels;
  bool operator==(const Peer&) const = default;
};

// Where more peers come from (source_entries.h): paths of lists, URLs of lists, DNS names.
struct Discovery {
  std::vector<std::string> file, http, dns;
  milliseconds refresh{60'000};  // how often URLs and names are asked again
  bool operator==(const Discovery&) const = default;
};

// Which of the discovered peers are probed (probes/selection.h).
struct Selection {
  bool tor_mesh = true;
  std::uint32_t sampled = 8;
  milliseconds redraw{3'600'000};  // after four of these the sample is another one
  // aligned: the n-th port meets the peer's n-th; full: every port meets every port
  std::string rails = "aligned";
  bool operator==(const Selection&) const = default;
};

// One traffic class to a peer. The defaults are those of `lossless`; Classes below says
// `control`'s.
struct Class {
  std::uint8_t dscp = 26;  // 0 to 63; the traffic class byte is dscp × 4
  milliseconds interval{1000};
  milliseconds deadline{100};  // a probe without completion by then is overdue
  std::uint8_t timeout = 17;   // local ACK timeout, 4.096 µs × 2^timeout; 0 would wait for ever
  std::uint8_t retry_cnt = 6;  // 7 never gives up on rxe
  std::vector<std::string> ops = {"write0", "read"};
  bool operator==(const Class&) const = default;
};

// `loopback` and `connect` are measured beside the ops that are sent in turn.
inline bool GoesToPeers(const std::string& op) { return op != "loopback" && op != "connect"; }
inline std::size_t SentOps(const Class& traffic_class) {
  return static_cast<std::size_t>(
      std::count_if(traffic_class.ops.begin(), traffic_class.ops.end(), GoesToPeers));
}

struct Classes {
  Class lossless;
  Class control = {.dscp = 0, .timeout = 14, .ops = {"write0"}};
  bool operator==(const Classes&) const = default;
};

// Ways through the fabric.
struct Paths {
  std::uint32_t source_ports = 2;  // UDP source ports of a pair of ports and class
  milliseconds rotate{3'600'000};  // how often those beside the first change; 0: never
  // What connects queue pairs of RoCE and InfiniBand ports: exchange (what the daemons tell each
  // other) or rdma_cm (the kernel's connection manager, where both ends have it)
  std::string connect = "exchange";
  bool operator==(const Paths&) const = default;
};

// Datagrams beside the probes of every class.
struct Ud {
  milliseconds interval{10'000};  // 0: none are sent or taken
  std::uint32_t source_ports = 8;
  bool operator==(const Ud&) const = default;
};

// Completion queues that are looked at after a probe was posted, before their event is waited for.
struct Polling {
  std::vector<std::string> devices;  // regular expressions over the whole device name
  std::uint32_t looks = 200;
  bool operator==(const Polling&) const = default;
};

struct Budget {
  std::uint32_t qps_per_nic = 256;
  std::uint32_t probes_per_second_per_nic = 200;
  bool operator==(const Budget&) const = default;
};

struct GidChoice {
  std::string family = "any";  // ipv4 | ipv6 | any
  bool operator==(const GidChoice&) const = default;
};

struct Expect {
  bool ecn = true;
  bool out_of_order = false;          // packets that come out of order are placed, not dropped
  std::uint32_t expected_agents = 0;  // 0: not exported
  bool operator==(const Expect&) const = default;
};

// The flight recorder: what it keeps in memory, and what it writes when something is found.
struct Recorder {
  std::string dir = "/var/lib/rdmapulse";
  std::uint64_t max_bytes = 256ULL << 20;  // of all recordings in `dir`
  std::uint32_t max_recordings = 100;
  std::chrono::milliseconds window{300'000};   // how far back a recording reaches
  std::chrono::milliseconds interval{60'000};  // no two recordings closer than this
  std::uint64_t memory_bytes = 16ULL << 20;
  bool operator==(const Recorder&) const = default;
};

// Which hops the packets of a path go by (daemon/path_trace). Needs CAP_NET_RAW.
struct Trace {
  milliseconds interval{0};  // how often each path is traced by itself; 0: only when asked for
  std::uint32_t packets_per_second = 20;  // of all traces together
  std::uint8_t hops_max = 16;
  bool operator==(const Trace&) const = default;
};

struct Config {
  Host host;
  Http http;
  Control control;
  std::string sysfs_root = "/sys";
  std::string proc_root = "/proc";
  Devices devices;
  Ports ports;
  Collect collect;
  std::vector<Peer> peers;
  Discovery discovery;
  Selection selection;
  Classes classes;
  Paths paths;
  Ud ud;
  Polling polling;
  Budget budget;
  GidChoice gid;
  Expect expect;
  bool maintenance = false;
  Trace trace;
  HealthSettings health;
  Recorder recorder;
  bool operator==(const Config&) const = default;
};

// What the detectors go by: `health`, and what other keys say of the fabric and the probes.
inline HealthSettings DetectorSettings(const Config& config) {
  HealthSettings settings = config.health;
  settings.expect_ecn = config.expect.ecn;
  settings.expect_out_of_order = config.expect.out_of_order;
  settings.probe_deadline = config.classes.lossless.deadline;
  return settings;
}

}  // namespace rdmapulse::config
