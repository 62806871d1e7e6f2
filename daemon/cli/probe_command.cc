#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <optional>
#include <string>

#include "daemon/cli/api_client.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/interrupt.h"
#include "daemon/cli/output.h"
#include "daemon/cli/probe_report.h"

namespace rdmapulse::cli {
namespace {

using std::chrono_literals::operator""s;

ApiRequest RequestOf(const ProbeCommand& command) {
  boost::json::object body = {{"peer", command.target.peer}};
  if (command.target.op) body["op"] = probes::Name(*command.target.op);
  body["class"] = probes::Name(command.target.traffic_class);
  body["interval"] = command.interval_seconds;
  if (command.count > 0) body["count"] = command.count;
  if (command.trace) body["trace"] = true;
  return {.method = "POST", .target = "/api/v1/probe", .body = boost::json::serialize(body)};
}

// How long nothing may come before that is worth a line, and then again: a blocked probe has no
// outcome yet, and a person who sees nothing thinks that the tool hangs. And when the daemon is
// asked whether it is there at all, which the person may want to know no less.
class Patience {
 public:
  explicit Patience(double interval_seconds)
      : first_(std::max<Duration>(2s, std::chrono::duration_cast<Duration>(
                                          2 * std::chrono::duration<double>(interval_seconds)))) {
    Heard();
  }

  void Heard() {
    since_ = Clock::now();
    say_at_ = since_ + first_;
    check_at_ = since_ + kAnswerTime;
  }
  Duration Next() const {
    return std::max(std::min(say_at_, check_at_) - Clock::now(), Duration::zero());
  }
  // For how long nothing has come, when it is time to say so.
  std::optional<Duration> Say() {
    const TimePoint now = Clock::now();
    if (now < say_at_) return std::nullopt;
    const Duration waited = say_at_ - since_;
    say_at_ = std::max(say_at_ + std::min<Duration>(waited, 60s), now);
    return waited;
  }
  bool IsTimeToCheck() {
    if (Clock::now() < check_at_) return false;
    check_at_ = Clock::now() + kAnswerTime;
    return true;
  }

 private:
  Duration first_;
  TimePoint since_;
  TimePoint say_at_;
  TimePoint check_at_;
};

// Takes lines until the series ends, is interrupted, or nobody reads the output.
Result<void> Follow(ApiLines& lines, const std::string& socket, int interrupt_fd, Patience patience,
                    ProbeReport& report) {
  std::string line;
  for (;;) {
    const Result<ApiLines::Event> event = lines.Next(patience.Next(), interrupt_fd, line);
    if (!event) return tl::unexpected(event.error());
    std::string text;
    switch (*event) {
      case ApiLines::Event::kEnd:
      case ApiLines::Event::kInterrupted: return {};
      case ApiLines::Event::kNothingYet:
        if (const auto waited = patience.Say()) text = report.StillWaiting(*waited);
        break;
      case ApiLines::Event::kLine: {
        patience.Heard();
        Result<std::string> added = report.AddLine(line);
        if (!added) return tl::unexpected(added.error());
        text = std::move(*added);
        break;
      }
    }
    const Result<Printed> printed = Print(text);
    if (!printed) return tl::unexpected(printed.error());
    if (*printed == Printed::kNobodyReads) return {};
    if (!patience.IsTimeToCheck()) continue;
    const Result<bool> answers = StillAnswers(socket, kAnswerTime, interrupt_fd);
    if (!answers) return tl::unexpected(answers.error());
    if (!*answers) return {};
  }
}

}  // namespace

Result<int> Run(const ProbeCommand& command) {
  ProbeReport report(command.target, command.daemon.json);
  Result<void> followed;
  {
    // Only while probes are out: afterwards Ctrl-C ends the program as it ends any other.
    const Result<Interrupt> interrupt = Interrupt::Open();
    if (!interrupt) return tl::unexpected(interrupt.error());
    Result<ApiLines> lines = ApiLines::Start(command.daemon.socket, RequestOf(command));
    if (!lines) return tl::unexpected(lines.error());
    followed = Follow(*lines, command.daemon.socket, interrupt->Fd(),
                      Patience(command.interval_seconds), report);
  }
  // A series that broke off still says what it saw; one that never began has nothing to sum up.
  if (followed || report.Summary().sent > 0) {
    const Result<Printed> printed = Print(report.Finish());
    if (!printed) return tl::unexpected(printed.error());
  }
  if (!followed) return tl::unexpected(followed.error());
  return report.ExitCode();
}

}  // namespace rdmapulse::cli
