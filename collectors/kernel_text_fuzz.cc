// Whatever text a file of sysfs holds, its meaning is a value or unknown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "collectors/driver_names.h"
#include "collectors/kernel_files.h"
#include "collectors/sysfs_text.h"

namespace rdmapulse::collectors {
namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

void TryAll(std::string_view text) {
  const auto value = ParseCounter(text);
  // What is a number is the number that the text spells.
  if (value && *value) {
    const std::string_view digits = Trim(text);
    const std::size_t zeros = digits.find_first_not_of('0');
    const std::string canonical(zeros == std::string_view::npos ? "0" : digits.substr(zeros));
    Check(canonical == std::to_string(**value));
  }
  if (!value) Check(value.error().doing.size() < 80);
  for (const char c : Printable(text)) Check(c >= ' ' && c <= '~');

  if (const auto rate = ParseRate(text)) Check(*rate > 0 && *rate % 12'500'000 == 0);
  ParsePortState(text);
  Check(ParsePhysState(text).size() <= 43);
  ParseLinkLayer(text);
  ParseLid(text);
  ParseGuid(text);
  if (const auto port = ParsePortNumber(text)) Check(std::to_string(*port) == text);
  IsRnic(text);
  ParseGidType(text, LinkLayer::kEthernet);
  const std::string_view address = LastPciAddress(text);
  Check(text.find(address) != std::string_view::npos);
  DriverName({.device = text, .bound = text, .node_type = text, .hca_type = text});
  DriverName({.device = text, .hca_type = text});
}

}  // namespace
}  // namespace rdmapulse::collectors

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmapulse::collectors::TryAll({static_cast<const char*>(static_cast<const void*>(data)), size});
  return 0;
}
