// Lists of peers as service discovery writes them. Pure.
//
// The format is Prometheus' own, of file_sd_configs and http_sd_configs: a list of groups
// {targets: [ADDRESS…], labels: {NAME: VALUE…}}. An address is what `peers[].address` may be.
// Labels are the peer's, as `peers[].labels`; two are special: `name` names the peer of a group
// with one target, and those that begin with "__" belong to Prometheus and are passed over. A peer
// without a `name` is named after the host in its address.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/source_entries.h"
#include "daemon/base/result.h"

namespace rdmapulse::discovery {

// 10,000 hosts in groups of their own, with four labels each, have 1.5 MB.
inline constexpr std::size_t kListBytesMax = std::size_t{8} << 20;
// Past this the list is cut, with a sentence. Six times the hosts of the largest fabric we know of.
inline constexpr std::size_t kPeersMax = 65'536;
// More problems than these are counted, not kept.
inline constexpr std::size_t kProblemsMax = 10;

struct TargetList {
  std::vector<config::Peer> peers;    // in the order of the text; no two of one name or address
  std::vector<std::string> problems;  // a sentence each
  std::size_t problem_count = 0;      // with those past kProblemsMax

  bool operator==(const TargetList&) const = default;
};

// Collects targets; what is wrong with one costs that one.
class TargetListBuilder {
 public:
  // `place` begins the sentences: "group 3". False: the list is full, or long enough without end.
  bool Add(const std::string& place, const std::vector<std::string>& targets,
           config::Labels labels);
  // As a problem of the list: "group 3 has no targets".
  void Complain(std::string problem);

  TargetList Take() && { return std::move(list_); }

 private:
  config::Labels Usable(const std::string& place, const config::Labels& labels);
  void AddPeer(const std::string& place, config::Peer peer, bool named);

  TargetList list_;
  std::size_t seen_ = 0;  // targets, good or not
  std::set<std::string> names_;
  std::set<std::string> addresses_;
};

// An error: the text as a whole is no such list, and nothing of it is used.
Result<TargetList> ParseTargets(std::string_view text, config::ListFormat format);

}  // namespace rdmapulse::discovery
