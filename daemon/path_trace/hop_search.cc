#include "daemon/path_trace/hop_search.h"

#include <algorithm>
#include <utility>

#include "daemon/path_trace/packet.h"

namespace rdmapulse::path_trace {

HopSearch::HopSearch(Limits limits, std::string peer)
    : limits_(limits), peer_(std::move(peer)), last_(std::min(limits.hops_max, kHopsLimit)) {}

// Nothing more will become known of it.
bool HopSearch::Given(Question question, TimePoint now) const {
  const Asked& asked = asked_[question];
  return asked.answered ||
         (asked.times >= limits_.attempts && now >= asked.last + limits_.patience);
}

TimePoint HopSearch::HeadStart() const {
  const bool waits = began_ && !asked_[kDistance].answered;
  return waits ? *began_ + limits_.head_start : TimePoint::min();
}

std::uint8_t HopSearch::Furthest(TimePoint now) const {
  const int unheard = began_ && now >= HeadStart() ? limits_.silent_max : 1;
  return static_cast<std::uint8_t>(std::min<int>(last_, last_answered_ + unheard));
}

bool HopSearch::Allowed(Question question, TimePoint now) const {
  return question == kDistance ? !refused_ : question <= Furthest(now);
}

std::optional<HopSearch::Question> HopSearch::Next(TimePoint now) {
  if (!began_) began_ = now;
  for (Question question = kDistance; question <= Furthest(now); ++question) {
    Asked& asked = asked_[question];
    if (!Allowed(question, now) || asked.answered || asked.times >= limits_.attempts) continue;
    if (asked.times > 0 && now < asked.last + limits_.patience) continue;
    ++asked.times;
    asked.last = now;
    return question;
  }
  return std::nullopt;
}

TimePoint HopSearch::NextDue(TimePoint now) const {
  TimePoint due = HeadStart() > now ? HeadStart() : TimePoint::max();
  for (Question question = kDistance; question <= Furthest(now); ++question) {
    if (!Allowed(question, now) || Given(question, now)) continue;
    const Asked& asked = asked_[question];
    due = std::min(due, asked.times == 0 ? now : asked.last + limits_.patience);
  }
  return due;
}

void HopSearch::OnAnswer(Question question, const IcmpAnswer& answer, const std::string& address,
                         Duration rtt) {
  if (question > last_ || asked_[question].answered) return;
  if (question == kDistance) return OnDistance(answer, address, rtt);
  asked_[question].answered = true;
  if (address == peer_) {  // its kernel has the port when no RDMA device takes the packets
    if (!peer_hop_) peer_hop_ = Hop{.ttl = question, .address = address, .rtt = rtt, .peer = true};
    last_ = std::min<std::uint8_t>(last_, question - 1);
    return;
  }
  asked_[question].hop = {
      .ttl = question, .address = address, .rtt = rtt, .refusal = answer.refusal};
  last_answered_ = std::max(last_answered_, question);
  if (answer.said == Said::kTimeExceeded) return;
  // A firewall may say that a port is closed which is not its own.
  if (asked_[question].hop.refusal.empty()) asked_[question].hop.refusal = "forbidden";
  refused_ = true;
  last_ = question;
}

void HopSearch::OnDistance(const IcmpAnswer& answer, const std::string& address, Duration rtt) {
  asked_[kDistance].answered = true;
  // Who refuses it will refuse the others, too, and then it is known at which TTL.
  if (answer.said != Said::kPortUnreachable || address != peer_) return;
  const std::uint8_t left = answer.quoted.ttl;
  if (left == 0 || left > kFullTtl) return;
  const int ttl = kFullTtl - left + 1;
  if (ttl > last_ || peer_hop_) return;  // too far, or found already
  peer_hop_ =
      Hop{.ttl = static_cast<std::uint8_t>(ttl), .address = address, .rtt = rtt, .peer = true};
  last_ = static_cast<std::uint8_t>(ttl - 1);
  refused_ = false;
}

bool HopSearch::Over(TimePoint now) const {
  for (Question question = kDistance; question <= Furthest(now); ++question) {
    if (Allowed(question, now) && !Given(question, now)) return false;
  }
  return true;
}

std::vector<Hop> HopSearch::Settled(TimePoint now) const {
  std::vector<Hop> hops;
  const bool distance_given = peer_hop_ || !Allowed(kDistance, now) || Given(kDistance, now);
  for (Question ttl = 1; ttl <= Furthest(now); ++ttl) {
    if (!Given(ttl, now)) return hops;
    // Past the last that answered it may turn out to be behind the peer.
    if (!asked_[ttl].answered && ttl > last_answered_ && !distance_given) return hops;
    Hop hop = asked_[ttl].hop;
    hop.ttl = ttl;
    hops.push_back(std::move(hop));
  }
  if (peer_hop_ && peer_hop_->ttl == hops.size() + 1) hops.push_back(*peer_hop_);
  return hops;
}

Ending HopSearch::HowItEnded(TimePoint now) const {
  if (refused_) return Ending::kRefused;
  if (peer_hop_) return Ending::kPeer;
  return Furthest(now) == last_ ? Ending::kTooFar : Ending::kSilent;
}

}  // namespace rdmapulse::path_trace
