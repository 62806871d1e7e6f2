// One plausible value of each message, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "daemon/peers/message.h"

namespace rdmapulse::peers {

probes::PathRef SomePath();
probes::ConnectRequest SomeConnect();
probes::ConnectReply SomeReply();
// Epoch 1000 + instance, one port: mlx5_0/1.
Hello SomeHello(const std::string& host, std::uint64_t instance);

// Every alternative of Body once, with the name of its golden file.
std::vector<std::pair<std::string, Message>> EveryMessage();

}  // namespace rdmapulse::peers
