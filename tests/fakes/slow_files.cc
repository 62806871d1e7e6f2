#include "tests/fakes/slow_files.h"

#define FUSE_USE_VERSION 32
#include <dirent.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "daemon/base/unique_fd.h"

namespace rdmapulse::fakes {

struct SlowFiles::Server {
  std::string folder;
  std::string mount_point;
  fuse* session = nullptr;
  std::thread thread;

  // Between the test and the threads that answer the kernel.
  mutable std::mutex mutex;
  std::condition_variable released;
  std::set<std::string> blocked;
  std::set<std::string> opened;
  int waiting = 0;

  std::string Path(const char* path) const { return folder + path; }
  void WaitWhileBlocked(const std::string& path) {
    std::unique_lock lock(mutex);
    if (!blocked.contains(path)) return;
    ++waiting;
    released.wait(lock, [this, &path] { return !blocked.contains(path); });
    --waiting;
  }
  void Opened(const char* path) {
    const std::lock_guard lock(mutex);
    opened.insert(path + 1);  // without the leading slash
  }
};

namespace {

template <typename Server>
Server& Here() {
  return *static_cast<Server*>(fuse_get_context()->private_data);
}

// A template, since the server's type is private.
template <typename Server>
fuse_operations MakeOperations() {
  fuse_operations operations{};
  operations.init = [](fuse_conn_info*, fuse_config* config) -> void* {
    // As sysfs: nothing is cached, every open and read comes here.
    config->attr_timeout = 0;
    config->entry_timeout = 0;
    config->negative_timeout = 0;
    config->direct_io = 1;
    return fuse_get_context()->private_data;
  };
  operations.getattr = [](const char* path, struct stat* out, fuse_file_info*) -> int {
    return lstat(Here<Server>().Path(path).c_str(), out) == 0 ? 0 : -errno;
  };
  operations.readlink = [](const char* path, char* out, std::size_t size) -> int {
    const ssize_t length = readlink(Here<Server>().Path(path).c_str(), out, size - 1);
    if (length < 0) return -errno;
    out[length] = '\0';
    return 0;
  };
  operations.open = [](const char* path, fuse_file_info*) -> int {
    Here<Server>().Opened(path);
    return access(Here<Server>().Path(path).c_str(), R_OK) == 0 ? 0 : -errno;
  };
  operations.read = [](const char* path, char* out, std::size_t size, off_t offset,
                       fuse_file_info*) -> int {
    Server& server = Here<Server>();
    server.WaitWhileBlocked(path + 1);
    const UniqueFd fd(open(server.Path(path).c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return -errno;
    const ssize_t length = pread(fd.get(), out, size, offset);
    return length < 0 ? -errno : static_cast<int>(length);
  };
  operations.readdir = [](const char* path, void* out, fuse_fill_dir_t fill, off_t, fuse_file_info*,
                          fuse_readdir_flags) -> int {
    Server& server = Here<Server>();
    server.Opened(path);
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(server.Path(path).c_str()), closedir);
    if (folder == nullptr) return -errno;
    while (const dirent* entry = readdir(folder.get()))
      fill(out, entry->d_name, nullptr, 0, fuse_fill_dir_flags{});
    return 0;
  };
  return operations;
}

}  // namespace

Result<std::unique_ptr<SlowFiles>> SlowFiles::Mount(const std::string& folder) {
  auto server = std::make_unique<Server>();
  server->folder = folder;
  server->mount_point = std::filesystem::temp_directory_path() / "slow_files_XXXXXX";
  if (mkdtemp(server->mount_point.data()) == nullptr)
    return Fail(errno, {"making a folder for ", server->mount_point});
  const fuse_operations operations = MakeOperations<Server>();
  std::array<char, 11> name = {"slow_files"};
  std::array<char*, 2> arguments = {name.data(), nullptr};
  fuse_args args = FUSE_ARGS_INIT(1, arguments.data());
  server->session = fuse_new(&args, &operations, sizeof(operations), server.get());
  fuse_opt_free_args(&args);
  if (server->session == nullptr) return Fail({"starting a FUSE file system"});
  if (fuse_mount(server->session, server->mount_point.c_str()) != 0) {
    fuse_destroy(server->session);
    rmdir(server->mount_point.c_str());
    return Fail({"mounting a FUSE file system at ", server->mount_point},
                "it needs /dev/fuse, and root or fusermount3");
  }
  server->thread = std::thread([session = server->session] {
    fuse_loop_config config{};
    config.max_idle_threads = 10;
    fuse_loop_mt(session, &config);
  });
  return std::unique_ptr<SlowFiles>(new SlowFiles(std::move(server)));
}

SlowFiles::SlowFiles(std::unique_ptr<Server> server) : server_(std::move(server)) {}

SlowFiles::~SlowFiles() {
  Release();
  fuse_exit(server_->session);
  // Wakes the threads that wait for the kernel.
  fuse_unmount(server_->session);
  server_->thread.join();
  fuse_destroy(server_->session);
  rmdir(server_->mount_point.c_str());
}

const std::string& SlowFiles::Root() const { return server_->mount_point; }

void SlowFiles::Block(const std::string& path) {
  const std::lock_guard lock(server_->mutex);
  server_->blocked.insert(path);
}

void SlowFiles::Release() {
  const std::lock_guard lock(server_->mutex);
  server_->blocked.clear();
  server_->released.notify_all();
}

int SlowFiles::Waiting() const {
  const std::lock_guard lock(server_->mutex);
  return server_->waiting;
}

std::set<std::string> SlowFiles::TakeOpened() {
  const std::lock_guard lock(server_->mutex);
  return std::exchange(server_->opened, {});
}

}  // namespace rdmapulse::fakes
