// The knot between prober and control sessions: each is made with a reference to the other, so one
// of the two is named before it is there.
#pragma once

#include <cassert>
#include <string>
#include <utility>

#include "probes/peer_link.h"

namespace rdmapulse {

// Hands on to whom it is bound; nothing may arrive before.
class ForwardedPeerEvents : public probes::PeerEvents {
 public:
  void Bind(probes::PeerEvents& target) { target_ = &target; }

  void OnPeer(const std::string& peer, const probes::PeerInfo& info) override {
    Target().OnPeer(peer, info);
  }
  void OnPeerGone(const std::string& peer) override { Target().OnPeerGone(peer); }
  void OnConnectRequest(const std::string& peer, const probes::ConnectRequest& request,
                        Reply reply) override {
    Target().OnConnectRequest(peer, request, std::move(reply));
  }
  void OnReady(const std::string& peer, const probes::PathRef& path) override {
    Target().OnReady(peer, path);
  }
  void OnLost(const std::string& peer, const probes::PathRef& path,
              const std::string& why) override {
    Target().OnLost(peer, path, why);
  }

 private:
  probes::PeerEvents& Target() {
    assert(target_ != nullptr);
    return *target_;
  }

  probes::PeerEvents* target_ = nullptr;
};

}  // namespace rdmapulse
