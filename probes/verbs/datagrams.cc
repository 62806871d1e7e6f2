#include "probes/verbs/datagrams.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "probes/verbs/random_token.h"

namespace rdmapulse::verbs {
namespace {

using probes::Datagram;
using probes::EchoMessage;

// Answers to one peer over one path: more than anybody asks on purpose (`probe -i 0.01`), and too
// few to be worth an attack with a token that was overheard.
constexpr double kAnswersPerSecond = 200;
constexpr double kAnswersBurst = 100;

void MoveTo(std::vector<Ah>& all, std::vector<Ah>& more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
  more.clear();
}

}  // namespace

std::uint64_t Datagrams::ReserveReceives() {
  const std::uint64_t first = kMark | (last_number_ + 1);
  last_number_ += kUdReceives;
  return first;
}

void Datagrams::AddPort(std::uint32_t port, UdQp qp) {
  for (std::size_t receive = 0; receive < kUdReceives; ++receive) {
    receives_.emplace(qp.first_receive + receive, Receive{port, receive});
  }
  Port& added = ports_[port];
  added.qp = std::move(qp);
  for (std::size_t slot = 0; slot < kUdSends; ++slot) added.free_sends.push_back(slot);
}

RetiredDatagrams Datagrams::RemovePort(std::uint32_t port) {
  RetiredDatagrams retired;
  const auto found = ports_.find(port);
  if (found == ports_.end()) return retired;
  for (const auto& [wr_id, send] : sends_) {
    if (send.port != port) continue;
    const auto parting = parting_.find(send.qp);
    if (parting != parting_.end()) MoveTo(retired.ways, parting->second);
  }
  const auto of_it = [port](const auto& entry) { return entry.second.port == port; };
  std::erase_if(receives_, of_it);
  std::erase_if(sends_, of_it);
  std::erase_if(parting_, [](const auto& entry) { return entry.second.empty(); });
  for (auto& [id, peer] : peers_) {
    if (peer.port != port) continue;
    MoveTo(retired.ways, peer.ways);
    tokens_.erase(peer.token);
  }
  std::erase_if(peers_, of_it);
  retired.qps.push_back(std::move(found->second.qp));
  ports_.erase(found);
  return retired;
}

RetiredDatagrams Datagrams::Clear() {
  RetiredDatagrams all;
  while (!ports_.empty()) {
    RetiredDatagrams one = RemovePort(ports_.begin()->first);
    MoveTo(all.ways, one.ways);
    std::move(one.qps.begin(), one.qps.end(), std::back_inserter(all.qps));
  }
  return all;
}

bool Datagrams::IsBroken(std::uint32_t port) const {
  const auto found = ports_.find(port);
  return found != ports_.end() && found->second.broken;
}

void Datagrams::Describe(probes::QpEndpoint& here) const {
  const auto found = ports_.find(here.port.port);
  if (found == ports_.end() || found->second.broken) return;
  here.ud_qpn = found->second.qp.qp->qp_num;
  here.ud_qkey = found->second.qp.qkey;
  here.ud_token = RandomToken();
}

bool Datagrams::Serves(const probes::QpEndpoint& here) const {
  const auto found = ports_.find(here.port.port);
  return found != ports_.end() && found->second.qp.qp->qp_num == here.ud_qpn;
}

void Datagrams::Connect(probes::QpId id, const probes::QpEndpoint& here,
                        const probes::QpEndpoint& there, std::vector<Ah> ways,
                        std::vector<std::uint16_t> sports) {
  tokens_[here.ud_token] = id;
  peers_.insert_or_assign(id,
                          Peer{.port = here.port.port,
                               .token = here.ud_token,
                               .there = there,
                               .ways = std::move(ways),
                               .sports = std::move(sports),
                               .asked = {},
                               .answers = probes::TokenBucket(kAnswersPerSecond, kAnswersBurst)});
}

RetiredDatagrams Datagrams::Disconnect(probes::QpId id) {
  RetiredDatagrams retired;
  const auto found = peers_.find(id);
  if (found == peers_.end()) return retired;
  auto& ways = IsSending(id) ? parting_[id] : retired.ways;
  MoveTo(ways, found->second.ways);
  tokens_.erase(found->second.token);
  peers_.erase(found);
  return retired;
}

bool Datagrams::IsSending(probes::QpId id) const {
  return std::any_of(sends_.begin(), sends_.end(),
                     [id](const auto& send) { return send.second.qp == id; });
}

Result<std::uint16_t> Datagrams::Ask(probes::QpId id, std::uint32_t way, std::uint64_t probe) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) {
    return Fail({"the port's UD QP was made anew, and the peer does not know it yet"});
  }
  Peer& peer = found->second;
  way %= static_cast<std::uint32_t>(peer.ways.size());
  const std::uint64_t number = last_number_ + 1;  // that Post gives to it
  const Result<void> posted = Post(
      id, peer, way,
      {.kind = EchoMessage::Kind::kAsks, .number = number, .responder = Duration::zero()}, probe);
  if (!posted) return tl::unexpected(posted.error());
  peer.asked.push_back({number, probe});
  if (peer.asked.size() > probes::kDatagramsMax) peer.asked.pop_front();
  return peer.sports[way];
}

Result<void> Datagrams::Post(probes::QpId id, const Peer& peer, std::uint32_t way,
                             const EchoMessage& echo, std::optional<std::uint64_t> probe) {
  Port& port = ports_.at(peer.port);
  if (port.broken) return Fail({"the port's UD QP has failed and is made anew"});
  if (port.free_sends.empty()) {
    return Fail({"the port's UD QP is busy: ", std::to_string(kUdSends),
                 " datagrams have not left it yet"});
  }
  const std::size_t slot = port.free_sends.back();
  const std::uint64_t wr_id = kMark | ++last_number_;
  Result<void> posted = PostUdSend(port.qp,
                                   {.slot = slot,
                                    .ah = peer.ways[way].get(),
                                    .qpn = peer.there.ud_qpn,
                                    .qkey = peer.there.ud_qkey,
                                    .wr_id = wr_id},
                                   {.echo = echo, .token = peer.there.ud_token, .way = way});
  if (!posted) return posted;
  port.free_sends.pop_back();
  sends_.emplace(wr_id, Send{.port = peer.port, .slot = slot, .qp = id, .probe = probe});
  return posted;
}

// The handlers of what is told may close QPs and the device: nothing is touched after them.
void Datagrams::Deliver(const ibv_wc& wc, const probes::CompletionTime& time) {
  if (const auto received = receives_.extract(wc.wr_id); !received.empty()) {
    OnReceived(received.mapped(), wc, time);
  } else if (const auto sent = sends_.extract(wc.wr_id); !sent.empty()) {
    OnSent(sent.mapped(), wc, time);
  }
}

void Datagrams::OnSent(const Send& send, const ibv_wc& wc, const probes::CompletionTime& time) {
  ports_.at(send.port).free_sends.push_back(send.slot);
  if (const auto parting = parting_.find(send.qp);
      parting != parting_.end() && !IsSending(send.qp)) {
    handlers_.retire({.ways = std::move(parting->second), .qps = {}});
    parting_.erase(parting);
  }
  if (wc.status == IBV_WC_SUCCESS) return;
  Break(send.port, std::string(probes::StatusName(wc.status)));
  const auto peer = peers_.find(send.qp);
  if (!send.probe || peer == peers_.end()) return;
  std::erase_if(peer->second.asked,
                [&send](const Asked& asked) { return asked.probe == *send.probe; });
  handlers_.completed({.probe = *send.probe,
                       .status = {.code = wc.status, .vendor_error = wc.vendor_err},
                       .time = time});
}

void Datagrams::Break(std::uint32_t port, const std::string& why) {
  if (std::exchange(ports_.at(port).broken, true)) return;
  handlers_.journal("port " + PortId{device_, port}.Text() + ": its UD QP has failed (" + why +
                    ") and is made anew");
}

void Datagrams::OnReceived(const Receive& receive, const ibv_wc& wc,
                           const probes::CompletionTime& time) {
  Port& port = ports_.at(receive.port);
  if (wc.status != IBV_WC_SUCCESS) {
    Break(receive.port, std::string(probes::StatusName(wc.status)));
    return;
  }
  const Result<Datagram> datagram =
      probes::DecodeDatagram(ReceivedBy(port.qp, receive.receive, wc.byte_len));
  const std::uint64_t wr_id = kMark | ++last_number_;
  if (const Result<void> posted = PostUdReceive(port.qp, receive.receive, wr_id); posted) {
    receives_.emplace(wr_id, receive);
  } else {
    Break(receive.port, posted.error().Text());
  }
  if (datagram) {
    OnDatagram(receive.port, wc.src_qp, *datagram, time);
  } else if (!std::exchange(port.told_of_garbage, true)) {
    handlers_.journal("port " + PortId{device_, receive.port}.Text() + ": a datagram of QP " +
                      std::to_string(wc.src_qp) +
                      " is none of a daemon: " + datagram.error().Text());
  }
}

// Of a path that is no more there may be datagrams on the way: what is not known is passed over.
void Datagrams::OnDatagram(std::uint32_t port, std::uint32_t source_qpn, const Datagram& datagram,
                           const probes::CompletionTime& time) {
  const auto token = tokens_.find(datagram.token);
  if (token == tokens_.end()) return;
  Peer& peer = peers_.at(token->second);
  if (peer.port != port || peer.there.ud_qpn != source_qpn) return;
  if (datagram.echo.kind == EchoMessage::Kind::kAsks) {
    Answer(token->second, peer, datagram, time);
  } else {
    OnAnswer(peer, datagram.echo, time);
  }
}

void Datagrams::Answer(probes::QpId id, Peer& peer, const Datagram& question,
                       const probes::CompletionTime& time) {
  const TimePoint now = Clock::now();
  if (!peer.answers.Take(now)) return;
  const std::uint32_t way = question.way % static_cast<std::uint32_t>(peer.ways.size());
  // What cannot be answered is a datagram that was lost.
  static_cast<void>(Post(id, peer, way,
                         {.kind = EchoMessage::Kind::kAnswers,
                          .number = question.echo.number,
                          .responder = now - time.Completed()},
                         std::nullopt));
}

void Datagrams::OnAnswer(Peer& peer, const EchoMessage& echo, const probes::CompletionTime& time) {
  const auto asked = std::find_if(peer.asked.begin(), peer.asked.end(),
                                  [&echo](const Asked& one) { return one.number == echo.number; });
  if (asked == peer.asked.end()) return;
  const std::uint64_t probe = asked->probe;
  peer.asked.erase(asked);
  handlers_.echoed({.probe = probe, .responder = echo.responder, .time = time});
}

}  // namespace rdmapulse::verbs
