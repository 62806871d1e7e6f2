#include "collectors/recorded/rdma_statistic_text.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <optional>
#include <utility>

#include "collectors/kernel_files.h"
#include "collectors/recorded/json_text.h"
#include "collectors/recorded/tool_text.h"
#include "collectors/sysfs_text.h"

namespace rdmapulse::collectors::recorded {
namespace {

struct Link {
  std::string device;
  std::uint32_t port = 0;
};

// "mlx5_0/1", "mlx5_0/1:".
std::optional<Link> ParseLink(std::string_view text) {
  if (text.ends_with(':')) text.remove_suffix(1);
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || slash == 0 || slash > kMaxNameLength) return std::nullopt;
  const auto port = ParsePortNumber(text.substr(slash + 1));
  if (!port) return std::nullopt;
  return Link{std::string(text.substr(0, slash)), *port};
}

// "0/1:", which numbered the link before iproute2 5.0.
bool IsOldLinkNumber(std::string_view word) {
  return word.ends_with(':') && word.find('/') != std::string_view::npos &&
         std::all_of(word.begin(), word.end() - 1,
                     [](unsigned char c) { return std::isdigit(c) != 0 || c == '/'; });
}

// What follows the link where the line is not about the port's counters.
bool IsOfAnotherKind(std::string_view word) {
  constexpr std::string_view kWords[] = {"cntn", "auto", "qp", "optional-counters", "supported"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

class Reader {
 public:
  // The port whose counters come next; nullptr: there are too many.
  NamedValues* Begin(const Link& link) {
    const auto known = std::find_if(links_.begin(), links_.end(), [&link](const Entry& entry) {
      return entry.link.device == link.device && entry.link.port == link.port;
    });
    if (known != links_.end()) return &known->values;
    if (links_.size() == kMaxLinks) {
      Complain(link.device, "more links than a host has");
      return nullptr;
    }
    links_.push_back({link, NamedValues(Source::kRdmaNl)});
    return &links_.back().values;
  }

  void Complain(std::string_view name, std::string reason) {
    if (problems_.size() < kMaxProblems) problems_.push_back({Printable(name), std::move(reason)});
  }

  RdmaStatistics Take() {
    RdmaStatistics statistics{.problems = std::move(problems_)};
    for (Entry& entry : links_) {
      if (entry.values.Empty() && !entry.values.HasProblems()) continue;
      statistics.links.push_back({std::move(entry.link.device), entry.link.port,
                                  entry.values.TakeValues(), entry.values.TakeProblems()});
    }
    return statistics;
  }

 private:
  struct Entry {
    Link link;
    NamedValues values;
  };
  std::deque<Entry> links_;  // which a NamedValues* given out points into
  std::vector<Problem> problems_;
};

// Words after words: names, which may hold blanks, each followed by its number.
class WordReader {
 public:
  explicit WordReader(Reader& reader) : reader_(reader) {}

  void TakeLine(const Line& line) {
    std::vector<std::string_view> words = Words(line.text);
    if (words.empty()) return;
    const bool cut = !line.whole && line.text.ends_with(words.back());
    const std::string_view last = words.back();
    if (cut) words.pop_back();
    std::size_t next = 0;
    if (!words.empty() && StartsLink(words, next)) {
      if (next < words.size() && IsOfAnotherKind(words[next])) port_ = nullptr;
      one_a_line_ = next == words.size();
    }
    if (port_ != nullptr) {
      for (; next < words.size(); ++next) TakeWord(words[next]);
      if (one_a_line_) Flush();
    }
    if (cut) {
      const std::string_view name = name_.empty() ? last : name_;
      constexpr const char* kCut = "the file ends within this value";
      port_ != nullptr ? port_->Complain(name, kCut) : reader_.Complain(name, kCut);
      name_.clear();
    }
  }

  void Finish() { Flush(); }

 private:
  // `next` becomes the first word after the link.
  bool StartsLink(const std::vector<std::string_view>& words, std::size_t& next) {
    const bool old = IsOldLinkNumber(words[0]);
    if (words[0] != "link" && words[0] != "dev" && !old) {
      if (!begun_) reader_.Complain(words[0], "not of a link");
      begun_ = true;
      return false;
    }
    Flush();
    begun_ = true;
    port_ = nullptr;
    next = std::min<std::size_t>(2, words.size());
    const auto link = words.size() > 1 ? ParseLink(words[1]) : std::nullopt;
    if (link) {
      port_ = reader_.Begin(*link);
    } else if (words[0] != "dev") {
      reader_.Complain(words.size() > 1 ? words[1] : words[0],
                       "not a link: DEVICE/PORT is missing");
    }
    return true;
  }

  void TakeWord(std::string_view word) {
    const auto first = static_cast<unsigned char>(word.front());
    if (!name_.empty() && (std::isdigit(first) != 0 || first == '-' || first == '+')) {
      port_->Add(name_, word);
      name_.clear();
      return;
    }
    if (!name_.empty()) name_ += ' ';
    name_ += word.substr(0, kMaxNameLength);
    if (name_.size() > kMaxNameLength) Flush();
  }

  // A name that no number followed.
  void Flush() {
    if (!name_.empty()) reader_.Complain(name_, "no value");
    name_.clear();
  }

  Reader& reader_;
  NamedValues* port_ = nullptr;  // nullptr: what comes is not a port's
  bool begun_ = false;
  bool one_a_line_ = false;  // the -p form
  std::string name_;
};

void TakeJsonLink(const boost::json::object& object, Reader& reader) {
  if (At(object, "cntn") != nullptr) return;
  const Json* const name = At(object, "ifname");
  const auto* const device = name == nullptr ? nullptr : name->if_string();
  const auto port = NumberAt(object, "port");
  if (device == nullptr || device->empty() || device->size() > kMaxNameLength || !port ||
      *port == 0 || *port > kMaxPortNumber) {
    reader.Complain("", "an entry without `ifname` and `port`");
    return;
  }
  NamedValues* const values = reader.Begin(
      {std::string(device->data(), device->size()), static_cast<std::uint32_t>(*port)});
  if (values == nullptr) return;
  for (const auto& [key, value] : object) {
    const std::string_view member(key.data(), key.size());
    if (member == "ifindex" || member == "ifname" || member == "port") continue;
    if (value.is_structured()) continue;  // which optional counters there are
    AddJsonValue(member, value, *values);
  }
}

void TakeJson(std::string_view text, Reader& reader) {
  const Result<Json> document = ParseJson(text);
  if (!document) return reader.Complain("", document.error().doing);
  if (const auto* const object = document->if_object()) return TakeJsonLink(*object, reader);
  for (const Json& entry : document->as_array()) {
    if (const auto* const object = entry.if_object()) {
      TakeJsonLink(*object, reader);
    } else {
      reader.Complain("", "an entry that is no object");
    }
  }
}

}  // namespace

RdmaStatistics ParseRdmaStatistics(std::string_view text) {
  Reader reader;
  if (IsBinary(text)) {
    reader.Complain("", "not what `rdma statistic` prints");
  } else if (IsJson(text)) {
    TakeJson(text, reader);
  } else {
    WordReader words(reader);
    Lines lines(text);
    while (const auto line = lines.Next()) words.TakeLine(*line);
    words.Finish();
  }
  return reader.Take();
}

}  // namespace rdmapulse::collectors::recorded
