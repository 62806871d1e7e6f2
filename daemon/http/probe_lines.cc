#include "daemon/http/probe_lines.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "daemon/base/utf8.h"
#include "daemon/http/hops_json.h"

namespace rdmapulse::http {
namespace {

namespace json = boost::json;
using probes::Outcome;

json::value SecondsOf(const std::optional<Duration>& duration) {
  return duration ? json::value(Seconds(*duration)) : json::value(nullptr);
}

bool IsLate(Outcome outcome) {
  return outcome == Outcome::kLateBlocked || outcome == Outcome::kLateRetx ||
         outcome == Outcome::kLateSelf;
}

}  // namespace

std::string ProbeLine(const ProbeReply& reply) {
  json::object object;
  object["seq"] = reply.seq;
  object["time_us"] = reply.time_us;
  object["op"] =
      reply.op ? json::value(std::string(probes::Name(*reply.op))) : json::value(nullptr);
  object["outcome"] = std::string(Name(reply.outcome));
  // What was never sent has no status: its default would read "success".
  object["status"] = reply.note.empty()
                         ? json::value(std::string(probes::StatusName(reply.status.code)))
                         : json::value(nullptr);
  object["rtt_seconds"] = SecondsOf(reply.rtt);
  if (reply.responder) object["responder_seconds"] = SecondsOf(reply.responder);
  object["sport"] = reply.sport == 0 ? json::value(nullptr) : json::value(reply.sport);
  if (!reply.note.empty()) object["note"] = CleanUtf8(reply.note);
  return json::serialize(object) + '\n';
}

std::string SeenLine(const ProbeSeen& seen) {
  json::object object;
  object["time_us"] = seen.time_us;
  object["peer"] = CleanUtf8(seen.peer);
  object["device"] = CleanUtf8(seen.device);
  object["port"] = seen.port;
  object["op"] = std::string(probes::Name(seen.op));
  object["class"] = std::string(probes::Name(seen.traffic_class));
  object["sport"] = seen.sport == 0 ? json::value(nullptr) : json::value(seen.sport);
  if (seen.over) {
    object["outcome"] =
        seen.outcome ? json::value(std::string(Name(*seen.outcome))) : json::value(nullptr);
    object["status"] = std::string(probes::StatusName(seen.status.code));
    object["rtt_seconds"] = SecondsOf(seen.rtt);
    if (seen.responder) object["responder_seconds"] = SecondsOf(seen.responder);
    object["learned_us"] = seen.learned_us;
  }
  return json::serialize(object) + '\n';
}

std::string TraceLine(const path_trace::News& news) {
  json::object line;
  if (const auto* hop = std::get_if<path_trace::Hop>(&news)) {
    line["hop"] = HopJson(*hop);
  } else if (const auto* began = std::get_if<path_trace::Began>(&news)) {
    line["trace"] = json::object{{"source", began->source},
                                 {"destination", began->destination},
                                 {"sport", began->sport},
                                 {"dscp", began->dscp},
                                 {"hops_max", began->hops_max}};
  } else {
    const auto& ended = std::get<path_trace::Ended>(news);
    const auto text = [](std::string_view words) {
      return words.empty() ? json::value(nullptr) : json::value(CleanUtf8(words));
    };
    line["trace"] =
        json::object{{"ending", ended.ending ? text(Name(*ended.ending)) : json::value(nullptr)},
                     {"change", text(ended.change)},
                     {"error", text(ended.error)}};
  }
  return json::serialize(line) + '\n';
}

std::string ErrorLine(std::string_view error) {
  json::object object;
  object["error"] = CleanUtf8(error);
  return json::serialize(object) + '\n';
}

void ProbeSummary::Add(const ProbeReply& reply) {
  ++sent_;
  if (reply.outcome == Outcome::kOk) ++ok_;
  if (IsLate(reply.outcome)) ++late_;
  if (reply.outcome == Outcome::kFailed) ++failed_;
  const bool of_the_network = reply.outcome == Outcome::kOk ||
                              reply.outcome == Outcome::kLateBlocked ||
                              reply.outcome == Outcome::kLateRetx;
  if (!of_the_network || !reply.rtt) return;
  rtt_.Add(*reply.rtt);
  min_ = std::min(min_.value_or(*reply.rtt), *reply.rtt);
  max_ = std::max(max_.value_or(*reply.rtt), *reply.rtt);
}

std::string ProbeSummary::Line() const {
  // A quantile is the middle of a bucket and could lie outside what was measured.
  const auto quantile = [this](double q) -> std::optional<Duration> {
    const auto value = rtt_.Quantile(q);
    return value ? std::optional(std::clamp(*value, *min_, *max_)) : std::nullopt;
  };
  json::object summary;
  summary["sent"] = sent_;
  summary["ok"] = ok_;
  summary["late"] = late_;
  summary["failed"] = failed_;
  summary["min_seconds"] = SecondsOf(min_);
  summary["p50_seconds"] = SecondsOf(quantile(0.5));
  summary["p99_seconds"] = SecondsOf(quantile(0.99));
  summary["max_seconds"] = SecondsOf(max_);
  json::object line;
  line["summary"] = std::move(summary);
  return json::serialize(line) + '\n';
}

}  // namespace rdmapulse::http
