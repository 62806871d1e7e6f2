#include "probes/verbs/iwarp_ports.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace rdmapulse::verbs {
namespace {

// rdma_cm chooses a TCP port without asking TCP: another program may have it.
constexpr int kListenTries = 3;

Result<void> BindAndListen(const Cm& cm, const DeviceInfo& info, IwarpListener& listener) {
  if (auto bound = cm.Bind(listener.id, {.ip = listener.here.ip, .port = 0}); !bound) return bound;
  if (auto listening = cm.Listen(listener.id); !listening) return listening;
  const Result<CmBinding> binding = cm.Query(listener.id);
  if (!binding) return tl::unexpected(binding.error());
  if (info.node_guid != 0 && binding->node_guid != info.node_guid) {
    return Fail({"the address ", listener.here.ip.Text(), " belongs to another RDMA device than ",
                 info.name});
  }
  listener.here.port = binding->here.port;
  return {};
}

Result<IwarpListener> Listen(const Cm& cm, const DeviceInfo& info, const Gid& ip) {
  Result<void> listening;
  for (int i = 0; i < kListenTries; ++i) {
    const Result<std::uint32_t> id = cm.Create(kListenerOwner);
    if (!id) return tl::unexpected(id.error());
    IwarpListener listener{.id = *id, .here = {.ip = ip, .port = 0}};
    listening = BindAndListen(cm, info, listener);
    if (listening) return listener;
    cm.Destroy(*id);
    if (listening.error().code != std::errc::address_in_use) break;
  }
  return tl::unexpected(listening.error());
}

void ListenOn(CmHost& host, const Cm& cm, const DeviceInfo& info, const PortInfo& port,
              std::vector<IwarpListener>& kept, PortFacts& facts) {
  facts.gids.clear();
  if (port.netdev.empty()) {
    facts.problem = "no netdev is known for this iWARP port, so it has no address";
    return;
  }
  const Result<std::vector<Gid>> addresses = host.Addresses(port.netdev);
  if (!addresses) {
    facts.problem = addresses.error().Text();
    return;
  }
  for (const Gid& ip : *addresses) {
    const auto known = std::find_if(kept.begin(), kept.end(), [&ip](const IwarpListener& listener) {
      return listener.here.ip == ip;
    });
    if (known != kept.end()) {
      facts.listeners.push_back(*known);
      kept.erase(known);
    } else if (Result<IwarpListener> made = Listen(cm, info, ip)) {
      facts.listeners.push_back(*made);
    } else {
      facts.problem = made.error().Text();
      continue;
    }
    facts.gids.push_back({.index = static_cast<std::uint32_t>(facts.gids.size()),
                          .gid = ip,
                          .type = GidType::kIwarp});
  }
  if (!facts.gids.empty()) facts.problem.clear();  // one address is enough
}

}  // namespace

bool HasIwarp(const DeviceInfo& info) {
  return std::any_of(info.ports.begin(), info.ports.end(),
                     [](const PortInfo& port) { return port.protocol == Protocol::kIwarp; });
}

void ListenOnIwarpPorts(CmHost& host, int cm, const DeviceInfo& info,
                        std::vector<IwarpListener> kept, std::vector<PortFacts>& facts) {
  const Cm manager(host, cm);
  for (PortFacts& port : facts) {
    const auto known =
        std::find_if(info.ports.begin(), info.ports.end(),
                     [&port](const PortInfo& candidate) { return candidate.port == port.port; });
    const bool iwarp = known != info.ports.end() && known->protocol == Protocol::kIwarp;
    if (iwarp && port.problem.empty()) ListenOn(host, manager, info, *known, kept, port);
  }
  for (const IwarpListener& listener : kept) manager.Destroy(listener.id);
}

}  // namespace rdmapulse::verbs
