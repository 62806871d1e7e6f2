// Sessions as a hostile peer may drive them: connections that come and go, messages of every kind
// in any order, halves and garbage, while our own side asks, answers late and changes its mind.
// What the prober is told must make sense whatever is said, and whoever asked is answered once.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/peers/control_plane.h"
#include "daemon/peers/test_messages.h"
#include "daemon/peers/test_support.h"
#include "daemon/peers/wire.h"

namespace {

using rdmapulse::Result;
using rdmapulse::peers::EncodeFrame;
using rdmapulse::peers::EveryMessage;
using rdmapulse::peers::Hello;
using rdmapulse::peers::Message;
using rdmapulse::peers::Node;
using rdmapulse::peers::RawPeer;
using rdmapulse::probes::ConnectReply;

constexpr const char* kPeer = "h66";
constexpr const char* kSource = "127.0.0.66";
constexpr std::size_t kConnections = 3;

void Require(bool holds) {
  if (!holds) std::abort();
}

// The input as a row of small numbers; at its end they are 0.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  bool Done() const { return rest_.empty(); }
  std::size_t Next(std::size_t below) {
    if (rest_.empty()) return 0;
    const std::size_t value = rest_.front() % below;
    rest_ = rest_.subspan(1);
    return value;
  }
  std::string Text(std::size_t length) {
    const auto part = rest_.first(std::min(length, rest_.size()));
    rest_ = rest_.subspan(part.size());
    return {part.begin(), part.end()};
  }

 private:
  std::span<const std::uint8_t> rest_;
};

class Play {
 public:
  Play(const std::uint8_t* data, std::size_t size)
      : bytes_(data, size), node_(io_, rdmapulse::peers::QuickOptions("127.0.0.1:0", "h1", 1)) {
    SetPeers(true);
  }

  void Run() {
    while (!bytes_.Done()) Step();
    node_.plane.Stop();
    io_.restart();
    io_.run();
    for (const auto& reply : node_.prober.kept) reply(rdmapulse::Fail({"too late"}));
    for (const int answers : answers_) Require(answers == 1);
    CheckEvents();
  }

 private:
  void Step() {
    switch (bytes_.Next(11)) {
      case 0: return Dial();
      case 1: return SayHello();
      case 2: return Say(SomeMessage());
      case 3: return Send(bytes_.Text(bytes_.Next(64)));
      case 4: return SayHalf();
      case 5: return HangUp();
      case 6: return AnswerOne();
      case 7: return Ask();
      case 8: return Tell();
      case 9: return SetPeers(bytes_.Next(2) == 0);
      default: return Turn();
    }
  }

  void Turn() {
    io_.restart();
    io_.poll();
  }
  void Dial() {
    auto& connection = connections_[bytes_.Next(kConnections)];
    connection = std::make_unique<RawPeer>(io_, kSource);
    if (!connection->Connect("127.0.0.1", node_.plane.listen_port())) connection.reset();
    Turn();
  }
  void SayHello() {
    Hello hello = rdmapulse::peers::SomeHello(kPeer, 2 + bytes_.Next(3));
    hello.dial = bytes_.Next(4);
    hello.revision = bytes_.Next(4);
    if (bytes_.Next(4) == 0) hello.ports.clear();
    if (bytes_.Next(8) == 0) hello.host = "h1";
    Say({0, std::move(hello)});
  }
  Message SomeMessage() {
    static const auto all = EveryMessage();
    Message message = all[bytes_.Next(all.size())].second;
    message.id = bytes_.Next(8);
    return message;
  }
  void Say(const Message& message) {
    if (const auto frame = EncodeFrame(message)) Send(*frame);
  }
  void SayHalf() {
    const auto frame = EncodeFrame(SomeMessage());
    if (frame) Send(frame->substr(0, frame->size() / 2));
  }
  void Send(const std::string& text) {
    auto& connection = connections_[bytes_.Next(kConnections)];
    if (connection == nullptr) return;
    connection->Send(text);
    Turn();
    connection->Heard();  // whatever we say must be understood
  }
  void HangUp() {
    connections_[bytes_.Next(kConnections)].reset();
    Turn();
  }
  void AnswerOne() {
    auto& kept = node_.prober.kept;
    if (kept.empty()) return;
    const auto reply = std::exchange(kept.back(), nullptr);
    kept.pop_back();
    if (bytes_.Next(2) == 0) {
      reply(rdmapulse::peers::SomeReply());
    } else {
      reply(rdmapulse::Fail({"no"}));
    }
  }
  void Ask() {
    const std::size_t number = answers_.size();
    answers_.push_back(0);
    node_.plane.RequestConnect(kPeer, rdmapulse::peers::SomeConnect(),
                               [this, number](const Result<ConnectReply>&) { ++answers_[number]; });
    Require(answers_[number] == 0);  // never from within the call
  }
  void Tell() {
    if (bytes_.Next(2) == 0) {
      node_.plane.TellReady(kPeer, rdmapulse::peers::SomePath());
    } else {
      node_.plane.TellLost(kPeer, rdmapulse::peers::SomePath(), "x");
    }
  }
  void SetPeers(bool known) {
    std::vector<rdmapulse::config::Peer> peers;
    if (known) peers.push_back({kPeer, std::string(kSource) + ":1", {}});
    node_.plane.SetPeers(peers);
  }

  // A peer is gone when it was there, and says nothing while it is not.
  void CheckEvents() const {
    bool up = false;
    for (const std::string& event : node_.prober.events) {
      Require(event.starts_with(std::string(kPeer) + " "));
      const std::string what = event.substr(std::string(kPeer).size() + 1);
      if (what.starts_with("up ")) {
        up = true;
        continue;
      }
      Require(up);
      if (what == "gone") up = false;
    }
    Require(!up);
  }

  Bytes bytes_;
  boost::asio::io_context io_{1};
  Node node_;
  std::array<std::unique_ptr<RawPeer>, kConnections> connections_;
  std::vector<int> answers_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  GTEST_FLAG_SET(break_on_failure, true);
  spdlog::set_level(spdlog::level::off);
  Play(data, std::min<std::size_t>(size, 400)).Run();
  return 0;
}
