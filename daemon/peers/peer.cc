#include "daemon/peers/peer.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "daemon/peers/preference.h"

namespace rdmapulse::peers {
namespace {

constexpr const char* kOneself = "this address is our own daemon; remove it from peers";
// Sessions that come and go are an event each, unless a peer makes a flood of them.
constexpr double kLinesPerSecond = 0.1;
constexpr double kLinesBurst = 20;

}  // namespace

Hello Shared::OurHello(std::uint64_t dial) const {
  return {.agent_version = options.agent_version,
          .host = options.host,
          .epoch = options.epoch,
          .instance = options.instance,
          .dial = dial,
          .revision = revision,
          .ports = ports};
}

Peer::Peer(Shared& shared, config::Peer config)
    : shared_(shared),
      config_(std::move(config)),
      logged_(shared.options.timers.quiet),
      lines_(kLinesPerSecond, kLinesBurst, Clock::now()) {}

void Peer::Start() {
  started_ = true;
  const Result<HostPort> target = ParseHostPort(config_.address);
  if (!target || target->host.empty() || target->port == 0) {
    return Problem(target ? "the address '" + config_.address +
                                "' names no host and port; write "
                                "host, host:port or [v6]:port"
                          : target.error().Text());
  }
  names_ = CertificateNamesOf(config_);
  // An address is known before the first dial, so that the peer may be the first to dial.
  boost::system::error_code not_numeric;
  const auto address = boost::asio::ip::make_address(target->host, not_numeric);
  if (!not_numeric) OnResolved({address});
  shared_.identity.Name(config_.name, names_);
  dialler_ = std::make_shared<Dialler>(shared_.io, shared_.options, *this, *target, shared_.source);
  dialler_->Start();
}

void Peer::Stop(const std::string& why) {
  stopped_ = true;
  if (dialler_) std::exchange(dialler_, nullptr)->Stop();
  shared_.identity.Remove(config_.name);
  while (!sessions_.empty()) {
    const std::shared_ptr<Session> session = sessions_.back();
    session->Close(why);
  }
}

void Peer::Problem(const std::string& text) {
  if (text != problem_ && logged_.Due(text, Clock::now())) {
    spdlog::warn("peer {} ({}): {}", config_.name, config_.address, text);
  }
  problem_ = text;
}

void Peer::OnResolved(const std::vector<boost::asio::ip::address>& addresses) {
  std::vector<std::string> texts;
  texts.reserve(addresses.size());
  for (const auto& address : addresses) texts.push_back(Plain(address).to_string());
  shared_.identity.Set(config_.name, texts);
}

void Peer::OnConnected(boost::asio::ip::tcp::socket socket) {
  const std::uint64_t dial = ++shared_.dials;
  const auto session = std::make_shared<Session>(
      std::move(socket), shared_.options, *this, config_.address, dial,
      shared_.credentials ? shared_.credentials->Current(Clock::now()) : nullptr);
  sessions_.push_back(session);
  session->Start(shared_.OurHello(dial));
}

// Of a session that we dialled: before it hears our ports.
std::string Peer::Objection(const Session& session) {
  for (const std::string& name : session.names()) {
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) return {};
  }
  return OfWhom(session.names()) + " and not of " + names_.back() +
         "; give the peer a name that is in its certificate";
}

void Peer::Admit(Session& session, const Hello& hello) {
  if (TurnedAway(session, hello)) return;
  const bool restarted = info_ && hello.instance != instance_;
  if (!session.dialled()) sessions_.push_back(session.shared_from_this());
  const bool first = !AnyUp();
  session.Accept(*this, shared_.OurHello(0));
  if (!session.up()) return;
  if (dialler_) dialler_->Reset();
  if (dialler_) dialler_->Wake();
  if (restarted && lines_.Take(Clock::now())) {
    spdlog::info("peer {}: restarted (epoch {})", config_.name, hello.epoch);
  }
  if (first && lines_.Take(Clock::now())) {
    spdlog::info("peer {}: session up ({} {}, host {}, rdmapulse {}, {} ports)", config_.name,
                 session.dialled() ? "dialled" : "accepted from", session.address(), hello.host,
                 hello.agent_version, hello.ports.size());
  }
  CloseOthers(session);
  Learn(hello, restarted);
}

bool Peer::TurnedAway(Session& session, const Hello& hello) {
  if (hello.instance == shared_.options.instance) {
    if (dialler_) dialler_->Slow();
    Problem(kOneself);
    // The end that dialled must see for itself; the one that accepted tells it by a hello.
    if (session.dialled()) {
      session.Close(kOneself);
    } else {
      session.Finish(shared_.OurHello(0), kOneself);
    }
    return true;
  }
  // Two daemons on one host would throw each other out for ever: the later one stays.
  const bool older = info_ && hello.instance != instance_ && hello.epoch < info_->epoch;
  if (older && AnyUp() && Up(Clock::now())) {
    const std::string why =
        "another daemon of " + config_.name + ", which started later, is connected " +
        (session.certified() ? "with a certificate of the same name" : "from the same address") +
        "; stop one";
    session.Finish(Refused{kProtocolVersion, why}, why);
    return true;
  }
  return false;
}

void Peer::CloseOthers(const Session& newest) {
  std::vector<std::shared_ptr<Session>> restarted;
  for (const auto& session : sessions_) {
    if (session->up() && session->instance() != newest.instance()) restarted.push_back(session);
  }
  for (const auto& session : restarted) session->Close("the peer restarted");
  while (sessions_.size() > shared_.options.limits.sessions_per_peer) {
    const std::shared_ptr<Session> oldest = sessions_.front();
    oldest->Close("it has " + std::to_string(shared_.options.limits.sessions_per_peer) +
                  " later sessions");
  }
}

void Peer::Learn(const Hello& hello, bool restarted) {
  probes::PeerInfo info{.host = hello.host,
                        .epoch = hello.epoch,
                        .we_lead = WeLead(shared_.options.instance, hello.instance),
                        .ports = hello.ports};
  // A hello that was under way while the ports changed is older than what we know.
  if (info_ && !restarted && hello.revision < revision_) info.ports = info_->ports;
  revision_ = restarted ? hello.revision : std::max(revision_, hello.revision);
  instance_ = hello.instance;
  const bool news = !announced_ || info != info_;
  info_ = std::move(info);
  announced_ = true;
  if (news) shared_.events.OnPeer(config_.name, *info_);
}

void Peer::OnMessage(Session& session, const Message& message) {
  if (const auto* ports = std::get_if<Ports>(&message.body)) {
    OnPorts(*ports);
  } else if (const auto* connect = std::get_if<Connect>(&message.body)) {
    OnConnect(session, message.id, *connect);
  } else if (const auto* ready = std::get_if<Ready>(&message.body)) {
    shared_.events.OnReady(config_.name, ready->path);
  } else if (const auto* lost = std::get_if<Lost>(&message.body)) {
    shared_.events.OnLost(config_.name, lost->path, lost->why);
  }
}

void Peer::OnPorts(const Ports& ports) {
  if (ports.revision <= revision_) return;
  revision_ = ports.revision;
  if (info_->ports == ports.ports) return;
  info_->ports = ports.ports;
  spdlog::info("peer {}: now has {} ports", config_.name, ports.ports.size());
  shared_.events.OnPeer(config_.name, *info_);
}

void Peer::OnConnect(Session& session, std::uint64_t id, const Connect& connect) {
  const auto reply = [weak = session.weak_from_this(), id](const Result<Connected>& result) {
    const std::shared_ptr<Session> asked_on = weak.lock();
    if (!asked_on) return;
    Result<void> sent = result ? asked_on->Send({id, *result}) : Result<void>{};
    const std::string problem = !result ? result.error().Text() : !sent ? sent.error().Text() : "";
    if (!problem.empty()) static_cast<void>(asked_on->Send({id, Failed{problem}}));
  };
  shared_.events.OnConnectRequest(config_.name, connect, reply);
}

void Peer::OnPong(Session&, Duration rtt, TimePoint now) {
  tcp_rtt_.Add(rtt);
  last_rtt_ = rtt;
  last_answer_ = now;
}

bool Peer::Preferred(const Session& session, TimePoint now) const {
  return PreferredSession(now) == &session;
}

Session* Peer::PreferredSession(TimePoint now) const {
  const bool we_lead = info_ && info_->we_lead;
  const Duration lately = shared_.options.timers.up_within;
  Session* best = nullptr;
  Preference best_preference;
  std::uint64_t order = 0;
  for (const auto& session : sessions_) {
    if (!session->up()) continue;
    const Preference preference{.heard = session->Silence(now) <= lately,
                                .dialled_by_leader = session->dialled() == we_lead,
                                .dial = session->dial(),
                                .order = ++order};
    if (best == nullptr || preference > best_preference) {
      best = session.get();
      best_preference = preference;
    }
  }
  return best;
}

void Peer::OnClosed(Session& session, const std::string& why) {
  const auto own = session.shared_from_this();
  std::erase(sessions_, own);
  if (stopped_) {
    problem_ = why;  // ours, and said once for all peers by whoever stopped them
  } else if (session.was_up()) {
    if (lines_.Take(Clock::now())) {
      spdlog::info("peer {}: session with {} closed: {}", config_.name, session.address(), why);
    }
    problem_ = why;
  } else {
    Problem(why);
  }
  if (dialler_) dialler_->Wake();
  if (!started_ && !stopped_ && sessions_.empty()) shared_.guest_gone(config_.name);
  if (!announced_ || AnyUp()) return;
  announced_ = false;
  shared_.events.OnPeerGone(config_.name);
}

bool Peer::AnyUp() const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [](const auto& session) { return session->up(); });
}

void Peer::TellPorts() {
  for (const auto& session : sessions_) {
    const auto sent = session->Send({0, Ports{shared_.revision, shared_.ports}});
    if (!sent) spdlog::warn("peer {}: telling our ports: {}", config_.name, sent.error().Text());
  }
}

bool Peer::Up(TimePoint now) const {
  return last_answer_ && now - *last_answer_ <= shared_.options.timers.up_within;
}

PeerSnapshot Peer::Status(TimePoint now) const {
  PeerSnapshot status;
  status.name = config_.name;
  status.address = config_.address;
  status.labels = config_.labels;
  status.up = Up(now);
  if (info_) status.epoch = info_->epoch;
  status.tcp_rtt = tcp_rtt_;
  status.last_tcp_rtt = last_rtt_;
  if (!status.up) status.problem = AnyUp() ? "connected, but it does not answer" : problem_;
  return status;
}

}  // namespace rdmapulse::peers
