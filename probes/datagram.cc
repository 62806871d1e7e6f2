#include "probes/datagram.h"

#include <algorithm>
#include <string>

namespace rdmapulse::probes {
namespace {

constexpr std::size_t kTokenAt = kEchoBytes;
constexpr std::size_t kWayAt = kTokenAt + 8;

void WriteNumber(std::uint64_t value, std::span<std::uint8_t> to) {
  for (auto byte = to.rbegin(); byte != to.rend(); ++byte) {
    *byte = static_cast<std::uint8_t>(value);
    value >>= 8U;
  }
}

std::uint64_t ReadNumber(std::span<const std::uint8_t> from) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : from) value = value << 8U | byte;
  return value;
}

}  // namespace

std::array<std::uint8_t, kDatagramBytes> Encode(const Datagram& datagram) {
  std::array<std::uint8_t, kDatagramBytes> bytes{};
  const auto echo = Encode(datagram.echo);
  std::copy(echo.begin(), echo.end(), bytes.begin());
  const std::span<std::uint8_t> all(bytes);
  WriteNumber(datagram.token, all.subspan(kTokenAt, 8));
  WriteNumber(datagram.way, all.subspan(kWayAt, 4));
  return bytes;
}

Result<Datagram> DecodeDatagram(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kDatagramBytes) return Fail({std::to_string(bytes.size()), " bytes, not 40"});
  const Result<EchoMessage> echo = DecodeEcho(bytes.first(kEchoBytes));
  if (!echo) return tl::unexpected(echo.error());
  const std::uint64_t token = ReadNumber(bytes.subspan(kTokenAt, 8));
  if (token == 0) return Fail({"it has no token"});
  return Datagram{.echo = *echo,
                  .token = token,
                  .way = static_cast<std::uint32_t>(ReadNumber(bytes.subspan(kWayAt, 4)))};
}

}  // namespace rdmapulse::probes
