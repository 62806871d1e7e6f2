#include "collectors/rdma_statistics.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "collectors/rdma_netlink.h"
#include "collectors/rdma_netlink_attributes.h"

namespace rdmapulse::collectors {
namespace {

using Kind = NetlinkRequest::Kind;

// Questions, as keys of what is refused: a port's number stands for its counters.
constexpr int kResources = -1;
constexpr int kQpStates = -2;
constexpr int kQpSets = -3;
constexpr int kNamespaces = -4;

constexpr std::string_view kQps = "resource/qp";

void Complain(const Error& error, const NetlinkRequest& request, Reading& reading,
              SourceRead& read) {
  reading.problems.push_back(
      {request.What(), error.code ? error.code.message() : error.doing, error.code.value()});
  read.exists = true;
  read.success = false;
}

}  // namespace

RdmaStatistics::RdmaStatistics(Netlink& rdma, std::string device, bool qp_sets)
    : rdma_(rdma), device_(std::move(device)), qp_sets_(qp_sets) {}

std::optional<std::uint32_t> RdmaStatistics::Index() {
  if (!index_) index_ = DeviceIndex(rdma_, device_);
  return index_;
}

std::optional<NetlinkAnswer> RdmaStatistics::Ask(NetlinkRequest& request, TimePoint now, int what,
                                                 Reading& reading, SourceRead& read) {
  if (refusals_.Holds(device_, what, now)) return std::nullopt;
  auto answer = rdma_.Ask(request);
  if (answer) return std::move(*answer);
  const int error = answer.error().code.value();
  // A port with more counters than a message holds has them in sysfs as well.
  if (IsRefusal(error) || error == EMSGSIZE) {
    refusals_.Remember(device_, what, now);
    return std::nullopt;
  }
  index_.reset();  // it may have come back under another number
  Complain(answer.error(), request, reading, read);
  return std::nullopt;
}

SourceRead RdmaStatistics::ReadPort(TimePoint now, std::uint32_t port,
                                    const std::vector<std::string>& known, Reading& reading) {
  SourceRead read;
  const auto index = Index();
  if (!index) return read;
  NetlinkRequest request(nldev::kGetStatistics, Kind::kOne, "the port's counters");
  request.U32(nldev::kDeviceIndex, *index).U32(nldev::kPortIndex, port);
  const auto answer = Ask(request, now, static_cast<int>(port), reading, read);
  if (!answer) return read;
  std::vector<Value> values;
  for (const auto& message : *answer) {
    if (const auto parsed = ParsePortStatistics(message, values); !parsed)
      Complain(parsed.error(), request, reading, read);
  }
  std::erase_if(values, [&known](const Value& value) {
    return std::binary_search(known.begin(), known.end(), value.name.Text());
  });
  read.exists |= !values.empty();
  std::move(values.begin(), values.end(), std::back_inserter(reading.values));
  return read;
}

SourceRead RdmaStatistics::ReadDevice(TimePoint now, Reading& reading) {
  SourceRead read;
  const auto index = Index();
  if (!index) return read;
  NetlinkRequest request(nldev::kGetResources, Kind::kOne, "the device's resources");
  request.U32(nldev::kDeviceIndex, *index);
  if (const auto answer = Ask(request, now, kResources, reading, read)) {
    for (const auto& message : *answer) {
      if (const auto parsed = ParseResourceSummary(message, reading.values); !parsed)
        Complain(parsed.error(), request, reading, read);
    }
  }
  AddQpStates(now, reading, read);
  if (qp_sets_) AddQpSets(now, reading, read);
  AddNamespaces(now, reading);
  read.exists |= !reading.values.empty();
  return read;
}

// No failure where it cannot be had: it explains counters that are missing, and is none.
void RdmaStatistics::AddNamespaces(TimePoint now, Reading& reading) {
  if (refusals_.Holds(device_, kNamespaces, now)) return;
  const auto shared = NamespacesShared(rdma_);
  if (shared && *shared) {
    reading.values.push_back({"system/netns-shared", **shared ? 1U : 0U, ValueKind::kGauge});
  } else {
    refusals_.Remember(device_, kNamespaces, now);
  }
}

void RdmaStatistics::AddQpStates(TimePoint now, Reading& reading, SourceRead& read) {
  const auto qps = std::find_if(reading.values.begin(), reading.values.end(),
                                [](const Value& value) { return value.name == kQps; });
  if (!index_ || qps == reading.values.end() || qps->value > kMaxQpsByState) return;
  NetlinkRequest request(nldev::kGetQps, Kind::kDump, "the device's QPs");
  request.U32(nldev::kDeviceIndex, *index_);
  const auto answer = Ask(request, now, kQpStates, reading, read);
  if (!answer) return;
  std::map<std::string, std::uint64_t> states;
  for (const auto& message : *answer) {
    if (const auto parsed = ParseQpStates(message, states); !parsed)
      Complain(parsed.error(), request, reading, read);
  }
  for (const auto& [state, count] : states)
    reading.values.push_back({std::string(kQps) + "/" + state, count, ValueKind::kGauge});
}

void RdmaStatistics::AddQpSets(TimePoint now, Reading& reading, SourceRead& read) {
  if (!index_) return;
  NetlinkRequest request(nldev::kGetStatistics, Kind::kDump, "the QPs' sets of counters");
  request.U32(nldev::kDeviceIndex, *index_).U32(nldev::kStatisticsResource, nldev::kQps);
  const auto answer = Ask(request, now, kQpSets, reading, read);
  if (!answer) return;
  std::map<std::string, std::uint64_t> totals;
  for (const auto& message : *answer) {
    if (const auto parsed = ParseCounterSets(message, totals); !parsed)
      Complain(parsed.error(), request, reading, read);
  }
  for (const auto& [name, total] : totals) reading.values.push_back({"qp/" + name, total});
}

}  // namespace rdmapulse::collectors
