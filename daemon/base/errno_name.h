// The names of Linux' errors, with those that only the kernel's own headers know: drivers let them
// slip through a file of sysfs.
#pragma once

#include <optional>
#include <string_view>

namespace rdmapulse {

// "EINVAL", "ENOTSUPP"; empty: there is no such error, or it is 0.
std::string_view ErrnoName(int error);

// By its name or another one for the same ("ENOTSUP"); nullopt: none is called that.
std::optional<int> ErrnoNamed(std::string_view name);

}  // namespace rdmapulse
