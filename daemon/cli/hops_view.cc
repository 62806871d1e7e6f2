#include "daemon/cli/hops_view.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "daemon/cli/json_fields.h"
#include "daemon/cli/units.h"

namespace rdmapulse::cli {
namespace {

namespace json = boost::json;

std::string AddressOf(const json::object& hop) { return TextField(hop, "address").value_or("*"); }

}  // namespace

std::string WayText(const json::object& path) {
  const json::array* const hops = ArrayField(path, "hops");
  if (hops == nullptr) return {};
  std::string routers;
  std::string silent;  // of no use unless somebody answers behind them
  for (const json::object* const hop : Objects(*hops)) {
    if (BoolField(*hop, "peer").value_or(false)) {
      routers += silent;
      break;
    }
    const std::string address = AddressOf(*hop);
    if (address == "*") {
      silent += (routers + silent).empty() ? "*" : ", *";
      continue;
    }
    routers += silent;
    silent.clear();
    routers += (routers.empty() ? "" : ", ") + address;
  }
  const std::string ending = TextOrDash(path, "hops_ending");
  std::string way = !routers.empty()   ? "goes by " + routers
                    : ending == "peer" ? "passes no router"
                                       : "meets no router that answers";
  if (!routers.empty() && ending == "silent") way += ", then nothing answers";
  if (ending == "refused") way += ", which forwards nothing";
  if (ending == "too_far") way += " and on";
  way += " (traced " + HumanAge(NumberField(path, "hops_age_seconds")) + " ago)";
  if (const auto change = TextField(path, "hops_change"))
    way += "; went another way before: " + *change;
  return way;
}

std::string HopLine(const json::object& hop, const std::string& peer) {
  std::string line = fmt::format("{:>3}  {}", CountOrDash(hop, "ttl"), AddressOf(hop));
  if (const auto rtt = NumberField(hop, "rtt_seconds")) line += "  " + HumanSeconds(rtt);
  if (BoolField(hop, "peer").value_or(false)) line += fmt::format("  ({})", peer);
  if (const auto refusal = TextField(hop, "refusal")) line += "  forwards nothing: " + *refusal;
  return line + "\n";
}

std::string TraceLine(const json::object& trace, const std::string& path) {
  const std::string prefix = "trace to " + path + ": ";
  if (const auto error = TextField(trace, "error")) return prefix + *error + "\n";
  if (const auto source = TextField(trace, "source")) {
    return prefix + fmt::format("{} > {}, UDP source port {}, DSCP {}, at most {} hops\n", *source,
                                TextOrDash(trace, "destination"), CountOrDash(trace, "sport"),
                                CountOrDash(trace, "dscp"), CountOrDash(trace, "hops_max"));
  }
  std::string text;
  const std::string ending = TextOrDash(trace, "ending");
  if (ending == "silent") {
    text = prefix +
           "nothing answers any more: the peer is behind the last hop that did, or "
           "routers there say nothing\n";
  }
  if (ending == "too_far") text = prefix + "the peer is further away (trace.hops_max)\n";
  if (const auto change = TextField(trace, "change")) {
    text += prefix + "another way than the last time: " + *change + "\n";
  }
  return text;
}

}  // namespace rdmapulse::cli
