// Packets of path traces to the network, and what ICMP answers to them: raw sockets, for which the
// daemon needs CAP_NET_RAW (raw(7)). They are open only while a trace goes on. Loop thread only.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "daemon/base/rdma.h"
#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/path_trace/icmp.h"
#include "daemon/path_trace/tracer.h"

namespace rdmapulse::path_trace {

class RawSockets : public Wire {
 public:
  // `from`: the address of who answers.
  using Answered =
      std::function<void(const IcmpAnswer& answer, const std::string& from, TimePoint received)>;

  RawSockets(boost::asio::io_context& loop, Answered answered);

  Result<TimePoint> Send(const Flow& flow, const Bytes& packet) override;
  void Rest() override;

 private:
  enum class Family : std::uint8_t { kIpv4, kIpv6 };

  Result<void> Listen(Family family);
  void WaitFor(Family family);
  void Receive(Family family);
  void ReceiveOne(Family family, std::span<const std::uint8_t> message, const Gid& from);

  boost::asio::io_context& loop_;
  Answered answered_;
  std::array<std::optional<boost::asio::posix::stream_descriptor>, 2> listening_;  // by Family
  std::map<Gid, UniqueFd> sending_;  // by the source address
};

}  // namespace rdmapulse::path_trace
