// The bounds of every field, for both directions. Internal to wire.
#pragma once

#include <string_view>

#include "daemon/base/result.h"
#include "daemon/peers/message.h"

namespace rdmapulse::peers {

// The error names the message, the field and the value: "connect: the leader's PSN 16777216 is over
// 24 bits". Texts (reasons, versions) are not looked at: see Printable and CheckText.
Result<void> CheckMessage(const Message& message);
// For texts that came from outside.
Result<void> CheckText(std::string_view what, std::string_view text);

}  // namespace rdmapulse::peers
