#include "daemon/cli/probe_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>

#include "daemon/cli/hops_view.h"
#include "daemon/cli/json_fields.h"
#include "daemon/cli/units.h"

namespace rdmapulse::cli {
namespace {

namespace json = boost::json;

// No probe is out for longer (10 days); a larger number is not a time and would not fit Duration.
constexpr double kRttSecondsMax = 864000;

std::string SummaryText(const ProbeSummary& summary) {
  std::string text = fmt::format("{} sent, {} ok, {} late, {} failed\n", summary.sent, summary.ok,
                                 summary.late, summary.failed);
  if (summary.min_seconds) {
    text += fmt::format("rtt min {}, p50 {}, p99 {}, max {}\n", HumanSeconds(summary.min_seconds),
                        HumanSeconds(summary.p50_seconds), HumanSeconds(summary.p99_seconds),
                        HumanSeconds(summary.max_seconds));
  }
  return text;
}

json::value Nullable(std::optional<double> number) {
  return number ? json::value(*number) : json::value(nullptr);
}

std::string SummaryJson(const ProbeSummary& summary) {
  return json::serialize(json::object{{"summary",
                                       {{"sent", summary.sent},
                                        {"ok", summary.ok},
                                        {"late", summary.late},
                                        {"failed", summary.failed},
                                        {"min_seconds", Nullable(summary.min_seconds)},
                                        {"p50_seconds", Nullable(summary.p50_seconds)},
                                        {"p99_seconds", Nullable(summary.p99_seconds)},
                                        {"max_seconds", Nullable(summary.max_seconds)}}}}) +
         "\n";
}

ProbeSummary ReadSummary(const json::object& object) {
  const auto count = [&object](std::string_view key) {
    return CountField(object, key).value_or(0);
  };
  return {.sent = count("sent"),
          .ok = count("ok"),
          .late = count("late"),
          .failed = count("failed"),
          .min_seconds = NumberField(object, "min_seconds"),
          .p50_seconds = NumberField(object, "p50_seconds"),
          .p99_seconds = NumberField(object, "p99_seconds"),
          .max_seconds = NumberField(object, "max_seconds")};
}

std::string ReplyText(const json::object& reply, std::string_view outcome) {
  std::string text = "seq=" + CountOrDash(reply, "seq");
  // A note says why there was nothing to send on: then there is nothing else to say.
  if (const auto note = TextField(reply, "note")) return text + " not sent: " + *note + "\n";
  const std::optional<double> rtt = NumberField(reply, "rtt_seconds");
  if (rtt) text += " rtt=" + HumanSeconds(rtt);
  if (const std::optional<double> responder = NumberField(reply, "responder_seconds")) {
    text += " responder=" + HumanSeconds(responder);
  }
  if (outcome != probes::Name(probes::Outcome::kOk)) text += fmt::format(" {}", outcome);
  if (!rtt) text += ": " + TextOrDash(reply, "status");
  // 0 and null alike are "unknown".
  if (const auto sport = CountField(reply, "sport").value_or(0); sport != 0) {
    text += fmt::format(" sport={}", sport);
  }
  return text + "\n";
}

}  // namespace

Result<std::string> ProbeReport::AddLine(std::string_view line) {
  const Result<json::object> parsed = ParseObject(line, "the daemon's answer to probe");
  if (!parsed) return tl::unexpected(parsed.error());
  if (const auto error = TextField(*parsed, "error")) {
    return Fail({"probing ", target_.peer, ": ", *error});
  }
  const std::string as_is = std::string(line) + "\n";
  if (const json::object* const hop = ObjectField(*parsed, "hop")) {
    return json_ ? as_is : HopLine(*hop, target_.peer);
  }
  if (const json::object* const trace = ObjectField(*parsed, "trace")) {
    return json_ ? as_is
                 : TraceLine(*trace, fmt::format("{} {}", target_.peer,
                                                 probes::Name(target_.traffic_class)));
  }
  const json::value* const summary = parsed->if_contains("summary");
  if (summary != nullptr && summary->is_object()) {
    // What it printed last is what the exit code speaks of.
    summary_ = ReadSummary(summary->get_object());
    summarised_ = true;
    return json_ ? as_is : "\n" + SummaryText(summary_);
  }

  const std::optional<std::string> outcome = TextField(*parsed, "outcome");
  if (!outcome) return Fail({"probing ", target_.peer, ": the daemon's answer has no outcome"});
  ++summary_.sent;
  if (*outcome == "ok") ++summary_.ok;
  if (outcome->starts_with("late_")) ++summary_.late;
  if (*outcome == "failed") ++summary_.failed;
  // late_self says how late this host was, not the network (design.md 5.4).
  const std::optional<double> rtt = NumberField(*parsed, "rtt_seconds");
  if (rtt && (*outcome == "ok" || *outcome == "late_blocked" || *outcome == "late_retx")) {
    AddRtt(*rtt);
  }
  return json_ ? as_is : Prefix(TextField(*parsed, "op")) + ReplyText(*parsed, *outcome);
}

std::string ProbeReport::StillWaiting(Duration waited) const {
  if (json_) return {};
  return Prefix() +
         fmt::format("nothing came back for {}, still waiting\n", HumanSeconds(Seconds(waited)));
}

std::string ProbeReport::Finish() const {
  if (summarised_) return {};
  return json_ ? SummaryJson(Summary()) : "\n" + SummaryText(Summary());
}

ProbeSummary ProbeReport::Summary() const {
  ProbeSummary summary = summary_;
  if (summarised_ || !summary.min_seconds) return summary;
  const auto quantile = [&summary, this](double q) {
    // The histogram knows a value to 2 %; the extremes are exact.
    const double seconds = Seconds(rtt_.Quantile(q).value_or(Duration::zero()));
    return std::clamp(seconds, *summary.min_seconds, *summary.max_seconds);
  };
  summary.p50_seconds = quantile(0.5);
  summary.p99_seconds = quantile(0.99);
  return summary;
}

// `sent`: the op that a line names, where the daemon chose it.
std::string ProbeReport::Prefix(const std::optional<std::string>& sent) const {
  const std::string op =
      target_.op ? std::string(probes::Name(*target_.op)) : sent.value_or("probe");
  return fmt::format("{} to {} {}: ", op, target_.peer, probes::Name(target_.traffic_class));
}

void ProbeReport::AddRtt(double seconds) {
  if (!(seconds >= 0) || seconds > kRttSecondsMax) return;
  rtt_.Add(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
  summary_.min_seconds = std::min(seconds, summary_.min_seconds.value_or(seconds));
  summary_.max_seconds = std::max(seconds, summary_.max_seconds.value_or(seconds));
}

}  // namespace rdmapulse::cli
