// The probes and sessions of a running daemon as rows of probes.csv (design.md 5.3). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/health/trace/rows.h"

namespace rdmapulse::cli {

// Rows wait for the oldest probe that is still out; with more than this it is written as such. Two
// minutes of eight NICs at the budget of each.
constexpr std::size_t kProbeRowsHeldMax = 200'000;
// The daemon tells of a probe when it is over or past its deadline: until then one that went out
// earlier may still be told of.
constexpr health::Time kProbeToldWithin = std::chrono::seconds(10);

class ProbeRows {
 public:
  enum class Peers : bool { kByName, kNumbered };
  // kNumbered: peers are called "peer1", "peer2", … in the order in which they were met.
  // Probes that went out before `begin` are passed over.
  ProbeRows(std::string src, Peers peers, health::Time begin,
            std::size_t held_max = kProbeRowsHeldMax)
      : src_(std::move(src)),
        peers_(peers),
        held_max_(held_max),
        begin_(begin),
        taken_until_(begin) {}

  // A line of /api/v1/probe/scheduled: a probe that is over, or one that is past its deadline and
  // still out. Error: what the daemon says of an end, bytes that are no such line.
  Result<void> AddProbe(std::string_view line);

  // What /api/v1/peers says at this time: a row for each session that is not as it was.
  Result<void> AddPeers(health::Time time, std::string_view json);

  // In order of time, each once: those that no earlier row is waited for any more at this time.
  std::string TakeFinished(health::Time now);
  // The rest; what is still out has neither round trip nor outcome.
  std::string TakeAll();

  std::size_t Held() const { return held_.size(); }
  std::size_t Size() const { return taken_ + held_.size(); }  // rows, taken or held
  // Those that came too late to be put in order, and were left out.
  std::uint64_t late() const { return late_; }

 private:
  using Row = health::trace::ProbeRow;
  using Place = std::pair<health::Time, std::uint64_t>;  // of the posting, then as they came
  // Without the path's source port, which is another one when the QP was rebuilt meanwhile.
  using Key = std::pair<health::Time, health::ProbePath>;
  struct Session {
    bool up = false;
    std::optional<std::uint64_t> epoch{};

    bool operator==(const Session&) const = default;
  };

  void Add(Row row);
  void TakeFirst(std::string& text);
  std::string NameOf(const std::string& peer);

  const std::string src_;
  const Peers peers_;
  const std::size_t held_max_;
  std::map<Place, Row> held_;
  std::map<Key, Place> out_;  // told that they are out, and not yet of their end
  std::uint64_t last_place_ = 0;
  const health::Time begin_;
  health::Time taken_until_;
  std::size_t taken_ = 0;
  std::uint64_t late_ = 0;
  std::map<std::string, Session> sessions_;
  std::map<std::string, std::size_t> numbers_;
};

}  // namespace rdmapulse::cli
