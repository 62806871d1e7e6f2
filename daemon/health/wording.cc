#include "daemon/health/wording.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace rdmapulse::health {
namespace {

constexpr double kSureMedium = 0.6;
constexpr double kSureHigh = 0.9;

struct UnitWords {
  std::string_view json;
  std::string_view one;  // "packet"
  std::string_view many;
};

UnitWords WordsOf(Unit unit) {
  switch (unit) {
    case Unit::kRatio:
    case Unit::kLineShare:
    case Unit::kPacketRatio: return {"ratio", "", ""};
    case Unit::kPackets: return {"packets", "packet", "packets"};
    case Unit::kErrors: return {"events", "error", "errors"};
    case Unit::kEvents: return {"events", "event", "events"};
    case Unit::kFrames: return {"frames", "frame", "frames"};
    case Unit::kPeers: return {"peers", "peer", "peers"};
    case Unit::kProbes: return {"probes", "probe", "probes"};
    case Unit::kPaths: return {"paths", "path", "paths"};
    case Unit::kBins: return {"intervals", "interval", "intervals"};
    case Unit::kStorms: return {"storms", "storm", "storms"};
    case Unit::kBlocks: return {"blocks", "short block", "short blocks"};
    case Unit::kTimes: return {"times", "time", "times"};
    case Unit::kPerSecond: return {"per_second", "", ""};
    case Unit::kPerHour: return {"per_hour", "", ""};
    case Unit::kSeconds: return {"seconds", "", ""};
    case Unit::kMicroseconds: return {"microseconds", "", ""};
    case Unit::kFactor: return {"factor", "", ""};
    case Unit::kSourcePort: return {"sport", "", ""};
    case Unit::kDetail:
    case Unit::kNone: return {"", "", ""};
  }
  return {"", "", ""};
}

std::string Percent(double share) {
  const double percent = share * 100;
  if (percent == 0 || percent >= 10) return fmt::format("{:.0f} %", percent);
  return percent >= 0.001 ? fmt::format("{:.2g} %", percent) : fmt::format("{:.0e} %", percent);
}

std::string Count(double value) {
  if (value < 10'000'000) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g} million", value / 1e6);
}

std::string Amount(double value, Unit unit) {
  switch (unit) {
    case Unit::kRatio: return Percent(value);
    case Unit::kLineShare: return value == 0 ? "nothing" : Percent(value) + " of line rate";
    case Unit::kPacketRatio:
      if (value >= 0.001) return Percent(value) + " of the packets";
      return value > 0 ? fmt::format("{:.2g} of the packets", value) : "none of the packets";
    case Unit::kPerSecond: return Count(value) + " a second";
    case Unit::kPerHour: return Count(value) + " an hour";
    case Unit::kSeconds:
      if (value > 0 && value < 0.01) return fmt::format("{:.2g} ms", value * 1e3);
      return value < 120 ? fmt::format("{:.3g} s", value) : fmt::format("{:.0f} min", value / 60);
    case Unit::kMicroseconds:
      if (value < 1000) return fmt::format("{:.3g} µs", value);
      return value < 1e6 ? fmt::format("{:.3g} ms", value / 1e3)
                         : fmt::format("{:.3g} s", value / 1e6);
    case Unit::kFactor:
      return value < 1000 ? fmt::format("{:.3g} times", value) : Count(value) + " times";
    case Unit::kSourcePort: return fmt::format("UDP source port {:.0f}", value);
    case Unit::kNone:
    case Unit::kDetail: return {};
    default: break;
  }
  const UnitWords words = WordsOf(unit);
  return fmt::format("{} {}", Count(value), std::round(value) == 1 ? words.one : words.many);
}

// "{priority 3 of }{port mlx5_0/1}", without what is not known.
std::string PortText(const PortName& port) {
  if (port.device.empty()) return "the RDMA port";
  return port.port ? fmt::format("{}/{}", port.device, *port.port) : port.device;
}

std::string PriorityText(const Subject& subject) {
  return subject.priority ? fmt::format("priority {}", *subject.priority) : "the lossless priority";
}

}  // namespace

Evidence InWords(const Fact& fact, std::string_view detail) {
  std::string text(fact.text);
  if (const std::size_t hole = text.find("{}"); hole != std::string::npos) {
    text.replace(hole, 2, Amount(fact.value, fact.unit));
  }
  if (fact.unit == Unit::kDetail) text += detail;
  return {std::move(text), fact.value, std::string(WordsOf(fact.unit).json), fact.time};
}

std::string Where(const Subject& subject) {
  std::string where;
  if (!subject.peer.empty()) {
    where = "peer " + subject.peer;
    if (!subject.traffic_class.empty()) where += ", " + subject.traffic_class + " class";
    return where;
  }
  if (subject.priority) where = PriorityText(subject) + " of ";
  return where + PortText(subject.port);
}

std::string_view HowSure(double confidence) {
  if (confidence < kSureMedium) return "low";
  return confidence < kSureHigh ? "medium" : "high";
}

std::string Line(const Finding& finding) {
  std::string line = fmt::format(
      "{:.3f} {} {} {} {} {}, confidence {:.2f}",
      std::chrono::duration<double>(finding.time).count(), finding.host, Name(finding.condition),
      Name(finding.state), Name(finding.severity), Where(finding.subject), finding.confidence);
  // The facts are those of its last sign.
  const bool over = finding.state == State::kClearing || finding.state == State::kOk;
  const char* separator = over ? ": its last sign: " : ": ";
  for (const Evidence& evidence : finding.evidence) {
    line += separator + evidence.text;
    separator = "; ";
  }
  if (finding.not_) {
    line += fmt::format("; not {}: {}", Name(finding.not_->condition), finding.not_->because);
  }
  if (finding.explained_by) line += "; explained by " + *finding.explained_by;
  return line;
}

std::string Advice(const Finding& finding, const Judgement& judgement) {
  const Subject& subject = finding.subject;
  const std::string port = PortText(subject.port);
  const std::string priority = PriorityText(subject);
  const std::string& host = finding.host;
  std::string text;
  if (finding.explained_by) text = "This follows from another finding; mend that one first. ";
  if (judgement.global_pause) {
    text +=
        "Pause is global at this port: for lossless RDMA switch it off (`ethtool -A`) and PFC on, "
        "at both ends. ";
  }
  switch (finding.condition) {
    case Condition::kLinkDown:
      if (judgement.waits) {
        return text + fmt::format(
                          "Port {} of {} waits for its subnet manager. See that one runs in this "
                          "subnet (OpenSM, or a switch's) and what its log says of this port.",
                          port, host);
      }
      return text + fmt::format(
                        "The link of {} on {} is down. Look at the switch port at its other "
                        "end, then reseat or replace the cable or module.",
                        port, host);
    case Condition::kLinkFlap:
      return text + fmt::format(
                        "The link of {} on {} goes down and up. Drain the port, then clean, "
                        "reseat or replace the cable or module; compare the error counters "
                        "of both ends.",
                        port, host);
    case Condition::kOptics:
      return text + fmt::format(
                        "The link of {} on {} is failing: plan to clean, reseat or replace "
                        "the cable or module before it goes down; check module temperature "
                        "and received power.",
                        port, host);
    case Condition::kDeviceLost:
      return text + fmt::format(
                        "{} on {} went away: firmware reset, driver unload or a PCIe fault. "
                        "Read the kernel log, then reload the driver or power-cycle.",
                        subject.port.device.empty() ? "The device" : subject.port.device, host);
    case Condition::kStormSource:
      return fmt::format(
          "{} on {} keeps telling its switch to stop sending {}, and other hosts are blocked "
          "because of it. Isolate it now: shut the switch port or bring the interface down. Then "
          "collect a firmware dump, check PCIe errors and whether the OS or a GPU hangs, and "
          "power-cycle; a link reset is often not enough. To prevent it, enable the NIC's "
          "pause-storm prevention and the switches' PFC watchdog.",
          port, host, priority);
    case Condition::kEgressBlocked:
      return text + fmt::format(
                        "Nothing leaves {} on {} on {}: its switch says stop. The cause is "
                        "elsewhere. Find the host that pauses without end (storm_source); if "
                        "no host does, the switches wait for each other.",
                        port, host, priority);
    case Condition::kDeadlockCandidate:
      return text +
             fmt::format(
                 "Nothing of {} leaves {} on {} any more. If several hosts under two or more ToRs "
                 "say so and no "
                 "host pauses, it is a PFC deadlock: bounce PFC or one port of a switch on "
                 "the cycle, or "
                 "let the PFC watchdog drop. Then look for a route that goes down and up "
                 "again, and for "
                 "flooded lossless traffic.",
                 priority, port, host);
    case Condition::kWatchdogCut:
      return text + fmt::format(
                        "A switch's PFC watchdog keeps cutting {} of {}, which loses packets. "
                        "Find the host that pauses, or the cycle of switches; the watchdog's "
                        "log names the switch port.",
                        priority, port);
    case Condition::kSlowReceiver:
      return text +
             fmt::format(
                 "{} drains {} too slowly and pauses its switch. Check the PCIe link's width and "
                 "speed, "
                 "IOMMU and relaxed ordering, huge pages, NUMA placement, CPU frequency and memory-"
                 "bandwidth hogs.",
                 host, port);
    case Condition::kRnrStarved:
      return judgement.peer_side
                 ? text + fmt::format(
                              "Applications at peers of {} run out of receive buffers; this "
                              "host is not the cause. Post more receives there.",
                              host)
                 : text + fmt::format(
                              "An application on {} runs out of receive buffers: post more "
                              "receives, raise the SRQ watermark.",
                              host);
    case Condition::kPeerDown:
      return text + fmt::format(
                        "Host {} is down or its agent crashed: not a fabric fault. Look at "
                        "its console or power.",
                        subject.peer);
    case Condition::kPeerOverloaded:
      return text + fmt::format(
                        "Host {} is overloaded or its agent is stopped; its NIC answers: not "
                        "a fabric fault. Look at its CPU load.",
                        subject.peer);
    case Condition::kAgentRestart:
      return text + fmt::format("The agent on {} was restarted: nothing to do.", subject.peer);
    case Condition::kLosslessLoss:
      return text +
             fmt::format(
                 "Packets of the lossless class are lost at {} on {}. With FCS errors: replace the "
                 "cable or "
                 "module. Without, under load: check PFC and its headroom for {} on the host and "
                 "every "
                 "hop. See which peers and paths are hit (rdmapulse peers), and drain that link.",
                 port, host, priority);
    case Condition::kPathLoss:
      if (judgement.peer_side) {
        return text + fmt::format(
                          "A peer of {} does not answer, or nothing gets to it (transport retry "
                          "exceeded, status 12). The application that failed names the peer: see "
                          "whether it and its process live, then the way there (rdmapulse peers).",
                          port);
      }
      return text +
             fmt::format(
                 "Packets {} are lost. See which paths are hit (rdmapulse peers): "
                 "drain that link or take that switch out of ECMP.",
                 subject.peer.empty() ? "on " + priority + " of " + port : "to " + subject.peer);
    case Condition::kIwarpRetx:
      return text + fmt::format(
                        "TCP under {} sends again and again. Find the lossy hop, check MTU, "
                        "firewalls and offloads on the way.",
                        port);
    case Condition::kConfig:
      if (!subject.peer.empty()) {
        return text + fmt::format(
                          "{} and {} are not set alike. Set the one that differs from the rest "
                          "of the fabric as the others are.",
                          host, subject.peer);
      }
      return text + fmt::format(
                        "Settings of {} on {} differ from what lossless traffic needs. Set "
                        "each that the evidence names as it is on a host that is well.",
                        port, host);
    case Condition::kIbCredit:
      return text + fmt::format(
                        "{} waits for credits. Look for a slow receiver and at the switches' "
                        "xmit wait; if no data moves at many ports, check the routing "
                        "engine for a credit loop.",
                        port);
    case Condition::kCongestion:
      return text + fmt::format(
                        "Traffic of {} meets a full queue. At a receiver near line rate: too many "
                        "senders, check "
                        "placement and the collective's schedule. At a paused sender: the "
                        "congestion is ahead. "
                        "Check that ECN marks well before PFC pauses, and for ECMP collisions.",
                        port);
    case Condition::kHolVictim:
      return text +
             fmt::format(
                 "Traffic of {} of {} is slowed by pauses that others cause; nothing to mend "
                 "here. Find the host or link at the root.",
                 priority, port);
  }
  return text;
}

}  // namespace rdmapulse::health
