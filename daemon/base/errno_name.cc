#include "daemon/base/errno_name.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace rdmapulse {
namespace {

constexpr int kLast = EHWPOISON;  // of errno(3)

struct Named {
  std::string_view name;
  int error;
};

// include/linux/errno.h, which no header for programs has.
constexpr std::array<Named, 19> kOfTheKernel = {{{"ERESTARTSYS", 512},
                                                 {"ERESTARTNOINTR", 513},
                                                 {"ERESTARTNOHAND", 514},
                                                 {"ENOIOCTLCMD", 515},
                                                 {"ERESTART_RESTARTBLOCK", 516},
                                                 {"EPROBE_DEFER", 517},
                                                 {"EOPENSTALE", 518},
                                                 {"ENOPARAM", 519},
                                                 {"EBADHANDLE", 521},
                                                 {"ENOTSYNC", 522},
                                                 {"EBADCOOKIE", 523},
                                                 {"ENOTSUPP", 524},
                                                 {"ETOOSMALL", 525},
                                                 {"ESERVERFAULT", 526},
                                                 {"EBADTYPE", 527},
                                                 {"EJUKEBOX", 528},
                                                 {"EIOCBQUEUED", 529},
                                                 {"ERECALLCONFLICT", 530},
                                                 {"ENOGRACE", 531}}};

// Second names of the same numbers.
constexpr std::array<Named, 3> kAlso = {
    {{"ENOTSUP", ENOTSUP}, {"EWOULDBLOCK", EWOULDBLOCK}, {"EDEADLOCK", EDEADLOCK}}};

}  // namespace

std::string_view ErrnoName(int error) {
  const char* const known = error > 0 && error <= kLast ? strerrorname_np(error) : nullptr;
  if (known != nullptr) return known;
  const auto* const own =
      std::find_if(kOfTheKernel.begin(), kOfTheKernel.end(),
                   [error](const Named& named) { return named.error == error; });
  return own == kOfTheKernel.end() ? std::string_view() : own->name;
}

std::optional<int> ErrnoNamed(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (const Named& named : kAlso) {
    if (named.name == name) return named.error;
  }
  for (int error = 1; error <= kOfTheKernel.back().error; ++error) {
    if (ErrnoName(error) == name) return error;
  }
  return std::nullopt;
}

}  // namespace rdmapulse
