#include "collectors/driver_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace rdmapulse::collectors {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// The driver that the parent device is bound to → its short name.
constexpr std::array<Pair, 24> kBound = {{
    {"mlx5_core", "mlx5"},     {"mlx5_core.sf", "mlx5"}, {"mlx4_core", "mlx4"},
    {"bnxt_en", "bnxt"},       {"i40e", "irdma_gen1"},   {"ice", "irdma_gen2"},
    {"idpf", "irdma_gen3"},    {"qede", "qedr"},         {"hns3", "hns"},
    {"hns_roce_hw_v2", "hns"}, {"efa", "efa"},           {"erdma", "erdma"},
    {"mana", "mana"},          {"ionic", "ionic"},       {"cxgb4", "cxgb4"},
    {"hfi1", "hfi1"},          {"ib_qib", "qib"},        {"ib_mthca", "mthca"},
    {"be2net", "ocrdma"},      {"ocrdma", "ocrdma"},     {"vmw_pvrdma", "vmw_pvrdma"},
    {"usnic_verbs", "usnic"},  {"enic", "usnic"},        {"bnge", "bng_re"},
}};

// Where there is no bound driver (recordings seldom hold the link): the names that drivers give
// their devices. irdma does not tell its generation.
constexpr std::array<Pair, 21> kPrefixes = {{
    {"mlx5_", "mlx5"},
    {"mlx4_", "mlx4"},
    {"bnxt_re", "bnxt"},
    {"irdma", "irdma"},
    {"i40iw", "irdma_gen1"},
    {"qedr", "qedr"},
    {"hns_", "hns"},
    {"efa_", "efa"},
    {"erdma_", "erdma"},
    {"mana_", "mana"},
    {"ionic", "ionic"},
    {"cxgb4_", "cxgb4"},
    {"siw", "siw"},
    {"rxe", "rxe"},
    {"hfi1_", "hfi1"},
    {"qib", "qib"},
    {"mthca", "mthca"},
    {"ocrdma", "ocrdma"},
    {"vmw_pvrdma", "vmw_pvrdma"},
    {"usnic_", "usnic"},
    {"bng_re", "bng_re"},
}};

constexpr std::array<std::string_view, 3> kIwarpOnly = {"siw", "cxgb4", "irdma_gen1"};
// The NIC drivers under which an iWARP device may be something else than siw.
constexpr std::array<std::string_view, 5> kIwarpHardware = {"cxgb4", "irdma_gen1", "irdma_gen2",
                                                            "irdma_gen3", "qedr"};

template <std::size_t kCount>
std::string_view Find(const std::array<Pair, kCount>& table, std::string_view key) {
  const auto* found =
      std::find_if(table.begin(), table.end(), [key](const Pair& p) { return p.first == key; });
  return found == table.end() ? std::string_view{} : found->second;
}

template <std::size_t kCount>
bool Contains(const std::array<std::string_view, kCount>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// "MT4119": the PCI id in decimal. ConnectX-3 Pro ends the mlx4 line at 4107, Connect-IB begins the
// mlx5 line at 4113.
std::string_view ByHcaType(std::string_view hca_type) {
  if (hca_type == "I40IW") return "irdma_gen1";
  if (!hca_type.starts_with("MT")) return {};
  const std::string_view digits = hca_type.substr(2);
  unsigned id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (error != std::errc{} || end != digits.data() + digits.size()) return {};
  if (id >= 4099 && id <= 4107) return "mlx4";
  if (id >= 4113 && (id < 10000 || id > 40000)) return "mlx5";
  return {};  // 25xxx and 26xxx: mthca or mlx4
}

bool IsSoftwareIwarp(const DriverHints& hints, std::string_view bound) {
  if (hints.node_desc == "Software iWARP stack") return true;
  // The description can be rewritten by anybody. siw tells no hca_type, iWARP hardware does.
  if (!hints.node_type.starts_with("4") || !hints.hca_type.empty() || hints.bound.empty())
    return false;
  return !Contains(kIwarpHardware, bound);
}

}  // namespace

std::string DriverName(const DriverHints& hints) {
  if (hints.has_parent_file) return "rxe";
  const std::string_view bound = Find(kBound, hints.bound);
  if (IsSoftwareIwarp(hints, bound)) return "siw";
  if (!bound.empty()) return std::string(bound);
  if (!hints.bound.empty()) return std::string(hints.bound);
  if (hints.has_completer_retries) return "rxe";
  if (const std::string_view name = ByHcaType(hints.hca_type); !name.empty())
    return std::string(name);
  const auto* prefix = std::find_if(kPrefixes.begin(), kPrefixes.end(), [&hints](const Pair& p) {
    return hints.device.starts_with(p.first);
  });
  return prefix == kPrefixes.end() ? std::string{} : std::string(prefix->second);
}

bool IsIwarpOnly(std::string_view driver) { return Contains(kIwarpOnly, driver); }

}  // namespace rdmapulse::collectors
