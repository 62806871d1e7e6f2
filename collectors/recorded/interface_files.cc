#include "collectors/recorded/interface_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "collectors/recorded/qos_text.h"
#include "collectors/recorded/tool_text.h"

namespace rdmapulse::collectors::recorded {
namespace {

// IFNAMSIZ less the NUL is 15, an alternative name has up to 127 (ip-link(8)).
constexpr std::size_t kMaxInterfaceName = 127;

void Append(std::vector<Problem> from, std::vector<Problem>& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

// Of two files of one moment that say the same the first counts.
void AddNew(std::vector<Value> from, std::vector<Value>& to) {
  std::set<std::string> known;
  for (const Value& value : to) known.insert(value.name);
  for (Value& value : from) {
    if (!known.contains(value.name)) to.push_back(std::move(value));
  }
}

// What one file could not say and the other could.
void DropAnswered(const std::vector<Value>& values, std::vector<Problem>& problems) {
  std::erase_if(problems, [&values](const Problem& problem) {
    return std::any_of(values.begin(), values.end(),
                       [&problem](const Value& value) { return value.name == problem.name; });
  });
}

std::string Reason(const Error& error) { return error.code ? error.code.message() : error.doing; }

// One folder's files, in the order of their names.
class Reader {
 public:
  Reader(const KernelFiles& files, ToolFiles& read) : files_(files), read_(read) {}

  void EthtoolStatistics() {
    EachInterface("ethtool-S", Source::kEthtool, [this](const std::string& name, Text text) {
      auto statistics = ParseEthtoolStatistics(text.text);
      InterfaceFiles& interface = read_.interfaces[name];
      Keep(Source::kEthtool, text.path, interface.ethtool, std::move(statistics.driver),
           std::move(statistics.problems));
      if (!statistics.standard.empty())
        Keep(Source::kEthtoolNl, text.path, interface.ethtool_nl, std::move(statistics.standard),
             {});
    });
  }

  // The folder with statistics says the same settings again, and later.
  void EthtoolPauses() {
    for (const char* const folder : {"ethtool-a", "ethtool-I-a"}) {
      EachInterface(folder, Source::kEthtoolNl, [this](const std::string& name, Text text) {
        auto pause = ParseEthtoolPause(text.text);
        InterfaceFiles& interface = read_.interfaces[name];
        PortQos& qos = Qos(name);
        if (pause.autonegotiated) qos.pause_autonegotiated = pause.autonegotiated;
        if (pause.rx) qos.pause_rx = pause.rx;
        if (pause.tx) qos.pause_tx = pause.tx;
        if (!pause.statistics.empty() || !pause.problems.empty())
          Keep(Source::kEthtoolNl, text.path, interface.ethtool_nl, std::move(pause.statistics),
               std::move(pause.problems));
      });
    }
  }

  void EthtoolDrivers() {
    EachInterface("ethtool-i", std::nullopt, [this](const std::string& name, Text text) {
      EthtoolDriver driver = ParseEthtoolDriver(text.text);
      Complain(text.path, std::exchange(driver.problems, {}));
      read_.interfaces[name].driver = std::move(driver);
    });
  }

  void Dcb() {
    EachFile("dcb", Source::kDcb, [this](const std::string& stem, Text text) {
      const std::size_t dash = stem.find('-');
      const std::string_view what = std::string_view(stem).substr(0, dash);
      std::optional<DcbPart> part;
      if (what == "pfc") part = DcbPart::kPfc;
      if (what == "app") part = DcbPart::kApp;
      if (what == "ets") part = DcbPart::kEts;
      if (!part || dash == std::string::npos || dash + 1 == stem.size())
        return Complain(text.path, {{"", "not pfc-, app- or ets-INTERFACE; not read"}});
      const std::string name = stem.substr(dash + 1);
      if (!IsInterfaceName(name, text.path)) return;
      QosText said = ParseDcb(*part, text.text, Qos(name));
      if (said.statistics.empty()) {
        Complain(text.path, std::move(said.problems), Source::kDcb);
        return;
      }
      Keep(Source::kDcb, text.path, read_.interfaces[name].dcb, std::move(said.statistics),
           std::move(said.problems));
    });
  }

  void MlnxQos() {
    EachInterface("mlnx_qos", std::nullopt, [this](const std::string& name, Text text) {
      Complain(text.path, ParseMlnxQos(text.text, Qos(name)).problems);
    });
  }

  void RdmaStatistics() {
    EachFile("rdma-statistic", Source::kRdmaNl, [this](const std::string&, Text text) {
      auto statistics = ParseRdmaStatistics(text.text);
      Complain(text.path, std::move(statistics.problems), Source::kRdmaNl);
      for (RdmaLinkStatistics& link : statistics.links) {
        if (!link.problems.empty()) read_.sources[Source::kRdmaNl].success = false;
        const auto known =
            std::find_if(read_.links.begin(), read_.links.end(), [&link](const auto& have) {
              return have.device == link.device && have.port == link.port;
            });
        if (known == read_.links.end()) {
          read_.links.push_back(std::move(link));
        } else {
          AddNew(std::move(link.values), known->values);
          Append(std::move(link.problems), known->problems);
          DropAnswered(known->values, known->problems);
        }
      }
    });
  }

 private:
  struct Text {
    const std::string& path;
    std::string_view text;
  };

  PortQos& Qos(const std::string& name) {
    auto& qos = read_.interfaces[name].qos;
    if (!qos) qos = PortQos{.netdev = name};
    return *qos;
  }

  // A problem with a name is that value's; the others are the file's.
  void Keep(Source source, const std::string& path, std::optional<SourceText>& to,
            std::vector<Value> values, std::vector<Problem> problems) {
    read_.sources[source].exists = true;
    if (!problems.empty()) read_.sources[source].success = false;
    if (!to) to.emplace();
    for (Problem& problem : problems) {
      if (problem.name.empty()) {
        read_.problems.push_back({path, std::move(problem.reason)});
      } else {
        to->problems.push_back(std::move(problem));
      }
    }
    AddNew(std::move(values), to->values);
  }

  void Complain(const std::string& path, std::vector<Problem> problems,
                std::optional<Source> source = std::nullopt) {
    if (source) read_.sources[*source].exists = true;
    if (source && !problems.empty()) read_.sources[*source].success = false;
    for (Problem& problem : problems) {
      if (!problem.name.empty()) problem.reason.insert(0, problem.name + ": ");
      problem.name = path;
    }
    Append(std::move(problems), read_.problems);
  }

  bool IsInterfaceName(const std::string& name, const std::string& path) {
    const bool printable =
        std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (printable && name.size() <= kMaxInterfaceName) return true;
    Complain(Printable(path), {{"", "no interface is called that; not read"}});
    return false;
  }

  template <typename Take>
  void EachInterface(const std::string& folder, std::optional<Source> source, Take take) {
    EachFile(folder, source, [this, &take](const std::string& stem, Text text) {
      if (IsInterfaceName(stem, text.path)) take(stem, text);
    });
  }

  // `take` is given the name without .txt or .json, and the text.
  template <typename Take>
  void EachFile(const std::string& folder, std::optional<Source> source, Take take) {
    const TimePoint started = Clock::now();
    ReadFiles(folder, source, take);
    if (source) read_.sources[*source].duration += Clock::now() - started;
  }

  template <typename Take>
  void ReadFiles(const std::string& folder, std::optional<Source> source, Take& take) {
    const auto names = files_.List(folder);
    if (!names) return Complain(folder, {{"", Reason(names.error())}}, source);
    if (!*names) return;
    for (const std::string& name : **names) {
      const std::size_t dot = name.rfind('.');
      const std::string ending = dot == std::string::npos ? "" : name.substr(dot);
      std::string path = folder;
      path.append("/").append(name);
      if (dot == 0 || dot == std::string::npos || (ending != ".txt" && ending != ".json")) {
        Complain(Printable(path), {{"", "neither .txt nor .json; not read"}});
        continue;
      }
      const auto text = ReadWholeText(files_, path, kMaxTextBytes);
      if (!text) {
        // The driver's way to say that it has none, as when it is asked live.
        if (text.error().code != std::errc::operation_not_supported)
          Complain(path, {{"", Reason(text.error())}}, source);
      } else if (*text) {
        take(name.substr(0, dot), Text{path, **text});
      }
    }
  }

  const KernelFiles& files_;
  ToolFiles& read_;
};

}  // namespace

Result<std::optional<std::string>> ReadWholeText(const KernelFiles& files, const std::string& path,
                                                 std::size_t limit) {
  auto fd = files.Open(path);
  if (!fd) return tl::unexpected(std::move(fd.error()));
  if (!*fd) return std::nullopt;
  struct stat status {};
  if (fstat((*fd)->get(), &status) != 0) return Fail(errno, {"reading ", path});
  if (S_ISDIR(status.st_mode)) return Fail(EISDIR, {"reading ", path});
  if (!S_ISREG(status.st_mode)) return Fail({"it is no regular file"});
  if (static_cast<std::uintmax_t>(status.st_size) > limit)
    return Fail({"it is larger than ", std::to_string(limit >> 20), " MiB"});
  // One more than it has, so that the end is seen.
  std::string text(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read((*fd)->get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fail(errno, {"reading ", path});
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size == text.size()) return Fail({"it grew while it was read"});
  text.resize(size);
  return text;
}

ToolFiles ReadToolFiles(const KernelFiles& files) {
  ToolFiles read;
  Reader reader(files, read);
  reader.EthtoolStatistics();
  reader.EthtoolPauses();
  reader.EthtoolDrivers();
  reader.Dcb();
  reader.MlnxQos();
  reader.RdmaStatistics();
  return read;
}

}  // namespace rdmapulse::collectors::recorded
