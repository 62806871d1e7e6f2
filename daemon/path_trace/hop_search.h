// One trace: which TTL is asked next, what came of those that were, and when it is over. Pure: the
// caller says what time it is, sends, and tells what was answered.
//
//   distance question ─► peer at TTL d (if its kernel answers)
//   TTL 1, 2, 3, …    ─► a router's address each, up to d − 1; without d until several in a row
//                        were silent
//
// The distance has a head start, so that nothing is sent as far as the peer for want of a few
// milliseconds. Each question is put again once. The peer's NIC answers no RoCE packet that is not
// for a QP, so that only the distance tells where the path ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/path_trace/icmp.h"
#include "daemon/path_trace/route.h"

namespace rdmapulse::path_trace {

inline constexpr std::uint8_t kHopsLimit =
    32;  // no data centre is deeper; trace.hops_max goes so far

class HopSearch {
 public:
  struct Limits {
    std::uint8_t hops_max = 16;   // at most kHopsLimit
    std::uint8_t silent_max = 4;  // hops in a row
    std::uint8_t attempts = 2;    // a question is put so often
    Duration head_start = std::chrono::milliseconds(200);
    Duration patience = std::chrono::seconds(1);  // until it counts as not answered
  };
  // TTL 0 stands for the distance question.
  using Question = std::uint8_t;
  static constexpr Question kDistance = 0;

  HopSearch(Limits limits, std::string peer);

  // The question to put now; nullopt: none is due. It counts as put.
  std::optional<Question> Next(TimePoint now);
  // When Next or Over may say something else; max: when an answer comes.
  TimePoint NextDue(TimePoint now) const;

  // `answer` to `question` came from `address` after `rtt`. Later ones to the same are passed over.
  void OnAnswer(Question question, const IcmpAnswer& answer, const std::string& address,
                Duration rtt);

  bool Over(TimePoint now) const;
  // The first hops of which nothing more will become known; at the end all of them, with the peer.
  std::vector<Hop> Settled(TimePoint now) const;
  Ending HowItEnded(TimePoint now) const;

 private:
  struct Asked {
    std::uint8_t times = 0;
    TimePoint last{};
    bool answered = false;
    Hop hop{};
  };

  bool Given(Question question, TimePoint now) const;
  bool Allowed(Question question, TimePoint now) const;
  std::uint8_t Furthest(TimePoint now) const;
  TimePoint HeadStart() const;
  void OnDistance(const IcmpAnswer& answer, const std::string& address, Duration rtt);

  const Limits limits_;
  const std::string peer_;  // its address
  std::array<Asked, kHopsLimit + 1> asked_{};
  std::uint8_t last_;  // no TTL above it is asked
  std::uint8_t last_answered_ = 0;
  std::optional<TimePoint> began_{};
  std::optional<Hop> peer_hop_{};
  bool refused_ = false;
};

}  // namespace rdmapulse::path_trace
