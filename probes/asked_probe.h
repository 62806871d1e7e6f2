// What came of a probe that somebody asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "daemon/base/time.h"
#include "probes/probe.h"

namespace rdmapulse::probes {

struct AskedProbe {
  std::optional<Op> op;  // nullopt: none was asked for, and there was no path to choose one by
  Outcome outcome = Outcome::kAborted;
  Status status;
  std::optional<TimePoint> posted;  // nullopt: nothing was sent, see `note`
  std::optional<Duration> rtt;
  std::optional<Duration> responder;  // of an echo: what the peer's daemon took of that
  std::uint16_t sport = 0;
  std::string note;
};

using AskedAnswer = std::function<void(const AskedProbe&)>;

inline AskedProbe Refused(Op op, std::string why) {
  AskedProbe asked;
  asked.op = op;
  asked.outcome = Outcome::kFailed;
  asked.note = std::move(why);
  return asked;
}

}  // namespace rdmapulse::probes
