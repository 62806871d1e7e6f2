#include "daemon/choose_peers.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "probes/selection.h"

namespace rdmapulse {
namespace {

std::string_view LabelOf(const config::Labels& labels, const char* name) {
  const auto found = labels.find(name);
  return found == labels.end() ? std::string_view() : found->second;
}

probes::SelectionHost HostOf(std::string_view name, const config::Labels& labels) {
  return {.name = name, .tor = LabelOf(labels, "tor"), .rail = LabelOf(labels, "rail")};
}

probes::SelectionRules RulesOf(const PeerQuestion& question) {
  const config::Selection& selection = question.selection;
  const std::size_t taken = question.configured.size();
  return {.tor_mesh = selection.tor_mesh,
          .sampled = selection.sampled,
          .aligned = selection.rails == "aligned",
          .redraw = std::chrono::duration_cast<std::chrono::seconds>(selection.redraw),
          .peers_max = question.peers_max - static_cast<std::uint32_t>(
                                                std::min<std::size_t>(question.peers_max, taken))};
}

double PerSecond(std::chrono::milliseconds interval) {
  return 1 / std::chrono::duration<double>(interval).count();
}

// To a port of a peer: the streams of a class take turns, and its datagrams go by the first.
double ProbesPerSecond(const config::Class& traffic_class, const config::Ud& ud) {
  const double datagrams = ud.interval.count() > 0 ? PerSecond(ud.interval) : 0;
  return static_cast<double>(config::SentOps(traffic_class)) * PerSecond(traffic_class.interval) +
         datagrams;
}

}  // namespace

PeerChoice ChoosePeers(const PeerQuestion& question) {
  std::vector<const std::vector<config::Peer>*> sources;
  sources.reserve(question.lists.size());
  for (const auto& list : question.lists) sources.push_back(&list->peers);
  discovery::PeerList list = discovery::MergePeers(question.configured, sources, question.self);

  const probes::SelectionHost self = list.self ? HostOf(list.self->name, list.self->labels)
                                               : HostOf(question.self.name, question.labels);
  std::vector<probes::SelectionHost> others;
  others.reserve(list.discovered.size() + list.listed.size());
  // Listed hosts that are configured as well are probed anyway, but everybody else's graph has
  // them.
  for (const auto* peers : {&list.discovered, &list.listed}) {
    for (const config::Peer& peer : *peers) others.push_back(HostOf(peer.name, peer.labels));
  }
  const probes::SelectionRules rules = RulesOf(question);
  const probes::Selection chosen = probes::Select(self, others, rules, question.unix_time);

  PeerChoice choice;
  choice.problems = std::move(list.problems);
  choice.counts = {.known = list.configured.size() + list.discovered.size(),
                   .configured = list.configured.size(),
                   .mesh = 0,
                   .sample = 0};
  choice.is_listed = list.self.has_value();
  if (chosen.mesh_cut || chosen.sample_cut) {
    choice.problems.push_back(
        "the budget holds " + std::to_string(rules.peers_max) + " discovered peers: " +
        (chosen.mesh_cut ? "this ToR has more hosts, so each probes some of them"
                         : "selection.sampled asks for more") +
        "; raise budget or lower the ops of classes");
  }
  choice.probed = std::move(list.configured);
  std::vector<bool> is_probed(list.discovered.size());
  for (const auto& [indices, count] : {std::pair(&chosen.mesh, &choice.counts.mesh),
                                       std::pair(&chosen.sample, &choice.counts.sample)}) {
    for (const std::size_t i : *indices) {
      if (i >= list.discovered.size()) continue;  // configured
      ++*count;
      is_probed[i] = true;
      choice.probed.push_back(list.discovered[i]);
    }
  }
  std::vector<config::Peer> rest;
  for (std::size_t i = 0; i < list.discovered.size(); ++i) {
    if (!is_probed[i]) rest.push_back(std::move(list.discovered[i]));
  }
  choice.guests = std::make_shared<const peers::Guests>(peers::MakeGuests(rest));
  return choice;
}

std::uint32_t PeersAffordable(const config::Config& config, std::size_t ports_per_nic,
                              std::size_t ports) {
  const bool full = config.selection.rails == "full";
  // A peer is taken to have as many ports as we have.
  const auto paths = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(ports_per_nic * (full ? ports : 1), 1, 4096));
  constexpr std::uint32_t kClasses = 2;
  const double rate = ProbesPerSecond(config.classes.lossless, config.ud) +
                      ProbesPerSecond(config.classes.control, config.ud);
  return probes::PeersPerNic(config.budget.qps_per_nic, config.budget.probes_per_second_per_nic,
                             kClasses * paths, rate * paths);
}

}  // namespace rdmapulse
