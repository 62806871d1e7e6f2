// What this build says it is: --version, rdmapulse_build_info, the API.
#pragma once

#include <string_view>

namespace rdmapulse {

inline constexpr std::string_view kVersion = "0.1.0";

// The revision it was built from; a release build passes -DRDMAPULSE_REVISION=\"…\". Empty:
// unknown.
#ifdef RDMAPULSE_REVISION
inline constexpr std::string_view kRevision = RDMAPULSE_REVISION;
#else
inline constexpr std::string_view kRevision;
#endif

}  // namespace rdmapulse
