// Replaces in a recording what tells where it is from: addresses, GUIDs and the host's name. The
// same original always has the same replacement, in file names too, and what follows from an
// address (the link-local GID of a MAC, the GID that holds an IPv4 address) still follows from it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace rdmapulse::cli {

// One object for one recording. Not kept: which network an IPv4 address is of beyond its /24, and
// which an IPv6 address is of beyond its /64. Left alone: what says nothing of a place, such as
// zeros, loopback, multicast and the link-local prefix; names of devices and interfaces, but for
// those that udev makes of a MAC or a GUID.
class Anonymiser {
 public:
  // `host` is replaced wherever it stands as a word, with or without its domain. Empty: nothing is.
  explicit Anonymiser(std::string host) : host_(std::move(host)) {}

  std::string Text(std::string_view text);
  // Of a text that is nothing but the identity of something: bytes in hexadecimal digits.
  std::string Id(std::string_view text);
  // `node_desc` is what an administrator or a subnet manager wrote there, but for the words by
  // which a driver is known.
  static std::string NodeDescription(std::string_view text);
  // "host"
  static std::string HostName() { return "host"; }

 private:
  using Mac = std::array<std::uint8_t, 6>;

  std::string Word(std::string_view word);
  std::string ReplacedMac(std::string_view word);
  std::string ReplacedIpv4(std::string_view word);
  std::string ReplacedGroups(std::string_view word);
  std::string ReplacedName(std::string_view word);
  Mac NewMac(const Mac& mac);
  std::uint32_t NewIpv4(std::uint32_t address);
  std::uint64_t NewGuid(std::uint64_t guid);
  std::uint64_t NewPrefix(std::uint64_t prefix);
  std::uint64_t NewInterfaceId(std::uint64_t id);

  std::string host_;
  std::map<Mac, std::uint32_t> macs_;
  std::map<std::uint32_t, std::uint32_t> ipv4_networks_;
  std::map<std::uint32_t, std::uint32_t> ipv4_hosts_;
  std::map<std::uint64_t, std::uint32_t> guids_;
  std::map<std::uint64_t, std::uint32_t> prefixes_;
  std::map<std::string, std::uint32_t> ids_;
};

}  // namespace rdmapulse::cli
