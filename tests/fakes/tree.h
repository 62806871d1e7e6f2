// A recorded host, or its sysfs, as one readable text file, expanded into a temporary folder:
//
//   # the first comment says kernel, driver, source and redaction
//   class/infiniband/mlx5_0 -> ../../devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0
//   devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/ports/1/state = 4: ACTIVE
//   devices/pci0000:3a/0000:3b:00.0/infiniband/mlx5_0/ports/1/counters/
//   class/infiniband/mlx5_0/ports/1/counters/VL15_dropped ! EINVAL
//
//   ethtool-S/eth0.txt <<
//   |NIC statistics:
//   |     rx_packets: 12
//
// A value gets the newline that sysfs ends with; `path =` is an empty file, `path/` an empty
// folder. Of a text after `<<` every line has a `|` before it and is kept to the last blank; after
// a last line with a `\` in its place the file ends without a newline.
// `!` makes a file whose read has to fail: give Errors() to whatever reads. Paths may hold blanks,
// colons and commas.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace rdmapulse::fakes {

struct TreeEntry {
  enum class Kind { kFile, kFolder, kLink, kError };
  Kind kind = Kind::kFile;
  std::string path;
  std::string text;  // of a file, with its newline; of a link, where it points
  int error = 0;     // errno

  bool operator==(const TreeEntry&) const = default;
};

// The error names the line.
Result<std::vector<TreeEntry>> ParseTree(std::string_view text);

enum class TreeLinks { kAsLinks, kAsText };  // the text is what git makes of a link without links

// The folder goes away with the object. A text that does not parse or cannot be written ends the
// test program with a sentence: no test means to go on without its fixture.
class Tree {
 public:
  explicit Tree(std::string_view text, TreeLinks links = TreeLinks::kAsLinks);
  // From the runfiles: "collectors/testdata/x.tree".
  static Tree FromFile(const std::string& path, TreeLinks links = TreeLinks::kAsLinks);
  Tree(Tree&&) noexcept;
  Tree& operator=(Tree&&) = delete;
  ~Tree();

  const std::string& Root() const { return root_; }
  const std::map<std::string, int>& Errors() const { return errors_; }

  // What happens on the host meanwhile. Write changes a file in place, so that open descriptors see
  // it, or makes one and its folders; Remove takes a file, or a folder with all in it.
  void Write(const std::string& path, std::string_view text) const;
  void Remove(const std::string& path) const;

 private:
  std::string root_;
  std::map<std::string, int> errors_;
};

}  // namespace rdmapulse::fakes
