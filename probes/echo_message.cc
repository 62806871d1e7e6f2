#include "probes/echo_message.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <chrono>
#include <string>

namespace rdmapulse::probes {
namespace {

constexpr std::uint8_t kMark[] = {'r', 'p'};
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kNumberAt = 8;
constexpr std::size_t kResponderAt = 16;
// Longer than any probe is waited for: what says more was not written by a daemon.
constexpr std::uint64_t kResponderNsMax = 3'600'000'000'000;

}  // namespace

std::array<std::uint8_t, kEchoBytes> Encode(const EchoMessage& message) {
  std::array<std::uint8_t, kEchoBytes> bytes{kMark[0], kMark[1], kVersion,
                                             static_cast<std::uint8_t>(message.kind)};
  boost::endian::store_big_u64(&bytes[kNumberAt], message.number);
  const std::int64_t responder = std::chrono::nanoseconds(message.responder).count();
  const auto most = static_cast<std::int64_t>(kResponderNsMax);
  boost::endian::store_big_s64(&bytes[kResponderAt], std::clamp<std::int64_t>(responder, 0, most));
  return bytes;
}

Result<EchoMessage> DecodeEcho(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kEchoBytes) return Fail({std::to_string(bytes.size()), " bytes, not 24"});
  if (!std::equal(std::begin(kMark), std::end(kMark), bytes.begin())) {
    return Fail({"it does not begin as an echo does"});
  }
  if (bytes[2] != kVersion) return Fail({"version ", std::to_string(bytes[2]), ", not 1"});
  if (bytes[3] != 1 && bytes[3] != 2) {
    return Fail({"kind ", std::to_string(bytes[3]), " is neither question nor answer"});
  }
  const std::uint64_t responder = boost::endian::load_big_u64(&bytes[kResponderAt]);
  if (responder > kResponderNsMax) return Fail({"the responder's delay is over an hour"});
  return EchoMessage{.kind = static_cast<EchoMessage::Kind>(bytes[3]),
                     .number = boost::endian::load_big_u64(&bytes[kNumberAt]),
                     .responder = std::chrono::nanoseconds(responder)};
}

}  // namespace rdmapulse::probes
