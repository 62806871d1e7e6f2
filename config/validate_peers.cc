#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "config/address.h"
#include "config/validate.h"
#include "config/wording.h"

namespace rdmapulse::config {
namespace {

constexpr std::size_t kNameMax = 253;  // as long as a host name can be
constexpr std::size_t kLabelsMax = 32;
constexpr std::size_t kLabelValueMax = 128;

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr std::string_view kDigits = "0123456789";

// Prometheus' data model: [a-zA-Z_][a-zA-Z0-9_]*, where "__" is its own.
bool IsLabelName(std::string_view name) {
  if (name.empty() || name.starts_with("__") || kDigits.find(name.front()) != kDigits.npos) {
    return false;
  }
  return name.find_first_not_of(std::string(kLetters) + std::string(kDigits)) == name.npos;
}

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

bool IsHostName(std::string_view name) {
  return !name.empty() && name.size() <= kNameMax &&
         name.find_first_not_of(std::string(kLetters) + std::string(kDigits) + ".-") == name.npos;
}

void ValidateLabels(const Labels& labels, const std::string& key, std::string_view taken,
                    Report& report) {
  if (labels.size() > kLabelsMax) {
    report.Error(key, "has " + std::to_string(labels.size()) + " labels; use at most " +
                          std::to_string(kLabelsMax));
    return;
  }
  for (const auto& [name, value] : labels) {
    const std::string label = Under(key, name);
    if (!IsLabelName(name)) {
      report.Error(label, Quoted(name) +
                              " is not a Prometheus label; use letters, digits and _, a letter "
                              "first");
    } else if (name == taken) {
      report.Error(label, "the daemon sets the label " + name + " itself; choose another name");
    } else if (name == "job" || name == "instance") {
      report.Error(label, "Prometheus sets the label " + name + " itself; choose another name");
    }
    if (value.size() > kLabelValueMax) {
      report.Error(label, "has " + std::to_string(value.size()) + " bytes; use at most " +
                              std::to_string(kLabelValueMax));
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
