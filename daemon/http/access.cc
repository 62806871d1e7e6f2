#include "daemon/http/access.h"

#include <boost/asio/ip/address.hpp>

namespace rdmapulse::http {

namespace ip = boost::asio::ip;

bool MayReadApi(const ip::address& client, const AddressPredicate& allowed) {
  const bool mapped = client.is_v6() && client.to_v6().is_v4_mapped();
  const ip::address plain =
      mapped ? ip::address(ip::make_address_v4(ip::v4_mapped, client.to_v6())) : client;
  return plain.is_loopback() || (allowed && allowed(plain));
}

}  // namespace rdmapulse::http
