#include "probes/datagram.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <string>

namespace rdmapulse::probes {
namespace {

constexpr std::size_t kTokenAt = kEchoBytes;
constexpr std::size_t kWayAt = kTokenAt + 8;

}  // namespace

std::array<std::uint8_t, kDatagramBytes> Encode(const Datagram& datagram) {
  std::array<std::uint8_t, kDatagramBytes> bytes{};
  const auto echo = Encode(datagram.echo);
  std::copy(echo.begin(), echo.end(), bytes.begin());
  boost::endian::store_big_u64(&bytes[kTokenAt], datagram.token);
  boost::endian::store_big_u32(&bytes[kWayAt], datagram.way);
  return bytes;
}

Result<Datagram> DecodeDatagram(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kDatagramBytes) return Fail({std::to_string(bytes.size()), " bytes, not 40"});
  const Result<EchoMessage> echo = DecodeEcho(bytes.first(kEchoBytes));
  if (!echo) return tl::unexpected(echo.error());
  const std::uint64_t token = boost::endian::load_big_u64(&bytes[kTokenAt]);
  if (token == 0) return Fail({"it has no token"});
  return Datagram{
      .echo = *echo, .token = token, .way = boost::endian::load_big_u32(&bytes[kWayAt])};
}

}  // namespace rdmapulse::probes
