// The seam under ethtool_stats: one ioctl on one netdev.
#pragma once

#include <string>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace rdmapulse::collectors {

class EthtoolIoctl {
 public:
  virtual ~EthtoolIoctl() = default;
  // `request` begins with the command and is large enough for the answer. 0, or the errno.
  virtual int Call(const std::string& netdev, void* request) = 0;
};

// SIOCETHTOOL. Needs no privilege for what we ask. Blocks, under the kernel's network lock.
class KernelEthtool final : public EthtoolIoctl {
 public:
  static Result<KernelEthtool> Open();

  int Call(const std::string& netdev, void* request) override;

 private:
  explicit KernelEthtool(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
};

}  // namespace rdmapulse::collectors
