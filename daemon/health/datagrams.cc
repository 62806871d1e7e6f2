// What datagrams add to what RC probes say: packets that are lost outright, and ways through the
// fabric that no queue pair takes. Each asks the peer's daemon, so that by themselves they prove
// little.
#include <algorithm>
#include <set>

#include "daemon/health/detectors.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;
using enum Unit;

constexpr std::uint32_t kInARow =
    3;  // as often as a way is tried that lost one (probes/companion.h)
constexpr double kSureAtMost = 0.7;

}  // namespace

ProbeBook::DatagramsNow ProbeBook::Datagrams(const std::string& peer, ProbeClass traffic_class,
                                             Time since, Time now) const {
  DatagramsNow all;
  std::set<std::int64_t> bins;
  std::vector<Time> dead_since;
  Time last_answered = kNever;
  for (const auto& [path, history] : PathsTo(peer)) {
    if (path.traffic_class != traffic_class || KindOf(path) != ProbeKind::kDatagram) continue;
    const Time from = std::max(since, Disturbed(path.local));
    std::uint32_t in_a_row = 0;
    bool broken = false;
    Time first{};
    for (auto it = history.seen.rbegin(); it != history.seen.rend(); ++it) {
      if (now - it->time > Time(60s) || it->posted <= from) break;
      if (it->Lost()) {
        ++all.lost;
        all.last_lost = std::max(all.last_lost, it->time);
        bins.insert(it->time / Time(10s));
        in_a_row += broken ? 0 : 1;
        first = it->posted;
      } else {
        broken = true;
        ++all.answered;
        last_answered = std::max(last_answered, it->posted);
      }
    }
    // A way whose source port is not known may be several.
    if (path.sport && in_a_row >= kInARow) dead_since.push_back(first);
  }
  all.bins = static_cast<std::uint32_t>(bins.size());
  all.dead_ways = static_cast<std::uint32_t>(
      std::count_if(dead_since.begin(), dead_since.end(),
                    [last_answered](Time time) { return last_answered > time; }));
  return all;
}

// RC probes to the peer are well.
bool JudgeByDatagrams(const ProbeBook::DatagramsNow& datagrams, const Context& context,
                      Judgement& judgement) {
  const config::LossSettings& settings = context.settings.loss;
  const bool repeated = datagrams.lost >= settings.events && datagrams.bins >= settings.bins;
  // Without one that is answered the peer's daemon may be what does not.
  if (datagrams.answered == 0 || (datagrams.dead_ways == 0 && !repeated)) return false;
  judgement.signs = datagrams.dead_ways > 0 ? Signs::kActive : Signs::kSuspect;
  judgement.severity = Severity::kWarning;
  judgement.weight.Add(weight::kSessionUp);
  judgement.weight.Add(weight::kPersistent);
  judgement.weight.Cap(kSureAtMost);
  judgement.Say("{} sent as datagrams were lost in the last minute", datagrams.lost, kProbes,
                datagrams.last_lost);
  judgement.Say("{} sent as datagrams were answered meanwhile", datagrams.answered, kProbes,
                context.now);
  if (datagrams.dead_ways > 0) {
    judgement.Say(
        "three in a row were lost on {} that only datagrams take, others work: one way "
        "through the fabric is bad",
        datagrams.dead_ways, kPaths, context.now);
  }
  return true;
}

void SayDatagrams(const ProbeBook::DatagramsNow& datagrams, const Context& context,
                  Judgement& judgement) {
  if (datagrams.lost > 0 && datagrams.answered == 0) {
    judgement.Say("{} sent as datagrams met the same: none was answered", datagrams.lost, kProbes,
                  context.now);
  } else if (datagrams.lost > 0) {
    judgement.Say("{} sent as datagrams were lost, others came through: packets die on the way",
                  datagrams.lost, kProbes, context.now);
  } else if (datagrams.answered > 0) {
    judgement.Say("{} sent as datagrams came through meanwhile", datagrams.answered, kProbes,
                  context.now);
  }
}

}  // namespace rdmapulse::health
