#include "daemon/cli/findings_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <vector>

#include "daemon/cli/json_fields.h"
#include "daemon/cli/table.h"
#include "daemon/cli/units.h"

namespace rdmapulse::cli {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 4> kSeverities = {"critical", "major", "warning", "info"};
constexpr const char* kWhat = "the list of findings";

// Worst first; what is explained by another stands behind what is not.
std::pair<bool, std::size_t> Rank(const json::object& finding) {
  const std::string severity = TextOrDash(finding, "severity");
  const auto* const found = std::find(kSeverities.begin(), kSeverities.end(), severity);
  return {TextField(finding, "explained_by").has_value(),
          static_cast<std::size_t>(found - kSeverities.begin())};
}

Result<std::vector<json::object>> Parse(std::string_view text) {
  Result<json::object> answer = ParseObject(text, kWhat);
  if (!answer) return tl::unexpected(answer.error());
  const Result<const json::array*> array = RequiredArray(*answer, "findings");
  if (!array) return tl::unexpected(array.error());
  std::vector<json::object> findings;
  for (const json::object* const finding : Objects(**array)) findings.push_back(*finding);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& a, const auto& b) { return Rank(a) < Rank(b); });
  return findings;
}

std::string Where(const json::object& finding) {
  std::string where;
  const auto add = [&where](const std::string& part) {
    where += (where.empty() ? "" : " ") + part;
  };
  if (const auto device = TextField(finding, "device")) {
    const auto port = CountField(finding, "port");
    add(port ? fmt::format("{}/{}", *device, *port) : *device);
  }
  if (const auto priority = CountField(finding, "priority")) {
    add(fmt::format("priority {}", *priority));
  }
  if (const auto peer = TextField(finding, "peer")) add("peer " + *peer);
  if (const auto traffic_class = TextField(finding, "class")) add(*traffic_class);
  return where.empty() ? "this host" : where;
}

std::string Age(const json::object& finding, std::string_view key, std::uint64_t now_us) {
  const auto since = CountField(finding, key);
  if (!since) return kUnknown;
  return HumanAge(now_us > *since ? static_cast<double>(now_us - *since) * 1e-6 : 0);
}

std::string Confidence(const json::object& finding) {
  const auto confidence = NumberField(finding, "confidence");
  return confidence ? fmt::format("{:.2f}", *confidence) : kUnknown;
}

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string Severity(const json::object& finding) {
  const std::string severity = TextOrDash(finding, "severity");
  return severity == "critical" || severity == "major" ? Upper(severity) : severity;
}

std::vector<std::string> Evidence(const json::object& finding) {
  std::vector<std::string> texts;
  const json::array* const evidence = ArrayField(finding, "evidence");
  if (evidence == nullptr) return texts;
  for (const json::value& value : *evidence) {
    if (const json::object* const fact = value.if_object()) {
      texts.push_back(TextOrDash(*fact, "text"));
    }
  }
  return texts;
}

Row FindingRow(const json::object& finding, std::uint64_t now_us) {
  std::string note;
  const std::vector<std::string> evidence = Evidence(finding);
  if (!evidence.empty()) note = evidence.front();
  if (const auto cause = TextField(finding, "explained_by")) {
    AppendNote("explained by " + *cause, note);
  }
  AppendNote("id " + TextOrDash(finding, "id"), note);
  return {{Severity(finding), TextOrDash(finding, "condition"), Where(finding),
           TextOrDash(finding, "state"), Age(finding, "since_us", now_us), Confidence(finding)},
          note};
}

std::string Joined(const json::object& object, std::string_view key) {
  const json::array* const array = ArrayField(object, key);
  std::string text;
  if (array == nullptr) return text;
  for (const json::value& value : *array) {
    text += (text.empty() ? "" : ", ") +
            (value.is_string() ? Printable(value.get_string()) : json::serialize(value));
  }
  return text;
}

std::string AlsoHit(const json::object& finding) {
  const auto* const hit = finding.if_contains("also_hit");
  if (hit == nullptr || !hit->is_object()) return {};
  std::string text;
  for (const char* const key : {"peers", "ports", "priorities"}) {
    const std::string names = Joined(hit->get_object(), key);
    if (!names.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", key, names);
  }
  return text;
}

void Section(std::string_view title, std::string_view text, std::string& out) {
  if (text.empty()) return;
  out += fmt::format("{}\n{}", title, Wrap(text, 4));
}

Result<json::object> Find(std::string_view text, std::string_view id) {
  auto findings = Parse(text);
  if (!findings) return tl::unexpected(findings.error());
  for (json::object& finding : *findings) {
    if (TextField(finding, "id") == id) return std::move(finding);
  }
  return Fail({"looking for the finding \"", Printable(id), "\": there is none of this id now"},
              "rdmapulse findings lists them; those that are over are in the journal");
}

}  // namespace

Result<std::string> FindingsText(std::string_view text, std::uint64_t now_us) {
  const auto findings = Parse(text);
  if (!findings) return tl::unexpected(findings.error());
  if (findings->empty()) return "Nothing is found to be wrong.\n";
  std::vector<Row> rows;
  for (const json::object& finding : *findings) rows.push_back(FindingRow(finding, now_us));
  return RenderTable({{"SEVERITY"},
                      {"CONDITION"},
                      {"WHERE"},
                      {"STATE"},
                      {"SINCE", Align::kRight},
                      {"SURE", Align::kRight}},
                     rows);
}

std::string FindingHead(const json::object& finding, std::uint64_t now_us) {
  return fmt::format("{} {}: {}\n{} for {}, confidence {}, id {}\n", Severity(finding),
                     TextOrDash(finding, "condition"), Where(finding), TextOrDash(finding, "state"),
                     Age(finding, "since_us", now_us), Confidence(finding),
                     TextOrDash(finding, "id"));
}

Result<std::string> FindingText(std::string_view text, std::string_view id, std::uint64_t now_us) {
  const auto finding = Find(text, id);
  if (!finding) return tl::unexpected(finding.error());
  std::string out = FindingHead(*finding, now_us);
  std::string facts;
  for (const std::string& fact : Evidence(*finding)) facts += Wrap("- " + fact, 4);
  if (!facts.empty()) out += "why\n" + facts;
  if (const auto* const other = finding->if_contains("not");
      other != nullptr && other->is_object()) {
    const json::object& rejected = other->get_object();
    Section("what it is not",
            TextOrDash(rejected, "condition") + ": " + TextOrDash(rejected, "because"), out);
  }
  Section("explained by", TextField(*finding, "explained_by").value_or(""), out);
  Section("also hit", AlsoHit(*finding), out);
  Section("what to do", TextField(*finding, "advice").value_or(""), out);
  return out;
}

Result<std::string> FindingJson(std::string_view text, std::string_view id) {
  const auto finding = Find(text, id);
  if (!finding) return tl::unexpected(finding.error());
  return json::serialize(*finding) + "\n";
}

}  // namespace rdmapulse::cli
