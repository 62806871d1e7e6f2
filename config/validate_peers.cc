#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "config/address.h"
#include "config/labels.h"
#include "config/validate.h"
#include "config/wording.h"

namespace rdmapulse::config {
namespace {

constexpr std::size_t kLabelsMax = 32;

void ValidateName(const Peer& peer, const std::string& key, Report& report) {
  if (!IsHostName(peer.name)) {
    report.Error(key, Quoted(peer.name) + " is not a peer's name; " + std::string(kHostNameAdvice));
  }
}

// What is already taken, and by which peer.
struct Seen {
  std::map<std::string, std::size_t, std::less<>> names;
  std::map<std::pair<std::string, std::uint16_t>, std::size_t> addresses;
};

std::string Place(std::size_t index, Report& report) {
  const std::string key = "peers[" + std::to_string(index) + "]";
  return key + " in line " + std::to_string(report.PositionOf(key).line);
}

void ValidateAddress(const Config& config, std::size_t index, const std::string& key, Seen& seen,
                     Report& report) {
  const Peer& peer = config.peers[index];
  const Result<Address> address = ParseAddress(peer.address);
  if (!address) return report.Error(key, address.error().Text());
  const auto [other, is_new] = seen.addresses.try_emplace({address->host, address->port}, index);
  if (is_new) return;
  report.Error(key, Quoted(peer.address) + " is the address of the peer " +
                        Quoted(config.peers[other->second].name) + " (" +
                        Place(other->second, report) +
                        ") too; two daemons on one host need different ports");
}

}  // namespace

void ValidateLabels(const Labels& labels, const std::string& key, std::string_view taken,
                    Report& report) {
  if (labels.size() > kLabelsMax) {
    report.Error(key, "has " + std::to_string(labels.size()) + " labels; use at most " +
                          std::to_string(kLabelsMax));
    return;
  }
  for (const auto& [name, value] : labels) {
    if (auto problem = LabelProblem(name, value, taken)) {
      report.Error(Under(key, name), *std::move(problem));
    }
  }
}

void ValidatePeers(const Config& config, Report& report) {
  Seen seen;
  for (std::size_t i = 0; i < config.peers.size(); ++i) {
    const Peer& peer = config.peers[i];
    const std::string key = "peers[" + std::to_string(i) + "]";
    // A peer that was not read whole has its problem already.
    if (!report.Failed(key)) {
      ValidateName(peer, key + ".name", report);
      const auto [other, is_new] = seen.names.try_emplace(peer.name, i);
      if (!is_new) {
        report.Error(key + ".name", Quoted(peer.name) + " is the name of " +
                                        Place(other->second, report) +
                                        " too; every peer needs its own");
      }
      ValidateAddress(config, i, key + ".address", seen, report);
    }
    ValidateLabels(peer.labels, key + ".labels", "peer", report);
  }
}

}  // namespace rdmapulse::config
