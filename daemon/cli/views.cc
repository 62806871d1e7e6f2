#include "daemon/cli/views.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "daemon/cli/hops_view.h"
#include "daemon/cli/json_fields.h"
#include "daemon/cli/table.h"
#include "daemon/cli/units.h"

namespace rdmapulse::cli {
namespace {

namespace json = boost::json;

constexpr double kShareShown = 0.001;  // of the time: below it a port is at rest

// "3", "3,4", "off": none; "-": not told.
std::string PfcPriorities(const json::object& port) {
  const json::array* const priorities = ArrayField(port, "pfc_priorities");
  if (priorities == nullptr) return kUnknown;
  if (priorities->empty()) return "off";
  std::string text;
  for (const json::value& priority : *priorities) {
    if (!text.empty()) text += ",";
    text += Printable(json::serialize(priority));
  }
  return text;
}

// What is going on that a healthy port does not have; `top` has all of it.
void AppendTroubles(const json::object& rates, std::string& note) {
  if (const json::array* const priorities = ArrayField(rates, "priorities")) {
    for (const json::object* const priority : Objects(*priorities)) {
      for (const auto& [name, what] : {std::pair("rx_pause_ratio", "paused by the peer"),
                                       std::pair("tx_pause_ratio", "pausing the peer")}) {
        const double share = NumberField(*priority, name).value_or(0);
        if (share < kShareShown) continue;
        AppendNote(fmt::format("priority {} {} {:.3g} % of the time",
                               CountOrDash(*priority, "priority"), what, share * 100),
                   note);
      }
    }
  }
  for (const auto& [name, what] : {std::pair("retransmits_per_second", "retransmissions"),
                                   std::pair("discards_per_second", "discards")}) {
    const double rate = NumberField(rates, name).value_or(0);
    if (rate > 0) AppendNote(fmt::format("{:.3g} {} a second", rate, what), note);
  }
}

Row PortRow(const json::object& port) {
  std::string gid = TextOrDash(port, "gid");
  if (const auto index = CountField(port, "gid_index")) gid += fmt::format(" ({})", *index);
  std::string note;
  if (!BoolField(port, "present").value_or(true)) {
    AppendNote("the device is being removed from this host", note);
  }
  if (const auto reason = TextField(port, "gid_reason")) AppendNote(*reason, note);
  if (const json::object* const rates = ObjectField(port, "rates")) AppendTroubles(*rates, note);
  return {{PortName(port, "device", "port"), TextOrDash(port, "netdev"),
           TextOrDash(port, "protocol"), TextOrDash(port, "state"),
           HumanRate(NumberField(port, "rate_bytes_per_second")), PfcPriorities(port), gid},
          note};
}

std::string Session(const json::object& peer) {
  const std::optional<bool> up = BoolField(peer, "up");
  return !up ? kUnknown : *up ? "up" : "NO";
}

// The lines of all peers, and what they come to.
struct PeerList {
  std::vector<Row> rows;
  std::string problems;  // of peers that are not up
  std::size_t peers = 0;
  std::size_t up = 0;
  std::size_t series = 0;
  std::size_t overdue = 0;
};

// Its UDP source port; while it is not connected, what is going on instead.
std::string SourcePort(const json::object& path) {
  const std::string state = TextOrDash(path, "qp_state");
  if (state != "rts") return state;
  const std::uint64_t port = CountField(path, "sport").value_or(0);
  return port == 0 ? kUnknown : std::to_string(port);
}

// What the line above said of its path, so that the ops of one path do not all repeat it.
struct Said {
  std::string problem;
  std::string hops;
};

Row PathRow(const json::object& peer, const json::object& path, bool overdue, Hops hops,
            Said& said) {
  const std::string name =
      PortName(path, "device", "port") + ">" + PortName(path, "peer_device", "peer_port");
  const std::string outcome = TextOrDash(path, "last_outcome");
  std::string note;
  // What waits now matters more than what came back last; neither is dropped.
  if (overdue) {
    AppendNote("out for " + HumanSeconds(NumberField(path, "oldest_outstanding_seconds")), note);
    if (outcome != "ok") AppendNote("before that: " + outcome, note);
  }
  const std::optional<std::string> status = TextField(path, "last_status");
  if (status && *status != "success") AppendNote("last status: " + *status, note);
  // Without a problem: what the probes of the path say together, if that is anything.
  const std::string problem =
      TextField(path, "problem").value_or(TextField(path, "joint_reason").value_or(""));
  const std::string named = name + TextOrDash(path, "class") + problem;
  if (!problem.empty() && named != said.problem) AppendNote(problem, note);
  said.problem = named;
  const bool well = !overdue && (outcome == "ok" || outcome == kUnknown) && problem.empty();
  const std::string way = hops == Hops::kInTrouble && well ? "" : WayText(path);
  const std::string way_named = name + TextOrDash(path, "class") + way;
  if (!way.empty() && way_named != said.hops) AppendNote(way, note);
  if (!way.empty()) said.hops = way_named;
  return {{TextOrDash(peer, "peer"), Session(peer), name, TextOrDash(path, "class"),
           TextOrDash(path, "op"), SourcePort(path), overdue ? "OVERDUE" : outcome,
           HumanSeconds(NumberField(path, "p50_seconds")),
           HumanSeconds(NumberField(path, "p99_seconds"))},
          note};
}

void AppendPeer(const json::object& peer, Hops hops, PeerList& list) {
  ++list.peers;
  if (BoolField(peer, "up").value_or(false)) ++list.up;
  if (const auto problem = TextField(peer, "problem")) {
    list.problems += Wrap(
        fmt::format("{} ({}): {}", TextOrDash(peer, "peer"), TextOrDash(peer, "address"), *problem),
        0);
  }
  const json::array* const paths = ArrayField(peer, "paths");
  if (paths == nullptr || paths->empty()) {
    list.rows.push_back({{TextOrDash(peer, "peer"), Session(peer), "no path"}, ""});
    return;
  }
  Said said;
  for (const json::object* const path : Objects(*paths)) {
    const bool overdue = BoolField(*path, "overdue").value_or(false);
    ++list.series;
    if (overdue) ++list.overdue;
    list.rows.push_back(PathRow(peer, *path, overdue, hops, said));
  }
}

std::string Count(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// "http http://sd.example/rdma: 2 peers, read 1 min 30 s ago; CANNOT BE READ now".
std::string SourceText(const json::object& source) {
  const std::optional<double> age = NumberField(source, "age_seconds");
  std::string text =
      fmt::format("{} {}: {}, {}", TextOrDash(source, "kind"), TextOrDash(source, "source"),
                  Count(CountField(source, "peers").value_or(0), "peer", "peers"),
                  age ? "read " + HumanAge(age) + " ago" : "never read");
  if (BoolField(source, "success") == false) text += "; CANNOT BE READ now";
  return text;
}

}  // namespace

Result<std::string> PortsText(std::string_view text) {
  const Result<json::object> answer = ParseObject(text, "the list of ports");
  if (!answer) return tl::unexpected(answer.error());
  const Result<const json::array*> ports = RequiredArray(*answer, "ports");
  if (!ports) return tl::unexpected(ports.error());
  if ((*ports)->empty()) return "This host has no RDMA ports.\n";
  std::vector<Row> rows;
  for (const json::object* const port : Objects(**ports)) rows.push_back(PortRow(*port));
  return RenderTable({{"PORT"},
                      {"NETDEV"},
                      {"PROTOCOL"},
                      {"STATE"},
                      {"RATE", Align::kRight},
                      {"PFC"},
                      {"GID (INDEX)"}},
                     rows);
}

Result<std::string> PeersText(std::string_view text, Hops hops) {
  const Result<json::object> answer = ParseObject(text, "the list of peers");
  if (!answer) return tl::unexpected(answer.error());
  const Result<const json::array*> peers = RequiredArray(*answer, "peers");
  if (!peers) return tl::unexpected(peers.error());
  if ((*peers)->empty()) return "No peers are configured, so nobody is probed.\n";
  PeerList list;
  for (const json::object* const peer : Objects(**peers)) AppendPeer(*peer, hops, list);
  return RenderTable({{"PEER"},
                      {"UP"},
                      {"PATH"},
                      {"CLASS"},
                      {"OP"},
                      {"SPORT"},
                      {"LAST"},
                      {"P50", Align::kRight},
                      {"P99", Align::kRight}},
                     list.rows) +
         list.problems +
         fmt::format("{} of {} up; {}, {} overdue\n", list.up, Count(list.peers, "peer", "peers"),
                     Count(list.series, "probed path", "probed paths"), list.overdue);
}

Result<std::string> StatusText(std::string_view text) {
  const Result<json::object> answer = ParseObject(text, "the daemon's status");
  if (!answer) return tl::unexpected(answer.error());
  const json::object& status = *answer;
  const std::optional<bool> maintenance = BoolField(status, "maintenance");
  std::string running = HumanAge(NumberField(status, "uptime_seconds"));
  if (const auto epoch = CountField(status, "epoch")) running += ", since " + HumanTime(epoch);
  const std::vector<std::pair<std::string_view, std::string>> lines = {
      {"host", TextOrDash(status, "host")},
      {"version", TextOrDash(status, "version")},
      {"running", running},
      {"maintenance", !maintenance   ? kUnknown
                      : *maintenance ? "ON"
                                     : "off"},
      {"RDMA devices", CountOrDash(status, "devices")},
      {"loop late", HumanSeconds(NumberField(status, "loop_late_seconds")) + " at worst in 10 s"},
      {"peers up", CountOrDash(status, "peers_up") + " of " + CountOrDash(status, "peers")},
  };
  std::string out;
  for (const auto& [name, value] : lines) out += fmt::format("{:<14}{}\n", name, value);
  if (const json::array* const sources = ArrayField(status, "discovery")) {
    for (const json::object* const source : Objects(*sources)) {
      out += fmt::format("{:<14}{}\n", "peer list", SourceText(*source));
    }
  }
  return out;
}

}  // namespace rdmapulse::cli
