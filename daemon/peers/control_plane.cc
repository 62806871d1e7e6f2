#include "daemon/peers/control_plane.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cassert>
#include <random>
#include <utility>

#include "daemon/peers/listener.h"
#include "daemon/peers/peer.h"
#include "daemon/peers/wire.h"

namespace rdmapulse::peers {
namespace {

// Of the common lists only those call whose list or clock differs from ours: a few, or a fabric
// that is configured in two ways.
constexpr std::ptrdiff_t kGuestsMax = 128;

}  // namespace

std::uint64_t RandomInstance() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

ControlPlane::ControlPlane(boost::asio::io_context& io, Options options, probes::PeerEvents& events)
    : shared_(std::make_unique<Shared>(
          Shared{.io = io,
                 .options = std::move(options),
                 .events = events,
                 .source = {},
                 .identity = {},
                 .credentials = {},
                 .ports = {},
                 .guest_gone = [this](const std::string& name) { ForgetGuest(name); }})) {
  Shared& shared = *shared_;
  if (shared.options.tls) shared.credentials.emplace(*shared.options.tls);
  listener_ =
      std::make_shared<Listener>(io, shared.options, shared.identity,
                                 shared.credentials ? &*shared.credentials : nullptr, *this);
}

ControlPlane::~ControlPlane() { Stop(); }

Result<void> ControlPlane::Listen() {
  if (!LegalName(shared_->options.host)) {
    return Fail({"the host name '", shared_->options.host, "' cannot be told to peers"},
                "set host.name to 1 to 64 letters, digits or any of _-.:@+");
  }
  assert(shared_->options.epoch != 0 && shared_->options.random);
  if (shared_->credentials) {
    if (auto loaded = shared_->credentials->Load(); !loaded) return loaded;
  }
  if (shared_->options.listen.empty()) return {};
  if (auto opened = listener_->Open(); !opened) return opened;
  shared_->source = listener_->address();
  listener_->Start();
  spdlog::info("listening for peers on {}", shared_->options.listen);
  return {};
}

void ControlPlane::Stop() {
  if (std::exchange(stopped_, true)) return;
  listener_->Stop();
  for (const auto& [name, peer] : peers_) peer->Stop("the daemon is stopping");
}

void ControlPlane::SetPeers(const std::vector<config::Peer>& peers) {
  if (stopped_) return;
  RemovePeersNotIn(peers);
  for (const config::Peer& peer : peers) {
    const auto [entry, added] = peers_.try_emplace(peer.name);
    if (added) entry->second = std::make_unique<Peer>(*shared_, peer);
    if (!entry->second->started()) {
      entry->second->Start();
    } else {
      entry->second->SetLabels(peer.labels);
    }
  }
}

void ControlPlane::SetGuests(std::shared_ptr<const Guests> guests) {
  guests_ = std::move(guests);
  shared_->identity.SetGuests(guests_);
}

void ControlPlane::RemovePeersNotIn(const std::vector<config::Peer>& peers) {
  std::vector<std::unique_ptr<Peer>> removed;
  for (auto entry = peers_.begin(); entry != peers_.end();) {
    const config::Peer& ours = entry->second->config();
    const auto same = [&ours](const config::Peer& peer) {
      return peer.name == ours.name && peer.address == ours.address;
    };
    const auto guest = guests_->peers.find(ours.name);
    const bool may_stay = !entry->second->started() && guest != guests_->peers.end();
    if (std::any_of(peers.begin(), peers.end(), same) || (may_stay && same(guest->second))) {
      ++entry;
      continue;
    }
    removed.push_back(std::move(entry->second));
    entry = peers_.erase(entry);
  }
  for (const auto& peer : removed) {
    spdlog::info("peer {} ({}): is not among our peers any more", peer->config().name,
                 peer->config().address);
    peer->Stop("it is not among our peers any more");
  }
}

void ControlPlane::SetLocalPorts(const std::vector<probes::PeerPort>& ports) {
  std::vector<probes::PeerPort> told;
  for (const probes::PeerPort& port : ports) {
    if (LegalPort(port) && told.size() < kPortsMax) told.push_back(port);
  }
  if (told == shared_->ports) return;
  if (told.size() < ports.size()) {
    spdlog::warn(
        "{} of {} ports are not told to peers: at most {}, with names of letters, digits "
        "and _-.:@+",
        ports.size() - told.size(), ports.size(), kPortsMax);
  }
  shared_->ports = std::move(told);
  ++shared_->revision;
  for (const auto& [name, peer] : peers_) peer->TellPorts();
}

std::vector<PeerSnapshot> ControlPlane::Status(TimePoint now) const {
  std::vector<PeerSnapshot> status;
  for (const auto& [name, peer] : peers_) status.push_back(peer->Status(now));
  return status;
}

std::optional<std::chrono::system_clock::time_point> ControlPlane::CertificateExpires(
    TimePoint now) {
  if (!shared_->credentials) return std::nullopt;
  shared_->credentials->Look(now);
  return shared_->credentials->expires();
}

const InboundCounts& ControlPlane::inbound() const { return listener_->counts(); }

std::uint16_t ControlPlane::listen_port() const { return listener_->port(); }

Session* ControlPlane::SessionOf(const std::string& peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? nullptr : found->second->PreferredSession(Clock::now());
}

void ControlPlane::RequestConnect(const std::string& peer, const probes::ConnectRequest& request,
                                  Connected connected) {
  const std::string doing = "asking " + peer + " to connect its " +
                            request.path.follower_port.Text() + " to our " +
                            request.path.leader_port.Text();
  PendingCalls::Handler handler =
      [doing, connected = std::move(connected)](Result<probes::ConnectReply> reply) {
        if (!reply) reply = Fail({doing, ": ", reply.error().Text()});
        connected(std::move(reply));
      };
  if (Session* session = SessionOf(peer)) return session->Request(request, std::move(handler));
  const char* why = stopped_                ? "the daemon is stopping"
                    : peers_.contains(peer) ? "there is no session with it"
                                            : "no such peer is configured";
  boost::asio::post(shared_->io, [handler = std::move(handler), why] { handler(Fail({why})); });
}

void ControlPlane::TellReady(const std::string& peer, const probes::PathRef& path) {
  Tell(peer, Ready{path});
}

void ControlPlane::TellLost(const std::string& peer, const probes::PathRef& path,
                            const std::string& why) {
  Tell(peer, Lost{path, why});
}

void ControlPlane::Tell(const std::string& peer, const Body& body) {
  Session* session = SessionOf(peer);
  if (session == nullptr) return spdlog::debug("peer {}: no session to tell it about a path", peer);
  const auto sent = session->Send({0, body});
  if (!sent) spdlog::warn("peer {}: telling it about a path: {}", peer, sent.error().Text());
}

void ControlPlane::OnPeerHello(const std::string& name, Session& session, const Hello& hello) {
  const auto found = peers_.find(name);
  if (found == peers_.end()) return Welcome(name, session, hello);
  found->second->Admit(session, hello);
}

void ControlPlane::Welcome(const std::string& name, Session& session, const Hello& hello) {
  const auto guest = guests_->peers.find(name);
  if (guest == guests_->peers.end()) return session.Close("it is not among our peers any more");
  const auto guests = std::count_if(peers_.begin(), peers_.end(),
                                    [](const auto& peer) { return !peer.second->started(); });
  if (guests >= kGuestsMax) {
    return session.Close("we did not select it, and have enough others of that kind");
  }
  Peer& peer = *(peers_[name] = std::make_unique<Peer>(*shared_, guest->second));
  peer.Admit(session, hello);
  if (!peer.Busy()) ForgetGuest(name);  // it was turned away
}

// Later: it may be the guest itself that calls. One that was chosen meanwhile stays.
void ControlPlane::ForgetGuest(const std::string& name) {
  boost::asio::post(shared_->io, [this, name] {
    const auto found = peers_.find(name);
    if (stopped_ || found == peers_.end()) return;
    if (!found->second->started() && !found->second->Busy()) peers_.erase(found);
  });
}

void ControlPlane::OnInboundFailed(const std::string& name, const std::string& why) {
  const auto found = peers_.find(name);
  if (found != peers_.end()) found->second->Problem(why);
}

}  // namespace rdmapulse::peers
