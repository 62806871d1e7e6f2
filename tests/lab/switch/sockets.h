// The switch's Unix sockets. QEMU's `-netdev dgram` sends each frame as one datagram to ours and
// takes each datagram on its own socket as one frame.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace rdmapulse::lab {

// Where one host's port is: our socket, and the one its QEMU binds when it starts.
struct PortAddress {
  std::string name;
  std::string switch_path;
  std::string host_path;
};

// A socket of the given type bound to the path; what is left there of a dead switch is removed.
Result<UniqueFd> BindUnixSocket(int type, const std::string& path);

enum class SendOutcome { kSent, kHostBusy, kHostAbsent };

// The path is looked up each time: a host that is started anew binds anew.
SendOutcome SendFrame(int fd, const std::string& host_path,
                      const std::vector<unsigned char>& frame);

}  // namespace rdmapulse::lab
