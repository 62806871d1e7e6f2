#include "tests/lab/switch/control.h"

#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>

#include "daemon/base/result.h"

namespace rdmapulse::lab {
namespace {

// Some 200 full frames: a deep queue, so that a rate limit first shows as latency.
constexpr std::size_t kQueueBytesDefault = 300'000;

using Words = std::map<std::string, std::string, std::less<>>;

Words SplitWords(std::istringstream& in) {
  Words words;
  for (std::string word; in >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      words.emplace(word, "");
    } else {
      words.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  return words;
}

// Takes the word out, so that what is left over at the end is what nobody knew.
std::optional<std::string> Take(Words& words, std::string_view key) {
  const auto found = words.find(key);
  if (found == words.end()) return std::nullopt;
  return std::move(words.extract(found).mapped());
}

Result<std::optional<double>> TakeNumber(Words& words, std::string_view key, double min,
                                         double max) {
  const std::optional<std::string> text = Take(words, key);
  if (!text) return std::optional<double>();
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  // Written so that a NaN fails it.
  if (error != std::errc() || end != text->data() + text->size() ||
      !(value >= min && value <= max)) {
    std::ostringstream range;
    range << min << " to " << max;
    return Fail({key, "=", *text, " is not a number from ", range.str()});
  }
  return std::optional<double>(value);
}

Result<std::optional<PortId>> TakePort(const FabricSwitch& fabric, Words& words,
                                       std::string_view key) {
  const std::optional<std::string> name = Take(words, key);
  if (!name) return std::optional<PortId>();
  const std::optional<PortId> port = fabric.FindPort(*name);
  if (!port) return Fail({"no port is named ", *name});
  return port;
}

Result<Match> TakeMatch(const FabricSwitch& fabric, Words& words) {
  Match match;
  const auto from = TakePort(fabric, words, "from");
  if (!from) return tl::unexpected(from.error());
  match.from = *from;
  const auto to = TakePort(fabric, words, "to");
  if (!to) return tl::unexpected(to.error());
  match.to = *to;
  const auto dscp = TakeNumber(words, "dscp", 0, 63);
  if (!dscp) return tl::unexpected(dscp.error());
  if (*dscp) match.dscp = static_cast<std::uint8_t>(**dscp);
  const auto sport = TakeNumber(words, "sport", 0, 65535);
  if (!sport) return tl::unexpected(sport.error());
  if (*sport) match.udp_source_port = static_cast<std::uint16_t>(**sport);
  const auto larger = TakeNumber(words, "larger", 0, 65535);
  if (!larger) return tl::unexpected(larger.error());
  if (*larger) match.larger_than = static_cast<std::size_t>(**larger);
  return match;
}

Duration Microseconds(double value) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::micro>(value));
}

Result<Action> TakeAction(Words& words) {
  constexpr double kMicrosecondsMax = 600e6;  // ten minutes: nothing waits longer for a frame
  const auto drop = TakeNumber(words, "drop", 0, 1);
  if (!drop) return tl::unexpected(drop.error());
  const auto delay = TakeNumber(words, "delay_us", 0, kMicrosecondsMax);
  if (!delay) return tl::unexpected(delay.error());
  const auto jitter = TakeNumber(words, "jitter_us", 0, kMicrosecondsMax);
  if (!jitter) return tl::unexpected(jitter.error());
  const auto rate = TakeNumber(words, "rate_bps", 1, 1e12);
  if (!rate) return tl::unexpected(rate.error());
  const auto queue = TakeNumber(words, "queue_bytes", 1, 1e9);
  if (!queue) return tl::unexpected(queue.error());
  const auto ecn = TakeNumber(words, "ecn", 0, 1);
  if (!ecn) return tl::unexpected(ecn.error());
  const bool blackhole = Take(words, "blackhole").has_value();
  const bool not_ect_too = Take(words, "not_ect_too").has_value();
  if (drop->has_value() + delay->has_value() + rate->has_value() + ecn->has_value() + blackhole !=
      1) {
    return Fail({"a rule has exactly one of drop, blackhole, delay, rate, ecn"});
  }
  if ((*jitter && !*delay) || (*queue && !*rate) || (not_ect_too && !*ecn)) {
    return Fail({"jitter belongs to delay, queue to rate, not_ect_too to ecn"});
  }
  if (*drop) return Action(Drop{**drop});
  if (*delay) return Action(Delay{Microseconds(**delay), Microseconds(jitter->value_or(0))});
  if (*rate) {
    return Action(RateLimit{**rate, static_cast<std::size_t>(queue->value_or(kQueueBytesDefault))});
  }
  if (*ecn) return Action(MarkEcn{**ecn, not_ect_too});
  return Action(Blackhole{});
}

Result<std::string> Add(FabricSwitch& fabric, Words words) {
  const Result<Match> match = TakeMatch(fabric, words);
  if (!match) return tl::unexpected(match.error());
  const Result<Action> action = TakeAction(words);
  if (!action) return tl::unexpected(action.error());
  if (!words.empty()) return Fail({"unknown word ", words.begin()->first});
  const Result<RuleId> id = fabric.Rules().Add(*match, *action);
  if (!id) return tl::unexpected(id.error());
  return "ok id=" + std::to_string(*id) + "\n";
}

Result<std::string> Remove(FabricSwitch& fabric, const Words& words) {
  const std::string text = words.size() == 1 ? words.begin()->first : "";
  RuleId id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || !fabric.Rules().Remove(id)) {
    return Fail({"no impairment has the number '", text, "'"});
  }
  return "ok\n";
}

void PrintAction(std::ostringstream& out, const Action& action) {
  const auto microseconds = [](Duration duration) { return Seconds(duration) * 1e6; };
  if (const auto* drop = std::get_if<Drop>(&action)) out << " drop=" << drop->probability;
  if (std::holds_alternative<Blackhole>(action)) out << " blackhole";
  if (const auto* delay = std::get_if<Delay>(&action)) {
    out << " delay_us=" << microseconds(delay->delay)
        << " jitter_us=" << microseconds(delay->jitter);
  }
  if (const auto* limit = std::get_if<RateLimit>(&action)) {
    out << " rate_bps=" << limit->bits_per_second << " queue_bytes=" << limit->queue_bytes;
  }
  if (const auto* mark = std::get_if<MarkEcn>(&action)) {
    out << " ecn=" << mark->probability << (mark->not_ect_too ? " not_ect_too" : "");
  }
}

std::string List(const FabricSwitch& fabric) {
  std::ostringstream out;
  out.precision(12);
  out << "ok\n";
  for (const auto& [id, rule] : fabric.Rules().All()) {
    out << "id=" << id;
    if (rule.match.from) out << " from=" << fabric.Ports()[*rule.match.from].Name();
    if (rule.match.to) out << " to=" << fabric.Ports()[*rule.match.to].Name();
    if (rule.match.dscp) out << " dscp=" << static_cast<int>(*rule.match.dscp);
    if (rule.match.udp_source_port) out << " sport=" << *rule.match.udp_source_port;
    if (rule.match.larger_than) out << " larger=" << *rule.match.larger_than;
    PrintAction(out, rule.action);
    out << " matched=" << rule.counters.matched << " dropped=" << rule.counters.dropped
        << " marked=" << rule.counters.marked << "\n";
  }
  return out.str();
}

std::string Stats(const FabricSwitch& fabric) {
  std::ostringstream out;
  out << "ok\n";
  for (const SwitchPort& port : fabric.Ports()) {
    const PortCounters& counters = port.Counters();
    out << "port=" << port.Name() << " received_frames=" << counters.received_frames
        << " received_bytes=" << counters.received_bytes << " sent_frames=" << counters.sent_frames
        << " sent_bytes=" << counters.sent_bytes << " malformed=" << counters.malformed
        << " impairment_drops=" << counters.impairment_drops
        << " queue_drops=" << counters.queue_drops << " down_drops=" << counters.down_drops
        << " queued=" << port.QueuedFrames() << "\n";
  }
  out << "switch=all learned_addresses=" << fabric.LearnedAddresses()
      << " delayed_frames=" << fabric.DelayedFrames()
      << " delay_line_drops=" << fabric.DelayLineDrops() << "\n";
  return out.str();
}

Result<std::string> Handle(FabricSwitch& fabric, std::string_view line) {
  std::istringstream in{std::string(line)};
  std::string verb;
  in >> verb;
  Words words = SplitWords(in);
  if (verb == "add") return Add(fabric, std::move(words));
  if (verb == "del") return Remove(fabric, words);
  if (verb == "clear") {
    fabric.Rules().Clear();
    return "ok\n";
  }
  if (verb == "list") return List(fabric);
  if (verb == "stats") return Stats(fabric);
  return Fail({"unknown command '", verb, "'"});
}

}  // namespace

std::string HandleControlLine(FabricSwitch& fabric, std::string_view line) {
  const Result<std::string> reply = Handle(fabric, line);
  if (!reply) return "error " + reply.error().Text() + "\n";
  return *reply;
}

}  // namespace rdmapulse::lab
