// Every key of the configuration file: the one table that loading, messages and the documentation's
// test go by. A new option is a field in config.h and a row here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/value.h"

namespace rdmapulse::config {

struct Key {
  std::string_view path;  // "classes.lossless.dscp"
  void (*read)(const Value& value, Config& config);
};

struct PeerKey {
  std::string_view name;  // "address"
  void (*read)(const Value& value, Peer& peer);
};

std::span<const Key> Keys();
std::span<const PeerKey> PeerKeys();

// All of them as documented: "http.listen", …, "peers", "peers[].name", ….
std::vector<std::string> KnownKeys();

// The keys or sections directly inside the section `path` ("" is the whole file), each once:
// "classes" → "lossless", "control". Empty: no section of that name.
std::vector<std::string_view> NamesIn(std::string_view path);

// Reads one mapping: known entries into `config`, unknown ones into the report.
void ReadSection(const Value& section, Config& config);

}  // namespace rdmapulse::config
