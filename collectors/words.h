// The words of a line of the kernel's or a tool's text. Pure.
#pragma once

#include <string_view>
#include <vector>

namespace rdmapulse::collectors {

// Without the blanks around them; views into `line`.
std::vector<std::string_view> Words(std::string_view line);

}  // namespace rdmapulse::collectors
