#include "daemon/locate/components.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace rdmapulse::locate {
namespace {

constexpr char kLinkSign = '>';

class Collector {
 public:
  void Add(Kind kind, const std::string& name, std::size_t tally) {
    const auto [place, is_new] = places_.try_emplace({kind, name}, components_.size());
    if (is_new) components_.push_back({.part = {.kind = kind, .name = name}, .tallies = {}});
    std::vector<std::size_t>& tallies = components_[place->second].tallies;
    // A record may pass one component twice, asking and answering.
    if (tallies.empty() || tallies.back() != tally) tallies.push_back(tally);
  }
  std::vector<Component> Take() { return std::move(components_); }

 private:
  std::map<std::pair<Kind, std::string>, std::size_t> places_;
  std::vector<Component> components_;
};

std::set<std::string> HostsWithSeveralNics(const std::vector<Nic>& nics) {
  std::map<std::string, std::size_t> count;
  for (const Nic& nic : nics) ++count[nic.host];
  std::set<std::string> hosts;
  for (const auto& [host, nics_of_host] : count) {
    if (nics_of_host > 1) hosts.insert(host);
  }
  return hosts;
}

void AddSwitches(const std::vector<std::string>& switches, std::size_t tally,
                 Collector& collector) {
  for (std::size_t i = 0; i < switches.size(); ++i) {
    if (i > 0) collector.Add(Kind::kLink, switches[i - 1] + kLinkSign + switches[i], tally);
    if (i > 0 && i + 1 < switches.size()) collector.Add(Kind::kSwitch, switches[i], tally);
  }
}

// Between the two NICs.
void AddFabric(const Nic& source, const Nic& destination, const Record& record, std::size_t tally,
               Collector& collector) {
  for (const std::string& tor : {source.tor, destination.tor}) {
    if (!tor.empty()) collector.Add(Kind::kTor, tor, tally);
  }
  if (record.hops) {
    AddSwitches(record.hops->request, tally, collector);
    AddSwitches(record.hops->response, tally, collector);
    return;
  }
  if (source.tor.empty() || destination.tor.empty() || source.tor == destination.tor) return;
  collector.Add(Kind::kUplinks, source.tor, tally);
  collector.Add(Kind::kUplinks, destination.tor, tally);
  collector.Add(Kind::kCore, "", tally);
}

std::string PathName(const Nic& source, const Nic& destination, const Record& record) {
  std::string name = NicName(source) + ">" + NicName(destination);
  if (record.sport) name += " sport " + std::to_string(*record.sport);
  return name;
}

}  // namespace

std::string NicName(const Nic& nic) { return nic.host + " " + nic.port; }

std::pair<std::string, std::string> LinkEnds(const Part& link) {
  const std::size_t middle = link.name.find(kLinkSign);
  return {link.name.substr(0, middle), link.name.substr(middle + 1)};
}

std::vector<Component> Components(const Window& window, const std::vector<Tally>& tallies) {
  const std::set<std::string> several = HostsWithSeveralNics(window.nics);
  Collector collector;
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    const Record& record = window.records[tallies[i].record];
    const Nic& source = window.nics[record.source];
    const Nic& destination = window.nics[record.destination];
    if (tallies[i].bad > 0) collector.Add(Kind::kPath, PathName(source, destination, record), i);
    for (const Nic* const nic : {&source, &destination}) {
      collector.Add(Kind::kNic, NicName(*nic), i);
      if (several.contains(nic->host)) collector.Add(Kind::kHost, nic->host, i);
    }
    AddFabric(source, destination, record, i, collector);
  }
  return collector.Take();
}

}  // namespace rdmapulse::locate
