// locate: asks Prometheus about all hosts, or this host's daemon twice, and judges what comes.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/base/unix_time.h"
#include "daemon/cli/api_client.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/fleet_records.h"
#include "daemon/cli/host_records.h"
#include "daemon/cli/http_get.h"
#include "daemon/cli/interrupt.h"
#include "daemon/cli/locate_view.h"
#include "daemon/cli/output.h"
#include "daemon/cli/prometheus_answer.h"
#include "daemon/locate/locate.h"
#include "daemon/locate/settle.h"

namespace rdmapulse::cli {
namespace {

using std::chrono_literals::operator""s;

// Windows that are looked at with Prometheus: enough to see one open, and a past one close.
constexpr std::size_t kWindows = 5;
constexpr double kFleetWindowSeconds = 60;
constexpr double kHostWindowSeconds = 10;
// Prometheus gives up on a query after 2 min by itself.
constexpr auto kPatience = 130s;
// Of a host's own daemon, which is asked for a detail only.
constexpr auto kShortPatience = 2s;

class Prometheus {
 public:
  Prometheus(HttpUrl url, const std::string& shown)
      : url_(std::move(url)), doing_("asking Prometheus at " + shown) {}

  // Its own clock: this host's may differ.
  Result<double> Now() const {
    const auto body = Body("/api/v1/query?query=time%28%29");
    if (!body) return tl::unexpected(body.error());
    return Said(ParseScalar(*body));
  }

  Result<std::vector<Series>> Range(const std::string& query, const Moments& moments) const {
    const auto body = Body(fmt::format(
        "/api/v1/query_range?query={}&start={:.3f}&end={:.3f}&step={:.3f}", PercentEncoded(query),
        moments.start_seconds, moments.At(moments.count - 1), moments.step_seconds));
    if (!body) return tl::unexpected(body.error());
    return Said(ParseMatrix(*body, moments));
  }

  Error Empty(double seconds) const {
    return {
        {},
        fmt::format("{}: it has no rdmapulse_probes_total of the last {:.0f} s", doing_, seconds),
        "does it scrape the daemons, do they have peers, and is rdmapulse_agent_info there?"};
  }

 private:
  // An answer with another status holds the reason as JSON, if it is Prometheus that answers.
  Result<std::string> Body(const std::string& target) const {
    Result<HttpReply> reply = HttpGet(url_, target, kPatience, doing_);
    if (!reply) return tl::unexpected(reply.error());
    if (reply->status != 200 && !reply->body.starts_with('{')) {
      return Fail({doing_, ": it answered with HTTP status ", std::to_string(reply->status)},
                  "is that address Prometheus'?");
    }
    return std::move(reply->body);
  }

  template <typename T>
  Result<T> Said(Result<T> parsed) const {
    if (!parsed) return Fail({doing_, ": ", parsed.error().doing}, parsed.error().advice);
    return parsed;
  }

  HttpUrl url_;
  std::string doing_;
};

Result<FleetSeries> AskFleet(const Prometheus& prometheus, const Moments& edges) {
  FleetSeries fleet;
  const std::string explaining = kExplaining;
  const std::vector<std::pair<std::string, std::vector<Series>*>> questions = {
      // Not echoes: they wait for the peer's CPU.
      {R"(sum without (op) (rdmapulse_probes_total{outcome=~"ok|late_blocked|late_retx|failed",)"
       R"(op!~"echo|loopback|connect|ud"}))",
       &fleet.probes},
      {R"(sum without (op) (rdmapulse_probe_overdue{op!~"echo|loopback|connect|ud"} == 1))",
       &fleet.overdue},
      {"rdmapulse_agent_info", &fleet.agents},
      {"rdmapulse_agent_epoch", &fleet.epochs},
      {"rdmapulse_peer_info", &fleet.peers},
      {"rdmapulse_peer_up", &fleet.peers_up},
      {"rdmapulse_finding{condition=~\"" + explaining + "\"} == 1", &fleet.findings},
  };
  for (const auto& [query, series] : questions) {
    Result<std::vector<Series>> answer = prometheus.Range(query, edges);
    if (!answer) return tl::unexpected(answer.error());
    *series = std::move(*answer);
  }
  return fleet;
}

// The daemon of a path's own host knows by which source port it probes. Where it does not answer
// (its API is for loopback and http.api_allow) the path is named without.
void AddSport(const Fleet& fleet, const locate::Window& window, locate::Suspect& suspect) {
  locate::Part& part = suspect.parts.front();
  if (part.kind != locate::Kind::kPath) return;
  for (const locate::Record& record : window.records) {
    const locate::Nic& source = window.nics[record.source];
    const locate::Nic& destination = window.nics[record.destination];
    const std::string name =
        source.host + " " + source.port + ">" + destination.host + " " + destination.port;
    if (name != part.name || record.traffic_class != suspect.traffic_class) continue;
    const auto instance = fleet.instances.find(source.host);
    if (instance == fleet.instances.end()) return;
    const auto url = ParseHttpUrl("http://" + instance->second);
    if (!url) return;
    const auto peers = HttpGet(*url, "/api/v1/peers", kShortPatience, "asking a daemon");
    if (!peers || peers->status != 200) return;
    // A peer's name there is without the fabric.
    const std::string peer = destination.host.substr(destination.host.rfind('/') + 1);
    const std::uint16_t sport =
        SportOf(peers->body, source.port, peer, destination.port, suspect.traffic_class);
    if (sport != 0) part.name += " sport " + std::to_string(sport);
    return;
  }
}

Result<Located> LocateInFleet(const LocateCommand& command) {
  const Result<HttpUrl> url = ParseHttpUrl(command.prometheus);
  if (!url) return tl::unexpected(url.error());
  const Prometheus prometheus(*url, command.prometheus);
  const Result<double> now = prometheus.Now();
  if (!now) return tl::unexpected(now.error());
  const double window = command.window_seconds.value_or(kFleetWindowSeconds);
  const double span = window * static_cast<double>(kWindows);
  const Moments edges{.start_seconds = *now - span, .step_seconds = window, .count = kWindows + 1};
  const Result<FleetSeries> series = AskFleet(prometheus, edges);
  if (!series) return tl::unexpected(series.error());
  Fleet fleet = FleetOf(*series, kWindows);
  if (fleet.together.records.empty() && fleet.silent.empty())
    return tl::unexpected(prometheus.Empty(span));
  const locate::Settings settings;
  std::vector<std::vector<locate::Suspect>> suspects;
  for (const locate::Window& each : fleet.windows)
    suspects.push_back(locate::Locate(each, settings));
  Located located{
      .prometheus = command.prometheus,
      .until_us = static_cast<std::uint64_t>(*now * 1e6),
      .window_seconds = window,
      .windows = kWindows,
      .together = {},
      .standings = locate::Settle(suspects, locate::Locate(fleet.together, settings), settings),
      .silent = fleet.silent};
  for (locate::Standing& standing : located.standings)
    AddSport(fleet, fleet.together, standing.suspect);
  located.together = std::move(fleet.together);
  return located;
}

// Waits, unless it is interrupted: then what came until now is judged.
void Watch(double seconds, int interrupt_fd) {
  if (isatty(STDERR_FILENO) == 1)
    fmt::print(stderr, "watching this host's probes for {} s; Ctrl-C for less\n", seconds);
  pollfd wait{.fd = interrupt_fd, .events = POLLIN, .revents = 0};
  poll(&wait, 1, static_cast<int>(std::ceil(seconds * 1000)));
}

Result<Located> LocateFromHost(const LocateCommand& command) {
  const std::string& socket = command.daemon.socket;
  const Result<Interrupt> interrupt = Interrupt::Open();
  if (!interrupt) return tl::unexpected(interrupt.error());
  const Result<std::string> status = Ask(socket, {.target = "/api/v1/status"});
  if (!status) return tl::unexpected(status.error());
  const Result<std::string> before = Ask(socket, {.target = "/api/v1/peers"});
  if (!before) return tl::unexpected(before.error());
  const double seconds = command.window_seconds.value_or(kHostWindowSeconds);
  Watch(seconds, interrupt->Fd());
  const Result<std::string> after = Ask(socket, {.target = "/api/v1/peers"});
  if (!after) return tl::unexpected(after.error());
  Result<locate::Window> window = HostWindow(*status, *before, *after);
  if (!window) return tl::unexpected(window.error());
  if (window->records.empty()) {
    return Fail({"looking at the probes of the daemon at ", socket, ": it probes nobody"},
                "name its peers in the configuration, or ask about all hosts: --prometheus URL");
  }
  locate::Settings settings;
  settings.source_nics_min = 1;  // there is but one host
  const std::vector<locate::Suspect> suspects = locate::Locate(*window, settings);
  return Located{.prometheus = {},
                 .until_us = UnixTimeNowUs(),
                 .window_seconds = seconds,
                 .windows = 1,
                 .together = std::move(*window),
                 .standings = locate::Settle({suspects}, {}, settings),
                 .silent = {}};
}

}  // namespace

Result<int> Run(const LocateCommand& command) {
  const Result<Located> located =
      command.prometheus.empty() ? LocateFromHost(command) : LocateInFleet(command);
  if (!located) return tl::unexpected(located.error());
  const Result<Printed> printed =
      Print(command.daemon.json ? LocatedJson(*located) : LocatedText(*located));
  if (!printed) return tl::unexpected(printed.error());
  return kExitDone;
}

}  // namespace rdmapulse::cli
