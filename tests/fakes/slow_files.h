// A folder shown through a file system of our own (FUSE), whose files can be made not to answer, as
// a NIC's do whose firmware hangs, and which keeps account of what is opened. For tests; needs root
// or fusermount3.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "daemon/base/result.h"

namespace rdmapulse::fakes {

class SlowFiles {
 public:
  // Shows `folder`, which must outlive it. The Error says why this machine cannot: no /dev/fuse, no
  // right to mount.
  static Result<std::unique_ptr<SlowFiles>> Mount(const std::string& folder);
  SlowFiles(const SlowFiles&) = delete;
  SlowFiles& operator=(const SlowFiles&) = delete;
  // Lets go of all reads and unmounts.
  ~SlowFiles();

  const std::string& Root() const;

  // From now on no read of this file returns, until Release.
  void Block(const std::string& path);
  void Release();
  // How many reads wait at this moment.
  int Waiting() const;
  // Every file and folder that was opened since the last call, under its path as it was asked for,
  // without links being followed first.
  std::set<std::string> TakeOpened();

 private:
  struct Server;
  explicit SlowFiles(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

}  // namespace rdmapulse::fakes
