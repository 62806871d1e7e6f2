#include "collectors/mad/mad_counters.h"

#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include <array>
#include <cerrno>
#include <utility>

namespace rdmapulse::collectors::mad {
namespace {

constexpr std::string_view kSwitchPrefix = "switch/";

// The port's LID; 0: no subnet manager has given it one. nullopt: it has no umad node.
std::optional<int> LidOf(const std::string& device, std::uint32_t number) {
  umad_port_t port{};
  if (umad_get_port(device.c_str(), static_cast<int>(number), &port) != 0) return std::nullopt;
  const int lid = static_cast<int>(port.base_lid);
  // Where the kernel does not say, it is older than RoCE, and libibumad writes "IB".
  const bool infiniband = std::string_view(port.link_layer) != "Ethernet";
  umad_release_port(&port);
  return infiniband ? std::optional(lid) : std::nullopt;
}

ib_portid_t ByLid(int lid) {
  ib_portid_t to{};
  ib_portid_set(&to, lid, 1, static_cast<int>(IB_DEFAULT_QP1_QKEY));
  return to;
}

Result<Data> Ask(const ibmad_port& via, int lid, std::uint32_t port, unsigned attribute,
                 std::string_view what) {
  Data data{};
  ib_portid_t to = ByLid(lid);
  errno = 0;
  if (pma_query_via(data.data(), &to, static_cast<int>(port), kAnswerTimeoutMs, attribute, &via) ==
      nullptr)
    return Fail(errno == 0 ? ETIMEDOUT : errno, {what, " of LID ", std::to_string(lid)});
  return data;
}

// One hop out of our port: whatever is there answers without a route.
Result<Data> AskNeighbour(const ibmad_port& via, std::uint32_t port, unsigned attribute,
                          std::string_view what) {
  Data data{};
  ib_portid_t to{};
  to.drpath.cnt = 1;
  to.drpath.p[1] = static_cast<std::uint8_t>(port);
  errno = 0;
  if (smp_query_via(data.data(), &to, attribute, 0, kAnswerTimeoutMs, &via) == nullptr)
    return Fail(errno == 0 ? ETIMEDOUT : errno, {what, " of the neighbour"});
  return data;
}

Result<void> AddCounters(const ibmad_port& via, int lid, std::uint32_t port,
                         std::map<int, Abilities>& known, std::string_view prefix,
                         std::vector<Value>& values) {
  if (!known.contains(lid)) {
    const auto info = Ask(via, lid, port, CLASS_PORT_INFO, "ClassPortInfo");
    if (!info) return tl::unexpected(info.error());
    known[lid] = ParseClassPortInfo(*info);
  }
  const Abilities& abilities = known[lid];
  const auto counters = Ask(via, lid, port, IB_GSI_PORT_COUNTERS, "PortCounters");
  if (!counters) return tl::unexpected(counters.error());
  std::vector<Value> read = ParsePortCounters(*counters, abilities, prefix);
  if (abilities.extended) {
    const auto wide = Ask(via, lid, port, IB_GSI_PORT_COUNTERS_EXT, "PortCountersExtended");
    if (!wide) return tl::unexpected(wide.error());
    for (Value& value : ParsePortCountersExtended(*wide, prefix)) read.push_back(std::move(value));
  }
  for (Value& value : read) values.push_back(std::move(value));
  return {};
}

}  // namespace

void MadCounters::Close::operator()(ibmad_port* port) const noexcept { mad_rpc_close_port(port); }

MadCounters::MadCounters(std::string device, bool with_switch)
    : device_(std::move(device)), with_switch_(with_switch) {
  madrpc_show_errors(0);  // its own words on stderr; ours are in the readings
}

MadCounters::~MadCounters() = default;

Result<void> MadCounters::ReadOwn(Port& port, std::uint32_t number, Reading& reading) {
  const auto lid = LidOf(device_, number);
  if (!lid || *lid == 0)
    return Fail({"the port has no LID"}, "let a subnet manager configure the fabric");
  return AddCounters(*port.handle, *lid, number, port.abilities, "", reading.values);
}

Result<void> MadCounters::ReadSwitch(Port& port, std::uint32_t number, Reading& reading) {
  const auto node = AskNeighbour(*port.handle, number, IB_ATTR_NODE_INFO, "NodeInfo");
  if (!node) return tl::unexpected(node.error());
  const Neighbour neighbour = ParseNodeInfo(*node);
  if (!neighbour.is_switch) return {};  // a cable between two hosts
  const auto info = AskNeighbour(*port.handle, number, IB_ATTR_PORT_INFO, "PortInfo");
  if (!info) return tl::unexpected(info.error());
  Data copy = *info;
  const int lid = static_cast<int>(mad_get_field(copy.data(), 0, IB_PORT_LID_F));
  if (lid == 0) return Fail({"the switch has no LID"});
  return AddCounters(*port.handle, lid, neighbour.port, port.abilities, kSwitchPrefix,
                     reading.values);
}

SourceRead MadCounters::Read(TimePoint now, std::uint32_t number, Reading& reading) {
  Port& port = ports_[number];
  if (now < port.rests_until) return {};
  if (port.handle == nullptr) {
    if (!LidOf(device_, number)) return {};
    std::array<int, 3> classes = {IB_SMI_CLASS, IB_SMI_DIRECT_CLASS, IB_PERFORMANCE_CLASS};
    port.handle.reset(mad_rpc_open_port(device_.data(), static_cast<int>(number), classes.data(),
                                        static_cast<int>(classes.size())));
    if (port.handle == nullptr) {
      port.rests_until = now + kRestAfterFailure;
      reading.problems.push_back(
          {"umad", "cannot be opened: it takes read and write access to /dev/infiniband/umad*"});
      return {.exists = true, .success = false};
    }
    mad_rpc_set_retries(port.handle.get(), kAttempts);
    mad_rpc_set_timeout(port.handle.get(), kAnswerTimeoutMs);
  }
  SourceRead read{.exists = true};
  const auto take = [&](const Result<void>& result) {
    if (result) return;
    reading.problems.push_back({"MAD", result.error().Text()});
    read.success = false;
    port.rests_until = now + kRestAfterFailure;
  };
  take(ReadOwn(port, number, reading));
  if (with_switch_ && read.success) take(ReadSwitch(port, number, reading));
  return read;
}

}  // namespace rdmapulse::collectors::mad
