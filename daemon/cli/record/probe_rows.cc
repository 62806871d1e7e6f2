#include "daemon/cli/record/probe_rows.h"

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "daemon/cli/json_fields.h"
#include "daemon/health/trace/writer.h"

namespace rdmapulse::cli {
namespace {

namespace json = boost::json;
using health::ProbeOutcome;
using health::Time;

constexpr double kMicroseconds = 1e6;
// A port has at most some hundred numbers; the field is wider than the path's.
constexpr std::uint64_t kNumberMax = UINT32_MAX;

std::optional<ProbeOutcome> OutcomeOf(const std::string& name) {
  constexpr std::array kAll = {ProbeOutcome::kOk,       ProbeOutcome::kLateBlocked,
                               ProbeOutcome::kLateRetx, ProbeOutcome::kLateSelf,
                               ProbeOutcome::kFailed,   ProbeOutcome::kAborted};
  for (const ProbeOutcome outcome : kAll) {
    if (health::trace::Name(outcome) == name) return outcome;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Number(const json::object& object, std::string_view key) {
  const auto number = CountField(object, key);
  if (!number || *number > kNumberMax) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

std::optional<Time> TimeField(const json::object& object, std::string_view key) {
  const auto us = CountField(object, key);
  if (!us || *us > static_cast<std::uint64_t>(Time::max().count())) return std::nullopt;
  return Time(static_cast<Time::rep>(*us));
}

// The path's; nullopt: the line does not say which probe it is of.
std::optional<health::ProbePath> PathOf(const json::object& probe) {
  const auto peer = TextField(probe, "peer");
  const auto op = TextField(probe, "op");
  const auto traffic_class = TextField(probe, "class");
  if (!peer || !op || !traffic_class) return std::nullopt;
  health::ProbePath path;
  path.peer = *peer;
  path.op = *op;
  path.traffic_class =
      *traffic_class == "control" ? health::ProbeClass::kControl : health::ProbeClass::kLossless;
  path.sport = Number(probe, "sport");
  path.local = {TextField(probe, "device").value_or(""), Number(probe, "port")};
  return path;
}

// A row of the kind connect, which no detector takes for a probe over RDMA.
health::trace::ProbeRow SessionRow(Time time, bool up, std::optional<std::uint64_t> epoch) {
  health::trace::ProbeRow row;
  row.path.op = "connect";
  row.posted = row.result.posted = row.result.time = time;
  row.result.outcome = up ? ProbeOutcome::kOk : ProbeOutcome::kFailed;
  row.session_up = up;
  row.peer_epoch = epoch;
  return row;
}

health::trace::ProbeRow OutstandingRow(Time posted, const health::ProbePath& path) {
  health::trace::ProbeRow row;
  row.path = path;
  row.posted = row.result.posted = posted;
  row.outstanding = true;
  return row;
}

std::pair<Time, health::ProbePath> KeyOf(Time posted, health::ProbePath path) {
  path.sport.reset();
  return {posted, std::move(path)};
}

void End(const json::object& probe, health::trace::ProbeRow& row) {
  row.outstanding = false;
  row.result.time = TimeField(probe, "learned_us").value_or(row.posted);
  if (const auto rtt = NumberField(probe, "rtt_seconds")) {
    row.result.rtt_us = *rtt * kMicroseconds;
    if (const auto responder = NumberField(probe, "responder_seconds")) {
      row.result.responder_us = *responder * kMicroseconds;
    }
  } else {
    row.result.status = TextField(probe, "status").value_or("");
  }
  if (const auto outcome = TextField(probe, "outcome")) row.result.outcome = OutcomeOf(*outcome);
}

}  // namespace

Result<void> ProbeRows::AddProbe(std::string_view line) {
  const auto probe = ParseObject(line, "the daemon's probes");
  if (!probe) return tl::unexpected(probe.error());
  if (const auto error = TextField(*probe, "error")) {
    return Fail({"reading the daemon's probes: ", *error});
  }
  const auto posted = TimeField(*probe, "time_us");
  const auto path = PathOf(*probe);
  if (!posted || !path) {
    return Fail({"reading the daemon's probes: a line does not say which probe it is of"});
  }
  Row row = OutstandingRow(*posted, *path);
  if (probe->contains("outcome")) End(*probe, row);
  if (const auto out = out_.extract(KeyOf(*posted, *path))) {
    const auto told = held_.find(out.mapped());
    if (told == held_.end()) return {};  // written as still out
    told->second.outstanding = row.outstanding;
    told->second.result = row.result;
  } else {
    Add(std::move(row));
  }
  return {};
}

Result<void> ProbeRows::AddPeers(Time time, std::string_view text) {
  const auto answer = ParseObject(text, "the daemon's peers");
  if (!answer) return tl::unexpected(answer.error());
  const json::array* const peers = ArrayField(*answer, "peers");
  if (peers == nullptr) return {};
  for (const json::object* const peer : Objects(*peers)) {
    const auto name = TextField(*peer, "peer");
    const auto up = BoolField(*peer, "up");
    if (!name || !up) continue;
    const Session session{*up, CountField(*peer, "epoch")};
    const auto [known, is_new] = sessions_.try_emplace(*name, session);
    if (!is_new && known->second == session) continue;
    known->second = session;
    Row row = SessionRow(time, *up, session.epoch);
    row.path.peer = *name;
    Add(std::move(row));
  }
  return {};
}

// What is older than a row that was given cannot be put in order any more.
void ProbeRows::Add(Row row) {
  if (row.posted < taken_until_) {
    if (row.posted >= begin_) ++late_;
    return;
  }
  const Place place{row.posted, ++last_place_};
  if (row.outstanding) out_[KeyOf(row.posted, row.path)] = place;
  row.src = src_;
  row.path.peer = NameOf(row.path.peer);
  held_.emplace(place, std::move(row));
}

std::string ProbeRows::NameOf(const std::string& peer) {
  if (peers_ == Peers::kByName) return peer;
  const std::size_t number = numbers_.try_emplace(peer, numbers_.size() + 1).first->second;
  return "peer" + std::to_string(number);
}

void ProbeRows::TakeFirst(std::string& text) {
  const auto first = held_.begin();
  const Row& row = first->second;
  health::trace::Append(row, text);
  taken_until_ = row.posted;
  held_.erase(first);
  ++taken_;
}

std::string ProbeRows::TakeFinished(Time now) {
  std::string text;
  while (!held_.empty()) {
    const Row& first = held_.begin()->second;
    const bool waited_for = first.outstanding || first.posted + kProbeToldWithin > now;
    if (waited_for && held_.size() <= held_max_) break;
    TakeFirst(text);
  }
  return text;
}

std::string ProbeRows::TakeAll() {
  std::string text;
  while (!held_.empty()) TakeFirst(text);
  return text;
}

}  // namespace rdmapulse::cli
