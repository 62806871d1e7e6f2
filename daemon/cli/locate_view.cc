#include "daemon/cli/locate_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <set>
#include <string_view>

#include "daemon/cli/table.h"
#include "daemon/cli/units.h"

namespace rdmapulse::cli {
namespace {

namespace json = boost::json;
using locate::Kind;
using locate::Part;
using locate::Standing;
using locate::State;
using locate::Suspect;
using locate::Trouble;

std::string Words(const Part& part) {
  switch (part.kind) {
    case Kind::kPath: return "path " + part.name;
    case Kind::kNic: return "NIC " + part.name;
    case Kind::kHost: return "host " + part.name;
    case Kind::kLink: return "link " + part.name;
    case Kind::kUplinks: return "uplinks of ToR " + part.name;
    case Kind::kTor: return "ToR " + part.name;
    case Kind::kSwitch: return "switch " + part.name;
    case Kind::kCore: return "between the ToRs";
  }
  return part.name;
}

// What a person would take hold of.
std::string_view Meaning(Kind kind) {
  switch (kind) {
    case Kind::kPath: return "one path only: a link or queue that this source port is hashed to";
    case Kind::kNic: return "the port, its cable, or the switch port that it is in";
    case Kind::kHost: return "all its ports: the host itself";
    case Kind::kUplinks:
      return "its links to the spines, or what is behind them; within the ToR all is well";
    case Kind::kCore: return "a spine or several links: no single ToR explains it";
    case Kind::kLink:
    case Kind::kTor:
    case Kind::kSwitch: return "";
  }
  return "";
}

std::string Percent(double share) {
  return fmt::format("{:.{}f} %", share * 100, share < 0.0995 ? 2 : share < 0.995 ? 1 : 0);
}

std::string Count(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string History(const Standing& standing, std::size_t windows) {
  switch (standing.state) {
    case State::kOpen:
    case State::kClearing:
      return windows > 1 ? fmt::format("in {} of {} windows", standing.named_in, windows) : "";
    case State::kNew:
      return windows > 1 ? "in the last window, not often enough yet: ask again in a minute"
                         : "one window cannot tell whether it lasts";
    case State::kFaint: return "only in all windows taken together";
  }
  return "";
}

std::string Note(const Standing& standing, std::size_t windows) {
  const Suspect& suspect = standing.suspect;
  std::string note{Meaning(suspect.parts.front().kind)};
  if (suspect.parts.size() > 1) {
    std::string others;
    for (std::size_t i = 1; i < suspect.parts.size(); ++i) {
      others += (i > 1 ? ", or the " : "the ") + Words(suspect.parts[i]);
    }
    AppendNote("or just as well " + others, note);
  }
  if (suspect.share < 1)
    AppendNote(fmt::format("about {:.0f} % of its paths", suspect.share * 100), note);
  AppendNote(fmt::format("{} of {} probes, on {}, from {}", suspect.bad, suspect.probes,
                         Count(suspect.supporting, "path", "paths"),
                         Count(suspect.source_nics, "NIC", "NICs")),
             note);
  AppendNote(suspect.contradicting == 0
                 ? "nothing contradicts"
                 : Count(suspect.contradicting, "path through it is", "paths through it are") +
                       " better than that",
             note);
  if (const std::string history = History(standing, windows); !history.empty())
    AppendNote(history, note);
  return note;
}

Row SuspectRow(const Standing& standing, std::size_t windows) {
  const Suspect& suspect = standing.suspect;
  const char* const what = suspect.trouble == Trouble::kLoss ? "lost" : "held up";
  return {{fmt::format("{:.2f}", std::min(suspect.confidence, 0.99)),
           std::string(locate::Name(standing.state)), Words(suspect.parts.front()),
           suspect.traffic_class, Percent(suspect.loss) + " " + what},
          Note(standing, windows)};
}

std::set<std::string> Hosts(const locate::Window& window) {
  std::set<std::string> hosts;
  for (const locate::Nic& nic : window.nics) hosts.insert(nic.host);
  return hosts;
}

std::uint64_t Probes(const locate::Window& window) {
  std::uint64_t probes = 0;
  for (const locate::Record& record : window.records) probes += record.probes;
  return probes;
}

// What the data cannot tell, in whole sentences.
std::vector<std::string> Limits(const Located& located) {
  std::vector<std::string> limits;
  if (located.prometheus.empty()) {
    limits.emplace_back(
        "This is what one host sees: it tells its own NIC from a peer and from a single path, not "
        "a "
        "peer's NIC from the way to it, nor a ToR from its uplinks. All hosts together tell more: "
        "--prometheus URL.");
  }
  const bool hops =
      std::any_of(located.together.records.begin(), located.together.records.end(),
                  [](const locate::Record& record) { return record.hops.has_value(); });
  if (!hops) {
    limits.emplace_back(
        "Which switches a path takes is not known: a bad link or spine shows as the uplinks of a "
        "ToR, "
        "or as single paths.");
  }
  const auto without = std::count_if(located.together.nics.begin(), located.together.nics.end(),
                                     [](const locate::Nic& nic) { return nic.tor.empty(); });
  if (without > 0) {
    limits.push_back(fmt::format(
        "{} of {} NICs have no ToR: without host.labels.tor (and labels.tor of a peer) no ToR is "
        "suspected.",
        without, located.together.nics.size()));
  }
  return limits;
}

std::string LeftOut(const Located& located) {
  std::string text;
  for (const locate::Nic& nic : located.together.nics) {
    if (nic.explained.empty()) continue;
    text += Wrap(fmt::format("Left out: {} {} ({}, by its own host's findings).", nic.host,
                             nic.port, nic.explained),
                 0);
  }
  for (const SilentHost& host : located.silent) {
    text +=
        Wrap(fmt::format("Silent: {} does not answer {} of the {} that ask it over TCP: host or "
                         "daemon down; nothing is probed there.",
                         host.host, host.unanswered, Count(host.asking, "host", "hosts")),
             0);
  }
  return text;
}

// Where everything is bad nothing stands out either.
constexpr double kMuch = 0.01;

std::string NothingStandsOut(const locate::Window& window) {
  std::uint64_t bad = 0;
  for (const locate::Record& record : window.records) {
    bad += record.late_blocked + record.late_retx + record.failed;
  }
  const std::uint64_t all = Probes(window);
  const double share = all == 0 ? 0 : static_cast<double>(bad) / static_cast<double>(all);
  if (share < kMuch) {
    return "Nothing stands out: what is lost or held up is no more than everywhere.\n";
  }
  return Wrap(
      fmt::format("Nothing stands out, but not all is well: {:.2g} % of all probes were lost "
                  "or held up, everywhere alike. Look at what all paths have in common.",
                  share * 100),
      0);
}

std::string Looked(const Located& located) {
  return Wrap(
      fmt::format("Looked at {} probes on {} between {} of {}; {} of {} s until {}.",
                  Probes(located.together), Count(located.together.records.size(), "path", "paths"),
                  Count(located.together.nics.size(), "NIC", "NICs"),
                  Count(Hosts(located.together).size(), "host", "hosts"),
                  Count(located.windows, "window", "windows"), located.window_seconds,
                  HumanTime(located.until_us)),
      0);
}

json::object SuspectJson(const Standing& standing) {
  const Suspect& suspect = standing.suspect;
  json::array parts;
  for (const Part& part : suspect.parts) {
    parts.push_back({{"kind", locate::Name(part.kind)}, {"name", part.name}});
  }
  return {{"state", locate::Name(standing.state)},
          {"named_in", standing.named_in},
          {"trouble", locate::Name(suspect.trouble)},
          {"class", suspect.traffic_class},
          {"parts", std::move(parts)},
          {"confidence", suspect.confidence},
          {"gain_nats", suspect.gain_nats},
          {"loss", suspect.loss},
          {"share", suspect.share},
          {"supporting", suspect.supporting},
          {"contradicting", suspect.contradicting},
          {"source_nics", suspect.source_nics},
          {"probes", suspect.probes},
          {"bad", suspect.bad}};
}

}  // namespace

std::string LocatedText(const Located& located) {
  std::string text;
  if (located.standings.empty()) {
    text = NothingStandsOut(located.together);
  } else {
    std::vector<Row> rows;
    for (const Standing& standing : located.standings)
      rows.push_back(SuspectRow(standing, located.windows));
    text = RenderTable(
        {{"SURE", Align::kRight}, {"STATE"}, {"SUSPECT"}, {"CLASS"}, {"PROBES", Align::kRight}},
        rows);
  }
  text += "\n" + LeftOut(located) + Looked(located);
  for (const std::string& limit : Limits(located)) text += Wrap(limit, 0);
  return text;
}

std::string LocatedJson(const Located& located) {
  json::array suspects;
  for (const Standing& standing : located.standings) suspects.push_back(SuspectJson(standing));
  json::array left_out;
  for (const locate::Nic& nic : located.together.nics) {
    if (!nic.explained.empty())
      left_out.push_back({{"host", nic.host}, {"port", nic.port}, {"condition", nic.explained}});
  }
  json::array silent;
  for (const SilentHost& host : located.silent) {
    silent.push_back(
        {{"host", host.host}, {"unanswered", host.unanswered}, {"asking", host.asking}});
  }
  json::array limits;
  for (const std::string& limit : Limits(located)) limits.push_back(json::string(limit));
  const json::object object = {{"source", located.prometheus.empty() ? "daemon" : "prometheus"},
                               {"time_us", located.until_us},
                               {"window_seconds", located.window_seconds},
                               {"windows", located.windows},
                               {"hosts", Hosts(located.together).size()},
                               {"nics", located.together.nics.size()},
                               {"paths", located.together.records.size()},
                               {"probes", Probes(located.together)},
                               {"suspects", std::move(suspects)},
                               {"left_out", std::move(left_out)},
                               {"silent", std::move(silent)},
                               {"limits", std::move(limits)}};
  return json::serialize(object) + "\n";
}

}  // namespace rdmapulse::cli
