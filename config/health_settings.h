// What the detectors go by (`health:` of the configuration): every threshold of
// reference "detection" 2.2, one struct a detector. A share of line is of the port's rate; a ratio
// is per packet; a duty is pause time per time. Lives here and not beside the detectors because the
// configuration must not know the daemon.
#pragma once

#include <chrono>
#include <cstdint>

namespace rdmapulse::config {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct StormSettings {
  double suspect_duty = 0.50;   // over 500 ms
  double duty = 0.90;           // over 2 s
  double piece_duty = 0.80;     // each 500 ms of them
  double full_duty = 0.99;      // over 1 s
  double sure_duty = 0.96;      // over 2 s: what still comes in is no progress
  double rx_line_share = 0.10;  // receives less: what only leaks in
  double clear_duty = 0.30;     // over 5 s
  milliseconds event_hold{30'000};
  bool operator==(const StormSettings&) const = default;
};

struct BlockedSettings {
  double suspect_duty = 0.90;     // over 500 ms
  double duty = 0.99;             // over `confirm`
  double tx_line_share = 0.0001;  // sends less beside ACKs and CNPs
  milliseconds confirm{2'000};
  milliseconds deadlock{3'000};
  double deadlock_tx_duty = 0.10;  // a host that pauses its switch is no witness of a deadlock
  milliseconds critical{10'000};
  double clear_duty = 0.50;  // over 5 s
  double clear_tx_line_share = 0.01;
  milliseconds probe_age{1'000};  // a lossless probe that is outstanding so long
  bool operator==(const BlockedSettings&) const = default;
};

struct WatchdogSettings {
  milliseconds block_min{100};
  milliseconds block_max{1'000};
  milliseconds loss_within{1'000};
  std::uint32_t blocks = 3;
  milliseconds window{60'000};
  milliseconds clear{300'000};
  bool operator==(const WatchdogSettings&) const = default;
};

struct ReceiverSettings {
  double duty = 0.05;
  double major_duty = 0.30;
  double rx_line_share = 0.01;
  milliseconds confirm{30'000};
  double clear_duty = 0.02;  // over 60 s
  double rnr_ratio = 1e-5;
  bool operator==(const ReceiverSettings&) const = default;
};

struct CongestionSettings {
  double suspect_ce_ratio = 0.001;
  double ce_ratio = 0.01;
  double major_ce_ratio = 0.10;
  double rx_line_share = 0.80;
  double major_rx_line_share = 0.90;
  double suspect_duty = 0.05;
  double duty = 0.20;  // healthy collectives were seen to be paused for a sixth of the time
  double major_duty = 0.50;
  double rtt_factor = 2.0;  // of its own baseline
  milliseconds confirm{60'000};
  double clear_ce_ratio = 0.003;
  milliseconds clear{120'000};
  bool operator==(const CongestionSettings&) const = default;
};

struct VictimSettings {
  double rtt_factor = 5.0;
  double clear_rtt_factor = 2.0;
  double duty = 0.20;  // see CongestionSettings
  // So long round trips are no busy fabric's, whose pauses alone would say nothing.
  double sure_rtt_factor = 10.0;
  double sure_duty = 0.05;
  double cnp_ratio = 1e-4;  // CNPs handled per packet sent
  milliseconds confirm{30'000};
  bool operator==(const VictimSettings&) const = default;
};

struct LossSettings {
  double warning_ratio = 1e-7;
  double major_ratio = 1e-5;
  double critical_ratio = 1e-4;
  std::uint32_t events = 3;  // fewer in one bin of 10 s are not judged
  std::uint32_t bins = 3;    // of the last 6
  double iwarp_warning_ratio = 1e-4;
  double iwarp_major_ratio = 1e-3;
  double iwarp_critical_ratio = 1e-2;
  double iwarp_clear_ratio = 5e-5;
  bool operator==(const LossSettings&) const = default;
};

struct LinkSettings {
  milliseconds steady{5'000};  // after a change the pause detectors start anew
  std::uint32_t flaps_short = 2;
  milliseconds flap_short_window{600'000};
  std::uint32_t flaps_long = 3;
  milliseconds flap_long_window{3'600'000};
  milliseconds flap_clear{21'600'000};
  double fec_factor = 10.0;    // corrected blocks against the port's own past
  std::uint32_t bad_bins = 2;  // of the last 6 of 10 min
  double major_errors_per_hour = 120.0;
  double wait_share = 0.20;
  double major_wait_share = 0.50;
  double clear_wait_share = 0.10;
  double major_discards_per_second = 100.0;
  milliseconds config_confirm{30'000};
  bool operator==(const LinkSettings&) const = default;
};

struct PeerSettings {
  std::uint32_t bad_probes = 3;  // of the last 5
  milliseconds over{3'000};
  std::uint32_t good_probes = 5;  // in a row end it
  milliseconds cpu_delay{1};      // echo less one-sided
  milliseconds epoch_guard{5'000};
  bool operator==(const PeerSettings&) const = default;
};

struct HealthSettings {
  milliseconds dwell{10'000};  // an active finding stays so at least
  milliseconds clear_hold{30'000};
  milliseconds reopen{600'000};  // the same incident again, not a new one
  milliseconds start_grace{10'000};
  milliseconds loop_late{50};  // later than that, our own measurements mean nothing
  milliseconds probe_deadline{100};
  milliseconds fast_lane{15'000};
  double fast_duty = 0.02;
  std::uint32_t recurring_storms = 3;  // in an hour
  std::uint32_t lossless_priority = 3;
  bool expect_ecn = true;
  bool expect_out_of_order = false;  // adaptive routing with out-of-order placement
  StormSettings storm{};
  BlockedSettings blocked{};
  WatchdogSettings watchdog{};
  ReceiverSettings receiver{};
  CongestionSettings congestion{};
  VictimSettings victim{};
  LossSettings loss{};
  LinkSettings link{};
  PeerSettings peer{};
  bool operator==(const HealthSettings&) const = default;
};

}  // namespace rdmapulse::config
