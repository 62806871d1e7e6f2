// ports, peers, findings, status: one question each.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "daemon/base/time.h"
#include "daemon/base/unix_time.h"
#include "daemon/cli/api_client.h"
#include "daemon/cli/chart.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/findings_view.h"
#include "daemon/cli/http_get.h"
#include "daemon/cli/json_fields.h"
#include "daemon/cli/output.h"
#include "daemon/cli/trace_view.h"
#include "daemon/cli/views.h"

namespace rdmapulse::cli {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr const char* kStatusTarget = "/api/v1/status";
// The daemon publishes its state once a second.
constexpr auto kSettleTime = 5s;

using View = std::function<Result<std::string>(std::string_view json)>;

Result<int> Show(const Daemon& daemon, const std::string& target, const View& view) {
  Result<std::string> answer = Ask(daemon.socket, {.target = target});
  if (!answer) return tl::unexpected(answer.error());
  // Made in both cases: what is not the daemon's answer must not pass for one with --json either.
  const Result<std::string> text = view(*answer);
  if (!text) return tl::unexpected(text.error());
  if (!answer->ends_with('\n')) *answer += '\n';
  const Result<Printed> printed = Print(daemon.json ? *answer : *text);
  if (!printed) return tl::unexpected(printed.error());
  return kExitDone;
}

Result<int> ShowTrace(const FindingsCommand& command) {
  const Glyphs glyphs = GlyphsFor(isatty(STDOUT_FILENO) == 1, std::getenv("LC_ALL"),
                                  std::getenv("LC_CTYPE"), std::getenv("LANG"));
  return Show(command.daemon, "/api/v1/findings/trace?id=" + PercentEncoded(command.id),
              [glyphs](std::string_view json) { return TraceText(json, UnixTimeNowUs(), glyphs); });
}

// Returns once the daemon's status says so: what is printed next must not still be the old state.
Result<void> SetMaintenance(const std::string& socket, bool on) {
  const auto answer = Ask(socket, {.method = "POST",
                                   .target = "/api/v1/maintenance",
                                   .body = on ? R"({"on":true})" : R"({"on":false})"});
  if (!answer) return tl::unexpected(answer.error());
  const TimePoint deadline = Clock::now() + kSettleTime;
  for (;;) {
    const Result<std::string> status = Ask(socket, {.target = kStatusTarget});
    if (!status) return tl::unexpected(status.error());
    const auto object = ParseObject(*status, "the daemon's status");
    if (!object) return tl::unexpected(object.error());
    if (BoolField(*object, "maintenance") == on) return {};
    if (Clock::now() >= deadline) {
      return Fail({"switching maintenance ", on ? "on" : "off",
                   ": the daemon took the request, but its status does not show it yet"},
                  "see: rdmapulse status");
    }
    std::this_thread::sleep_for(50ms);
  }
}

}  // namespace

Result<int> Run(const PortsCommand& command) {
  return Show(command.daemon, "/api/v1/ports", PortsText);
}

Result<int> Run(const PeersCommand& command) {
  return Show(command.daemon, "/api/v1/peers", [&command](std::string_view json) {
    return PeersText(json, command.hops ? Hops::kAlways : Hops::kInTrouble);
  });
}

Result<int> Run(const FindingsCommand& command) {
  if (command.trace) return ShowTrace(command);
  const Result<std::string> answer = Ask(command.daemon.socket, {.target = "/api/v1/findings"});
  if (!answer) return tl::unexpected(answer.error());
  const std::uint64_t now_us = UnixTimeNowUs();
  Result<std::string> text =
      command.id.empty() ? FindingsText(*answer, now_us) : FindingText(*answer, command.id, now_us);
  if (text && command.daemon.json) {
    text = command.id.empty() ? *answer + "\n" : FindingJson(*answer, command.id);
  }
  if (!text) return tl::unexpected(text.error());
  const Result<Printed> printed = Print(*text);
  if (!printed) return tl::unexpected(printed.error());
  return kExitDone;
}

Result<int> Run(const StatusCommand& command) {
  if (command.maintenance) {
    const Result<void> set = SetMaintenance(command.daemon.socket, *command.maintenance);
    if (!set) return tl::unexpected(set.error());
  }
  return Show(command.daemon, kStatusTarget, StatusText);
}

}  // namespace rdmapulse::cli
