// Who may read the API over TCP. Pure.
#pragma once

#include <functional>

namespace boost::asio::ip {
class address;
}

namespace rdmapulse::http {

// Is given IPv4 addresses as such, never as ::ffff:a.b.c.d. Empty: nobody.
using AddressPredicate = std::function<bool(const boost::asio::ip::address&)>;

// Loopback always, else what `allowed` says. An IPv4 client of a socket for both families arrives
// as ::ffff:a.b.c.d and is taken for what it is.
bool MayReadApi(const boost::asio::ip::address& client, const AddressPredicate& allowed);

}  // namespace rdmapulse::http
