#include "daemon/cli/record/sysfs_copy.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace rdmapulse::cli {
namespace {

// A device's folder is some six deep: ports/1/gid_attrs/types/0.
constexpr int kMaxDepth = 8;
// A host of eight ports with full GID tables has some 8000; past this something is wrong.
constexpr std::size_t kMaxFiles = 200000;

// Of a PCI function, a virtual parent or the like.
constexpr std::array<std::string_view, 13> kParentFiles = {"uevent",
                                                           "vendor",
                                                           "device",
                                                           "subsystem_vendor",
                                                           "subsystem_device",
                                                           "numa_node",
                                                           "current_link_speed",
                                                           "current_link_width",
                                                           "max_link_speed",
                                                           "max_link_width",
                                                           "class",
                                                           "revision",
                                                           "sriov_numvfs"};
constexpr std::array<std::string_view, 3> kParentLinks = {"driver", "physfn", "subsystem"};
// Folders of an interface or device that hold what is wanted, besides its own files.
constexpr std::array<std::string_view, 10> kFolders = {
    "ports", "hw_counters", "statistics", "bonding",   "qos",
    "ecn",   "counters",    "gids",       "gid_attrs", "diag_counters"};
constexpr std::array<std::string_view, 4> kClassLinks = {"device", "master", "subsystem", "phydev"};
// The Ethernet switch or port that an interface is of, as bytes without any mark between them.
constexpr std::array<std::string_view, 2> kIdFiles = {"phys_switch_id", "phys_port_id"};

template <typename List>
bool Holds(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::string Join(const std::string& folder, const std::string& name) { return folder + "/" + name; }

// "class/net/eth0" and "../../devices/x/net/eth0" → "devices/x/net/eth0"; empty: it leads out.
std::string Resolve(const std::string& link, const std::string& target) {
  std::vector<std::string> parts;
  const std::string whole = link.substr(0, link.rfind('/')) + "/" + target;
  for (std::size_t at = 0; at <= whole.size();) {
    const std::size_t end = std::min(whole.find('/', at), whole.size());
    std::string part = whole.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(std::move(part));
    } else if (parts.empty()) {
      return {};
    } else {
      parts.pop_back();
    }
  }
  std::string path;
  for (const std::string& part : parts) path += (path.empty() ? "" : "/") + part;
  return path;
}

// Every step returns an error only when the recording cannot be written.
class Copier {
 public:
  Copier(PatientFiles& sysfs, const collectors::DeviceFilter& wanted, std::string to,
         RecordingFolder& folder)
      : sysfs_(sysfs), wanted_(wanted), to_(std::move(to)), folder_(folder) {}

  Result<void> CopyDevices() {
    return CopyClass("class/infiniband", [this](const std::string& name) { return wanted_(name); });
  }
  Result<void> CopyInterfaces() {
    return CopyClass("class/net", [this](const std::string& name) {
      return IsInterfaceWanted(sysfs_, wanted_, name);
    });
  }
  // Software devices have their node under /dev/infiniband nowhere but in this class.
  Result<void> CopyVirtualNodes() {
    const std::string path = "class/infiniband_verbs";
    for (const std::string& name : Names(path)) {
      const auto link = sysfs_.ReadLink(Join(path, name));
      if (link && *link && (*link)->find("/virtual/") == std::string::npos) continue;
      std::string real = Join(path, name);
      if (link && *link) {
        Result<void> written = folder_.Link(to_ + "/" + real, **link);
        if (!written) return written;
        real = Resolve(real, **link);
      }
      Result<void> copied = CopyFile(real + "/ibdev");
      if (!copied) return copied;
    }
    return {};
  }

  std::map<std::string, int> TakeErrors() { return std::move(errors_); }

 private:
  // Every entry of a class, each a link to a device's folder or that folder itself.
  template <typename Choose>
  Result<void> CopyClass(const std::string& path, Choose choose) {
    const auto names = sysfs_.List(path);
    if (!names) NoteError(path, names.error());
    if (!names || !*names) return {};
    for (const std::string& name : **names) {
      if (!choose(name)) continue;
      Result<void> copied = CopyEntry(Join(path, name));
      if (!copied) return copied;
    }
    return {};
  }

  Result<void> CopyEntry(const std::string& path) {
    const auto link = sysfs_.ReadLink(path);
    if (!link) {
      NoteError(path, link.error());
      return {};
    }
    std::string real = path;
    if (*link) {
      Result<void> written = folder_.Link(to_ + "/" + path, **link);
      if (!written) return written;
      real = Resolve(path, **link);
      if (real.empty()) return {};
    }
    spellings_ = {{real, path}};
    Result<void> copied = CopyFolder(real, 0);
    return copied ? CopyParent(real) : copied;
  }

  // What `device` of a device's folder leads to, or holds in a recording without links.
  Result<void> CopyParent(const std::string& path) {
    const auto link = sysfs_.ReadLink(path + "/device");
    if (!link) return {};
    const std::string parent = *link ? Resolve(path + "/device", **link) : path + "/device";
    if (parent.empty()) return {};
    spellings_.emplace_back(parent, spellings_.front().second + "/device");
    for (const std::string_view name : kParentFiles) {
      Result<void> copied = CopyFile(parent + "/" + std::string(name));
      if (!copied) return copied;
    }
    for (const std::string_view name : kParentLinks) {
      Result<void> copied = CopyLink(parent + "/" + std::string(name));
      if (!copied) return copied;
    }
    Result<void> copied = CopyFunctions(parent);
    if (copied) copied = CopyNodes(parent);
    return copied ? CopyInterfacesOf(parent) : copied;
  }

  Result<void> CopyFunctions(const std::string& parent) {
    for (const std::string& name : Names(parent)) {
      if (!name.starts_with("virtfn")) continue;
      Result<void> copied = CopyLink(Join(parent, name));
      if (!copied) return copied;
    }
    return {};
  }

  // Which node under /dev/infiniband is whose; asked of a device's parent only.
  Result<void> CopyNodes(const std::string& parent) {
    if (!spellings_.front().second.starts_with("class/infiniband/")) return {};
    const std::string verbs = parent + "/infiniband_verbs";
    for (const std::string& node : Names(verbs)) {
      Result<void> copied = CopyFile(Join(verbs, node) + "/ibdev");
      if (!copied) return copied;
    }
    return {};
  }

  // Live these are those of the class, which copies them.
  Result<void> CopyInterfacesOf(const std::string& parent) {
    for (const std::string& name : Names(parent + "/net")) {
      Result<void> copied = CopyFolder(Join(parent + "/net", name), 0);
      if (!copied) return copied;
    }
    return {};
  }

  std::vector<std::string> Names(const std::string& path) {
    auto names = sysfs_.List(path);
    return names && *names ? std::move(**names) : std::vector<std::string>();
  }

  Result<void> CopyFolder(const std::string& path, int depth) {
    if (depth == kMaxDepth || !copied_.insert(path).second) return {};
    const auto names = sysfs_.List(path);
    if (!names) NoteError(path, names.error());
    if (!names || !*names) return {};
    for (const std::string& name : **names) {
      Result<void> copied = CopyChild(path, name, depth);
      if (!copied) return copied;
    }
    return {};
  }

  Result<void> CopyChild(const std::string& path, const std::string& name, int depth) {
    const std::string child = path + "/" + name;
    const auto link = sysfs_.ReadLink(child);
    if (!link || *link) {
      const bool wanted = Holds(kClassLinks, name) || name.starts_with("lower_") ||
                          name.starts_with("upper_") || name.starts_with("slave_");
      return wanted ? CopyLink(child) : Result<void>{};
    }
    if (name == "ifalias") return {};  // a person's words; nothing reads them
    const auto inside = sysfs_.List(child);
    const bool is_folder = inside && *inside;
    if (!is_folder) return CopyFile(child);
    if (depth == 0 && !Holds(kFolders, name)) return {};  // power/ and the like
    return CopyFolder(child, depth + 1);
  }

  Result<void> CopyFile(const std::string& path) {
    if (++files_ > kMaxFiles) {
      return Fail({"recording sysfs: it has more files than a host can have"});
    }
    const auto text = sysfs_.ReadText(path);
    if (text && !*text) return {};
    if (!text) NoteError(path, text.error());
    return folder_.Write(to_ + "/" + path, text ? Anonymous(path, **text) : std::string());
  }

  // Free text, and what has no form by which it could be told.
  std::string Anonymous(const std::string& path, const std::string& text) const {
    if (folder_.anonymiser() == nullptr) return text;
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name == "node_desc") return Anonymiser::NodeDescription(text);
    return Holds(kIdFiles, name) ? folder_.anonymiser()->Id(text) : text;
  }

  Result<void> CopyLink(const std::string& path) {
    const auto link = sysfs_.ReadLink(path);
    if (!link) NoteError(path, link.error());
    return link && *link ? folder_.Link(to_ + "/" + path, **link) : Result<void>{};
  }

  // Under the name by which readers know it: through the class, not where the link leads.
  void NoteError(const std::string& path, const Error& error) {
    std::string known = path;
    for (const auto& [real, through_class] : spellings_) {
      if (path.starts_with(real + "/")) known = through_class + path.substr(real.size());
    }
    const std::string whole = to_ + "/" + known;
    errors_[folder_.Shown(whole.substr(whole.find('/') + 1))] = error.code.value();
  }

  PatientFiles& sysfs_;
  const collectors::DeviceFilter& wanted_;
  std::string to_;
  RecordingFolder& folder_;
  // Where the folders of the entry in hand are → how they are spelt through the class.
  std::vector<std::pair<std::string, std::string>> spellings_;
  std::set<std::string> copied_;  // folders
  std::map<std::string, int> errors_;
  std::size_t files_ = 0;
};

}  // namespace

bool IsInterfaceWanted(PatientFiles& sysfs, const collectors::DeviceFilter& wanted,
                       const std::string& interface) {
  const auto devices = sysfs.List("class/net/" + interface + "/device/infiniband");
  return !devices || !*devices || (*devices)->empty() ||
         std::any_of((*devices)->begin(), (*devices)->end(), wanted);
}

Result<std::map<std::string, int>> CopySysfs(PatientFiles& sysfs,
                                             const collectors::DeviceFilter& wanted,
                                             const std::string& to, RecordingFolder& folder) {
  Copier copier(sysfs, wanted, to, folder);
  Result<void> copied = copier.CopyDevices();
  if (copied) copied = copier.CopyInterfaces();
  if (copied) copied = copier.CopyVirtualNodes();
  if (!copied) return tl::unexpected(copied.error());
  return copier.TakeErrors();
}

}  // namespace rdmapulse::cli
