#include "daemon/cli/record/moment.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "collectors/recorded/rdma_statistic_text.h"
#include "collectors/recorded/write_text.h"
#include "daemon/cli/record/host_yaml.h"
#include "daemon/cli/record/sysfs_copy.h"

namespace rdmapulse::cli {
namespace {

using collectors::PortQos;
using collectors::Reading;
using collectors::Source;
using collectors::Value;
using collectors::recorded::RdmaLinkStatistics;

// The kernel has some hundred and thirty of them.
constexpr int kErrnoMax = 140;

// What one interface's tools would print.
struct Interface {
  std::vector<Value> ethtool;
  std::vector<Value> ethtool_nl;
  std::vector<Value> dcb;
  PortQos qos;
};

// Collectors give an error's words.
int ErrnoOf(const std::string& reason) {
  for (int error = 1; error < kErrnoMax; ++error) {
    if (std::generic_category().message(error) == reason) return error;
  }
  return EIO;
}

void Append(const std::vector<Value>& from, std::vector<Value>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

// The file that a source is read back from.
std::string FileOf(const Reading& reading) {
  switch (reading.source) {
    case Source::kEthtool: return "ethtool-S/" + reading.netdev + ".txt";
    case Source::kEthtoolNl: return "ethtool-I-a/" + reading.netdev + ".txt";
    case Source::kDcb: return "dcb/pfc-" + reading.netdev + ".txt";
    case Source::kRdmaNl: return "rdma-statistic/show.txt";
    default: return {};
  }
}

class Texts {
 public:
  void Take(const Reading& reading) {
    NoteError(reading);
    if (reading.source == Source::kRdmaNl && reading.port) {
      links_.push_back({reading.device, *reading.port, reading.values});
    }
    if (reading.netdev.empty()) return;
    if (reading.source == Source::kEthtool) {
      Append(reading.values, interfaces_[reading.netdev].ethtool);
    } else if (reading.source == Source::kEthtoolNl) {
      Append(reading.values, interfaces_[reading.netdev].ethtool_nl);
    } else if (reading.source == Source::kDcb) {
      Append(reading.values, interfaces_[reading.netdev].dcb);
    }
  }
  void Take(const PortQos& qos) { interfaces_[qos.netdev].qos = qos; }

  ToolTexts Write(const HostMoment& moment) {
    using namespace collectors::recorded;
    for (const auto& [name, driver] : moment.drivers) {
      Keep("ethtool-i/" + name + ".txt", EthtoolDriverText(driver));
    }
    for (auto& [name, interface] : interfaces_) {
      const std::string file = name + ".txt";
      interface.qos.netdev = name;
      Keep("ethtool-S/" + file,
           EthtoolStatisticsText(interface.ethtool, interface.ethtool_nl, name));
      Keep("ethtool-a/" + file, EthtoolPauseText(interface.qos, {}));
      Keep("ethtool-I-a/" + file, EthtoolPauseText(interface.qos, interface.ethtool_nl));
      Keep("dcb/pfc-" + file, DcbPfcText(interface.qos, interface.dcb));
      // `dcb` prints nothing of a table that is empty, which is known all the same.
      if (interface.qos.dscp_priority) texts_.files["dcb/app-" + file] = DcbAppText(interface.qos);
      Keep("dcb/ets-" + file, DcbEtsText(interface.qos));
    }
    Keep("rdma-statistic/show.txt", RdmaStatisticsText(links_));
    for (const auto& [path, error] : texts_.errors) texts_.files.try_emplace(path);
    return std::move(texts_);
  }

 private:
  // A tool that has nothing to say is a file that is not there.
  void Keep(const std::string& path, std::string text) {
    if (text.empty()) return;
    texts_.errors.erase(path);
    texts_.files[path] = std::move(text);
  }

  // Of a source that gave nothing at all. An interface that has gone is absent, which is no error.
  void NoteError(const Reading& reading) {
    if (!reading.values.empty() || reading.problems.empty()) return;
    const int error = ErrnoOf(reading.problems.front().reason);
    const std::string path = FileOf(reading);
    if (!path.empty() && error != ENODEV) texts_.errors[path] = error;
  }

  std::map<std::string, Interface> interfaces_;
  std::vector<RdmaLinkStatistics> links_;
  ToolTexts texts_;
};

}  // namespace

ToolTexts TextsOf(const HostMoment& moment) {
  Texts texts;
  for (const auto& collection : moment.collections) {
    for (const Reading& reading : collection.readings) texts.Take(reading);
    for (const PortQos& qos : collection.qos) texts.Take(qos);
  }
  return texts.Write(moment);
}

Result<std::size_t> WriteMoment(const HostMoment& moment, PatientFiles& sysfs,
                                const collectors::DeviceFilter& wanted, const std::string& name,
                                RecordingFolder& folder) {
  const ToolTexts tools = TextsOf(moment);
  for (const auto& [path, text] : tools.files) {
    const Result<void> written = folder.Write(fmt::format("{}/{}", name, path), text);
    if (!written) return tl::unexpected(written.error());
  }
  auto errors = CopySysfs(sysfs, wanted, name + "/sysfs", folder);
  if (!errors) return tl::unexpected(errors.error());
  for (const auto& [path, error] : tools.errors) (*errors)[folder.Shown(path)] = error;
  if (!errors->empty()) {
    const Result<void> written = folder.Write(name + "/host.yaml", HostYaml({.errors = *errors}));
    if (!written) return tl::unexpected(written.error());
  }
  return errors->size();
}

}  // namespace rdmapulse::cli
