// Files that nobody writes by hand: too large, too deep, self-referring, not text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "config/load.h"

namespace rdmapulse::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::vector<std::string> Problems(const std::string& yaml) {
  std::vector<std::string> texts;
  for (const Problem& problem : Load(yaml).problems) texts.push_back(Format(problem, "f"));
  return texts;
}

std::string Repeated(const std::string& part, std::size_t bytes) {
  std::string text;
  while (text.size() + part.size() <= bytes) text += part;
  return text;
}

TEST(LimitsTest, FileOfOneMiBIsReadAndOneByteMoreIsNot) {
  EXPECT_THAT(Problems(std::string(kMiB, '#')), IsEmpty());
  EXPECT_THAT(Problems(std::string(kMiB + 1, '#')),
              ElementsAre("f: the file has more than 1 MiB; that is no configuration of this "
                          "program"));
  EXPECT_THAT(Problems(std::string(std::size_t{10} * kMiB, 'a')),
              ElementsAre(HasSubstr("more than 1 MiB")));
}

TEST(LimitsTest, LaughsStaySmall) {
  std::string yaml = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    yaml += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" +
            Repeated(before + ", ", 10 * (before.size() + 2)) + "]\n";
  }
  yaml += "devices: {include: *a29}\npeers: *a29\nhealth: {x: *a29}\nhost: {labels: {a: *a29}}\n";
  const std::vector<std::string> problems = Problems(yaml);
  EXPECT_EQ(problems.size(), 52U) << "one for each unknown key, each item and each misuse";
}

TEST(LimitsTest, ValueInsideItselfIsNotWalkedForEver) {
  EXPECT_FALSE(Load("peers: &p [*p]").Usable());
  EXPECT_FALSE(Load("host: &h {labels: *h}").Usable());
  EXPECT_FALSE(Load("classes: &c {lossless: *c, control: *c}").Usable());
  EXPECT_FALSE(Load("&r {http: *r, control: {tls: *r}}").Usable());
}

TEST(LimitsTest, DeepNestingIsOneSentence) {
  EXPECT_THAT(Problems(std::string(16, '[') + std::string(16, ']')),
              ElementsAre(HasSubstr("f: is a list")));
  EXPECT_THAT(Problems(std::string(17, '[') + std::string(17, ']')),
              ElementsAre("f:1:17: nested more than 16 levels deep; no option needs that"));
  EXPECT_THAT(Problems(Repeated("- ", kMiB / 16)),
              ElementsAre("f:1:33: nested more than 16 levels deep; no option needs that"));
  // What never closes looks like a key to the parser before it looks deep.
  for (const std::string part : {"[", "{", "{a: ", "? ", "[[],", "a: &a [*a, "}) {
    EXPECT_EQ(Problems(Repeated(part, kMiB / 16)).size(), 1U) << part;
  }
}

TEST(LimitsTest, EndlessListsAreRefused) {
  EXPECT_THAT(Problems("devices: {include: [" + Repeated("a,", std::size_t{2} * 4096) + "]}"),
              IsEmpty());
  EXPECT_THAT(Problems("devices: {include: [" + Repeated("a,", std::size_t{2} * 4097) + "]}"),
              ElementsAre("f:1:11: devices.include: has 4097 entries; use at most 4096"));
  EXPECT_THAT(Problems("ports: [" + Repeated("a,", kMiB / 2) + "]"),
              ElementsAre(HasSubstr("holds more than 200000 values")));
}

TEST(LimitsTest, ProblemsPastTheLimitAreCounted) {
  std::string yaml;
  for (int i = 0; i < 100; ++i) yaml += "unknown" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(Problems(yaml).size(), 100U);
  EXPECT_THAT(Problems(yaml).back(), HasSubstr("f:100:1: unknown99: unknown key"));
  yaml += "one_more: 1\nand_more: 1\n";
  EXPECT_EQ(Problems(yaml).size(), 101U);
  EXPECT_EQ(Problems(yaml).back(), "f:101:1: this and further problems, 2 in all, are not listed");
}

TEST(LimitsTest, BytesThatAreNoTextHaveTheirPlace) {
  EXPECT_THAT(Problems(std::string("a: 1\nb: \0\n", 10)),
              ElementsAre(HasSubstr("f:2:4: a control character (\\x00) does not belong")));
  // yaml-cpp takes this one for the end of the file and would drop the rest.
  EXPECT_THAT(Problems("maintenance: true\n\x04\nnonsense: 1\n"),
              ElementsAre(HasSubstr("f:2:1: a control character (\\x04)")));
  EXPECT_THAT(Problems("a: \"é\xFF\"\n"),
              ElementsAre("f:1:7: the byte \"\\xff\" is not UTF-8; save the file as UTF-8"));
  EXPECT_THAT(Problems("\xFF\xFE"
                       "a"),
              ElementsAre(HasSubstr("f:1:1: the byte \"\\xff\"")));
  EXPECT_THAT(Problems("sysfs_root: /\xC3\xA9\n"), IsEmpty());
}

TEST(LimitsTest, SyntaxErrorsHaveTheirPlaceAndMeaning) {
  EXPECT_THAT(Problems("a: b: c\n"),
              ElementsAre("f:1:5: a colon stands where no value can; check the indentation, and "
                          "quote texts that hold \": \""));
  EXPECT_THAT(Problems("a: [1, 2\n"), ElementsAre(HasSubstr("a list that begins with [ has no ]")));
  EXPECT_THAT(Problems("a: {b: c\n"), ElementsAre(HasSubstr("a mapping that begins with {")));
  EXPECT_THAT(Problems("peers:\n  - name: a\n   address: b\n"),
              ElementsAre("f:3:4: the indentation does not fit the lines above"));
  EXPECT_THAT(Problems("devices: {include: [*]}\n"),
              ElementsAre(HasSubstr("a text that begins with * needs quotes")));
  EXPECT_THAT(Problems("peers: *nobody\n"),
              ElementsAre("f:1:8: this is not YAML: the referenced anchor is not defined"));
  EXPECT_THAT(Problems("? [a]\n: b\n"), ElementsAre(HasSubstr("f:1:3: a key must be a word")));
  EXPECT_THAT(Problems("maintenance: !!bool true\n"), ElementsAre(HasSubstr("f:1:14: tags")));
}

TEST(LimitsTest, SecondDocumentIsAnError) {
  EXPECT_THAT(Problems("a: 1\n---\nb: 2\n"),
              ElementsAre(HasSubstr("a second YAML document begins here")));
  EXPECT_THAT(Problems("maintenance: true\n...\nnonsense\n"),
              ElementsAre(HasSubstr("a second YAML document begins here")));
  EXPECT_THAT(Problems("maintenance: true\n...\n"), IsEmpty());
}

// yaml-cpp ends an open quote at the end of the file without a word.
TEST(LimitsTest, OpenQuoteIsShownNearItsPlace) {
  for (const std::string quote : {"'", "\""}) {
    EXPECT_THAT(Problems("sysfs_root: " + quote + "/sys\nmaintenance: true\n"),
                ElementsAre("f:1:1: a quote that opens here or below is never closed"));
    EXPECT_THAT(Problems("http: {listen: " + quote + ":1}"),
                ElementsAre("f:1:8: a quote that opens here or below is never closed"));
  }
  EXPECT_THAT(Problems("sysfs_root: |\n  /sys"), ElementsAre(HasSubstr("control characters")))
      << "a block has a line end";
  EXPECT_THAT(Problems("sysfs_root: |-\n  /sys"), IsEmpty()) << "and ends with the file";
}

// CPU time, so that a busy machine proves nothing. The slowest, short keys and values, took 0.1 s
// without optimisation.
TEST(LimitsTest, NoFileTakesLong) {
  for (const std::string part :
       {"a: ", "&a ",  "*a ",   "!",  "'",  "\"",  "|\n",   "a\n",    ": ",
        ",",   "%A\n", "---\n", "!<", "\\", "\t",  "a:\n ", "a: 1\n", "- {",
        "'a",  "\"\\", "#\n",   "é",  "[]", "{},", "[[],",  "{a: ",   "a: &a b\n"}) {
    const std::clock_t began = std::clock();
    Load(Repeated(part, kMiB / 16));
    EXPECT_LT(std::clock() - began, 10 * CLOCKS_PER_SEC) << part;
  }
}

}  // namespace
}  // namespace rdmapulse::config
