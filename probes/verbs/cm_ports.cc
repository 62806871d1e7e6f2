#include "probes/verbs/cm_ports.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace rdmapulse::verbs {
namespace {

// rdma_cm chooses a TCP port without asking TCP: another program may have it.
constexpr int kListenTries = 3;

Result<void> BindAndListen(const Cm& cm, const DeviceInfo& info, std::uint32_t port,
                           CmListener& listener) {
  if (auto bound = cm.Bind(listener.id, {.ip = listener.here.ip, .port = 0}); !bound) return bound;
  if (auto listening = cm.Listen(listener.id); !listening) return listening;
  const Result<CmBinding> binding = cm.Query(listener.id);
  if (!binding) return tl::unexpected(binding.error());
  const bool elsewhere = info.node_guid != 0 && binding->node_guid != info.node_guid;
  if (elsewhere || binding->port != port) {
    return Fail({"the address ", listener.here.ip.Text(), " belongs to another RDMA ",
                 elsewhere ? "device than " : "port than ",
                 elsewhere ? info.name : PortId{info.name, port}.Text()});
  }
  listener.here.port = binding->here.port;
  return {};
}

Result<CmListener> Listen(const Cm& cm, const DeviceInfo& info, std::uint32_t port, const Gid& ip) {
  Result<void> listening;
  for (int i = 0; i < kListenTries; ++i) {
    const Result<std::uint32_t> id = cm.Create(kListenerOwner);
    if (!id) return tl::unexpected(id.error());
    CmListener listener{.id = *id, .here = {.ip = ip, .port = 0}};
    listening = BindAndListen(cm, info, port, listener);
    if (listening) return listener;
    cm.Destroy(*id);
    if (listening.error().code != std::errc::address_in_use) break;
  }
  return tl::unexpected(listening.error());
}

// Those that a QP may be given (probes::ChooseGid). A link-local one says nothing without its
// interface.
std::vector<Gid> RoceAddresses(const PortFacts& facts) {
  std::vector<Gid> addresses;
  for (const auto family : {probes::GidFamily::kIpv4, probes::GidFamily::kIpv6}) {
    const probes::GidChoice choice = probes::ChooseGid(facts.gids, facts.link_layer, family);
    if (choice.entry && !choice.entry->gid.IsLinkLocal()) addresses.push_back(choice.entry->gid);
  }
  return addresses;
}

Result<std::vector<Gid>> InfinibandAddresses(CmHost& host, const PortFacts& facts) {
  const probes::GidChoice choice =
      probes::ChooseGid(facts.gids, facts.link_layer, probes::GidFamily::kAny);
  if (!choice.entry) return std::vector<Gid>{};
  Result<std::vector<Gid>> found = host.InfinibandAddresses(choice.entry->gid);
  if (!found) return found;
  // The first is the one: of the subnet manager a QoS class is asked with IPv4 alone.
  std::stable_partition(found->begin(), found->end(), [](const Gid& ip) { return ip.IsIpv4(); });
  return found;
}

// By what a QP of the port may be dialled.
Result<std::vector<Gid>> AddressesOf(CmHost& host, const PortInfo& port, const PortFacts& facts) {
  if (port.protocol == Protocol::kRoceV2) return RoceAddresses(facts);
  if (port.protocol == Protocol::kInfiniband) return InfinibandAddresses(host, facts);
  if (!port.netdev.empty()) return host.Addresses(port.netdev);
  return Fail({"no netdev is known for this iWARP port, so it has no address"});
}

std::string WhyNoAddress(Protocol protocol) {
  return "rdma_cm, which paths.connect asks for, has no address to listen on: " +
         std::string(protocol == Protocol::kInfiniband
                         ? "give the port's IPoIB interface an IP address"
                         : "give the netdev an IP address that is not link-local") +
         ", or set paths.connect to exchange";
}

void ListenOn(CmHost& host, const Cm& cm, const DeviceInfo& info, const PortInfo& port,
              std::vector<CmListener>& kept, PortFacts& facts) {
  const bool iwarp = port.protocol == Protocol::kIwarp;
  const Result<std::vector<Gid>> addresses = AddressesOf(host, port, facts);
  // All that it has in the way of GIDs.
  if (iwarp) facts.gids.clear();
  if (!addresses) {
    facts.problem = addresses.error().Text();
    return;
  }
  for (const Gid& ip : *addresses) {
    const auto known = std::find_if(kept.begin(), kept.end(), [&ip](const CmListener& listener) {
      return listener.here.ip == ip;
    });
    if (known != kept.end()) {
      facts.listeners.push_back(*known);
      kept.erase(known);
    } else if (Result<CmListener> made = Listen(cm, info, port.port, ip)) {
      facts.listeners.push_back(*made);
    } else {
      facts.problem = made.error().Text();
      continue;
    }
    if (!iwarp) continue;
    facts.gids.push_back({.index = static_cast<std::uint32_t>(facts.gids.size()),
                          .gid = ip,
                          .type = GidType::kIwarp});
  }
  if (!facts.listeners.empty()) {
    facts.problem.clear();  // one address is enough
  } else if (addresses->empty() && !iwarp && !facts.gids.empty()) {
    facts.problem = WhyNoAddress(port.protocol);
  }
}

bool IsSelectable(const PortInfo& port) {
  return port.protocol == Protocol::kRoceV2 || port.protocol == Protocol::kInfiniband;
}

bool NeedsCm(const PortInfo& port, bool all) {
  return port.protocol == Protocol::kIwarp || (all && IsSelectable(port));
}

}  // namespace

bool NeedsCm(const DeviceInfo& info, bool all) {
  return std::any_of(info.ports.begin(), info.ports.end(),
                     [all](const PortInfo& port) { return NeedsCm(port, all); });
}

bool HasSelectablePorts(const DeviceInfo& info) {
  return std::any_of(info.ports.begin(), info.ports.end(), IsSelectable);
}

void ListenOnPorts(CmHost& host, int cm, const DeviceInfo& info, bool all,
                   std::vector<CmListener> kept, std::vector<PortFacts>& facts) {
  const Cm manager(host, cm);
  for (PortFacts& port : facts) {
    const auto known =
        std::find_if(info.ports.begin(), info.ports.end(),
                     [&port](const PortInfo& candidate) { return candidate.port == port.port; });
    if (known == info.ports.end() || !NeedsCm(*known, all) || !port.problem.empty()) continue;
    // A RoCE port that is down may have lost what its address belongs to.
    if (known->protocol != Protocol::kIwarp && !port.active) continue;
    ListenOn(host, manager, info, *known, kept, port);
  }
  for (const CmListener& listener : kept) manager.Destroy(listener.id);
}

}  // namespace rdmapulse::verbs
