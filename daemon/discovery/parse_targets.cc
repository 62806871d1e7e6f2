#include <boost/json/parse.hpp>
#include <boost/json/parse_options.hpp>
#include <boost/json/value.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "config/document.h"
#include "config/wording.h"
#include "daemon/discovery/target_list.h"

namespace rdmapulse::discovery {
namespace {

namespace json = boost::json;
using config::Node;
using config::Quoted;

constexpr std::size_t kDepthMax = 16;           // the format needs 4
constexpr std::size_t kYamlNodesMax = 800'000;  // 65,536 hosts in groups of their own
// Of one mapping, keys past these are not looked at: what aliases repeat must stay little work.
constexpr std::size_t kKeysMax = 256;
constexpr std::string_view kShape = "a list such as [{\"targets\": [\"h2\"], \"labels\": {}}]";

std::string Place(std::size_t index) { return "group " + std::to_string(index + 1); }

// One group as either syntax has it; nullopt where a part is of another type.
struct Group {
  std::optional<std::vector<std::string>> targets;
  std::optional<config::Labels> labels = config::Labels{};
  std::vector<std::string> unknown;  // keys
};

bool AddGroup(TargetListBuilder& list, const std::string& place, Group group) {
  for (const std::string& key : group.unknown) {
    list.Complain(place + " has the unknown key " + Quoted(key) +
                  ", which is ignored; known are targets and labels");
  }
  if (!group.labels) {
    list.Complain(place + ": labels is not a mapping of names to texts; they are left out");
    group.labels.emplace();
  }
  if (!group.targets) {
    list.Complain(place + " has no list of targets, so it is left out");
    return true;
  }
  return list.Add(place, *group.targets, *std::move(group.labels));
}

Group ReadGroup(const json::object& object, TargetListBuilder& list, const std::string& place) {
  Group group;
  for (const auto& [key, value] : object) {
    if (key == "targets" && value.is_array()) {
      group.targets.emplace();
      for (const json::value& target : value.get_array()) {
        if (const json::string* text = target.if_string()) {
          group.targets->emplace_back(*text);
        } else {
          list.Complain(place + " has a target that is not a text; it is left out");
        }
      }
    } else if (key == "labels" && value.is_object()) {
      for (const auto& [label, text] : value.get_object()) {
        if (group.labels->size() >= kKeysMax) break;
        if (text.is_string()) {
          group.labels->insert_or_assign(std::string(label), std::string(text.get_string()));
        } else {
          list.Complain(place + ": label " + Quoted(std::string(label)) +
                        " is not a text; it is left out");
        }
      }
    } else if (key == "labels" && !value.is_null()) {
      group.labels.reset();
    } else if (key != "labels" && key != "targets") {
      group.unknown.emplace_back(key);
    }
  }
  return group;
}

Result<TargetList> ParseJson(std::string_view text) {
  json::parse_options options;
  options.max_depth = kDepthMax;
  json::error_code error;
  json::value root;
  try {
    root = json::parse({text.data(), text.size()}, error, {}, options);
  } catch (const std::exception& thrown) {
    return Fail({"the JSON parser gave up: ", thrown.what()});
  }
  if (error) return Fail({"it is not JSON: ", error.message()});
  if (!root.is_array()) return Fail({"it is JSON, but not ", kShape});
  TargetListBuilder list;
  const json::array& groups = root.get_array();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string place = Place(i);
    if (!groups[i].is_object()) {
      list.Complain(place + " is not a mapping with targets; it is left out");
    } else if (!AddGroup(list, place, ReadGroup(groups[i].get_object(), list, place))) {
      break;
    }
  }
  return std::move(list).Take();
}

Group ReadGroup(const Node& node, TargetListBuilder& list, const std::string& place) {
  Group group;
  std::size_t keys = 0;
  for (const config::Child& child : node.children) {
    if (++keys > kKeysMax) break;
    const Node& value = *child.node;
    if (child.key == "targets" && value.kind == Node::Kind::kSequence) {
      group.targets.emplace();
      for (const config::Child& target : value.children) {
        if (group.targets->size() > kPeersMax) break;  // aliases make many of few
        if (target.node->kind == Node::Kind::kScalar) {
          group.targets->push_back(target.node->text);
        } else {
          list.Complain(place + " has a target that is not a text; it is left out");
        }
      }
    } else if (child.key == "labels" && value.kind == Node::Kind::kMapping) {
      for (const config::Child& label : value.children) {
        if (++keys > kKeysMax) break;
        if (label.node->kind == Node::Kind::kScalar) {
          group.labels->insert_or_assign(label.key, label.node->text);
        } else if (label.node->kind != Node::Kind::kNull) {
          list.Complain(place + ": label " + Quoted(label.key) + " is not a text; it is left out");
        }
      }
    } else if (child.key == "labels" && value.kind != Node::Kind::kNull) {
      group.labels.reset();
    } else if (child.key != "labels" && child.key != "targets") {
      group.unknown.push_back(child.key);
    }
  }
  return group;
}

Result<TargetList> ParseYaml(std::string_view text) {
  // To YAML it is a document, but it is what a file looks like that is being written.
  if (text.find_first_not_of(" \t\r\n") == text.npos) {
    return Fail({"it is empty"}, "write [] when there are no peers");
  }
  const auto document =
      config::ParseDocument(text, {.bytes = kListBytesMax, .nodes = kYamlNodesMax});
  if (!document) {
    const config::Problem& problem = document.error();
    return Fail({"line ", std::to_string(problem.line), ": ", problem.message});
  }
  TargetListBuilder list;
  const Node* root = document->Root();
  if (root == nullptr || root->kind == Node::Kind::kNull) return std::move(list).Take();
  if (root->kind != Node::Kind::kSequence) return Fail({"it is YAML, but not ", kShape});
  for (std::size_t i = 0; i < root->children.size(); ++i) {
    const std::string place = Place(i);
    const Node& group = *root->children[i].node;
    if (group.kind != Node::Kind::kMapping) {
      list.Complain(place + " is not a mapping with targets; it is left out");
    } else if (!AddGroup(list, place, ReadGroup(group, list, place))) {
      break;
    }
  }
  return std::move(list).Take();
}

}  // namespace

Result<TargetList> ParseTargets(std::string_view text, config::ListFormat format) {
  if (text.size() > kListBytesMax) {
    return Fail({"it has more than ", std::to_string(kListBytesMax >> 20), " MiB"},
                "check that it is the right list");
  }
  return format == config::ListFormat::kJson ? ParseJson(text) : ParseYaml(text);
}

}  // namespace rdmapulse::discovery
