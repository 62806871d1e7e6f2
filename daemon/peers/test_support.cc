#include "daemon/peers/test_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <utility>

namespace rdmapulse::peers {
namespace asio = boost::asio;
using asio::ip::tcp;

void FakeProber::OnPeer(const std::string& peer, const probes::PeerInfo& info) {
  std::string event = peer + " up epoch " + std::to_string(info.epoch) + " leads " +
                      (info.we_lead ? "1" : "0") + " ports";
  for (const auto& port : info.ports) event += " " + port.id.Text();
  events.push_back(event);
  if (on_event) on_event(peer);
}

void FakeProber::OnConnectRequest(const std::string& peer, const probes::ConnectRequest& request,
                                  Reply reply) {
  events.push_back(peer + " connect " + std::to_string(request.path.serial));
  requests.push_back(request);
  if (answer) return reply(*answer);
  kept.push_back(std::move(reply));
}

void FakeProber::OnReady(const std::string& peer, const probes::PathRef& path) {
  events.push_back(peer + " ready " + std::to_string(path.serial));
}

void FakeProber::OnLost(const std::string& peer, const probes::PathRef& path,
                        const std::string& why) {
  events.push_back(peer + " lost " + std::to_string(path.serial) + " " + why);
}

std::size_t FakeProber::Count(const std::string& event) const {
  return static_cast<std::size_t>(
      std::count_if(events.begin(), events.end(),
                    [&event](const std::string& seen) { return seen.starts_with(event); }));
}

Timers QuickTimers() {
  using std::chrono::milliseconds;
  Timers timers;
  timers.ping_interval = milliseconds(20);
  timers.up_within = milliseconds(200);
  timers.liveness = {.dead_after = milliseconds(500), .idle_after = milliseconds(800)};
  timers.hello_timeout = milliseconds(300);
  timers.connect_timeout = milliseconds(300);
  timers.request_timeout = milliseconds(500);
  timers.drain = milliseconds(100);
  timers.first_dial = milliseconds(20);
  timers.longest_dial = milliseconds(200);
  return timers;
}

Timers PatientTimers() {
  Timers timers = QuickTimers();
  timers.up_within = timers.liveness.dead_after = std::chrono::seconds(20);
  timers.hello_timeout = timers.connect_timeout = std::chrono::seconds(20);
  return timers;
}

Options PatientOptions(const std::string& listen, const std::string& host, std::uint64_t instance) {
  Options options = QuickOptions(listen, host, instance);
  options.timers = PatientTimers();
  return options;
}

Options QuickOptions(const std::string& listen, const std::string& host, std::uint64_t instance) {
  Options options;
  options.listen = listen;
  options.host = host;
  options.agent_version = "0.1.0";
  options.epoch = 1000 + instance;
  options.instance = instance;
  options.random = [] { return 0.5; };
  options.timers = QuickTimers();
  return options;
}

Node::Node(asio::io_context& io, const Options& options) : plane(io, options, prober) {
  const auto listening = plane.Listen();
  EXPECT_TRUE(listening.has_value()) << (listening ? "" : listening.error().Text());
}

PeerSnapshot Node::Status(const std::string& peer) const {
  for (const PeerSnapshot& status : plane.Status(Clock::now())) {
    if (status.name == peer) return status;
  }
  return {};
}

bool Node::Up(const std::string& peer) const { return Status(peer).up; }

std::string Node::Address(const std::string& host) const {
  return host + ":" + std::to_string(plane.listen_port());
}

bool RawPeer::Connect(const std::string& address, std::uint16_t port) {
  boost::system::error_code error;
  socket_.open(tcp::v4(), error);
  socket_.bind({asio::ip::make_address(source_), 0}, error);
  if (error) return false;
  socket_.connect({asio::ip::make_address(address), port}, error);
  if (error) return false;
  socket_.non_blocking(true, error);
  return !error;
}

void RawPeer::Adopt(tcp::socket socket) {
  socket_ = std::move(socket);
  boost::system::error_code error;
  socket_.non_blocking(true, error);
}

void RawPeer::Send(std::string_view bytes) {
  boost::system::error_code error;
  while (!bytes.empty() && !error) {
    bytes.remove_prefix(socket_.write_some(asio::buffer(bytes.data(), bytes.size()), error));
  }
  if (error && error != asio::error::would_block) closed_ = true;
}

void RawPeer::Say(const Message& message) {
  const auto frame = EncodeFrame(message);
  ASSERT_TRUE(frame.has_value()) << frame.error().Text();
  Send(*frame);
}

void RawPeer::ReadAll() {
  boost::system::error_code error;
  while (socket_.is_open() && !error) {
    const auto space = reader_.Space();
    reader_.Commit(socket_.read_some(asio::buffer(space.data(), space.size()), error));
    for (auto next = reader_.Next(); next && *next; next = reader_.Next()) {
      const auto message = DecodeEnvelope(**next);
      ASSERT_TRUE(message.has_value()) << message.error().Text();
      heard_.push_back(*message);
    }
  }
  if (error && error != asio::error::would_block) closed_ = true;
}

const std::vector<Message>& RawPeer::Heard() {
  ReadAll();
  return heard_;
}

bool RawPeer::Closed() {
  ReadAll();
  return closed_;
}

void RawPeer::Close() {
  boost::system::error_code error;
  socket_.close(error);
}

bool RunUntil(asio::io_context& io, const std::function<bool()>& done) {
  const TimePoint deadline = Clock::now() + std::chrono::seconds(20);
  while (!done()) {
    if (Clock::now() >= deadline) return false;
    if (io.stopped()) io.restart();
    io.run_one_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace rdmapulse::peers
