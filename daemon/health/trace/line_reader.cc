#include "daemon/health/trace/line_reader.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace rdmapulse::health::trace {
namespace {

constexpr unsigned kChunk = 256 * 1024;

struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};
using Gzip = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseGzip>;

std::string At(const std::string& name, std::uint64_t line) {
  return name + ":" + std::to_string(line);
}

std::string_view WithoutReturn(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

class GzipLines final : public LineReader {
 public:
  GzipLines(std::string name, Gzip file) : name_(std::move(name)), file_(std::move(file)) {}

  const std::string& name() const override { return name_; }

  Result<bool> Next(std::string_view& line) override {
    while (true) {
      const char* const begin = buffer_.data() + first_;
      const auto* const end =
          static_cast<const char*>(std::memchr(begin + seen_, '\n', used_ - first_ - seen_));
      if (end != nullptr) return Take(static_cast<std::size_t>(end - begin), 1, line);
      seen_ = used_ - first_;
      if (seen_ > kLineBytesMax) {
        return Fail({"reading ", At(name_, number_ + 1), ": the line is longer than 64 KiB"},
                    "this is no trace");
      }
      if (ended_) {
        if (seen_ == 0) return false;
        return Take(seen_, 0, line);
      }
      if (const auto more = Fill(); !more) return tl::unexpected(more.error());
    }
  }

 private:
  Result<bool> Take(std::size_t length, std::size_t terminator, std::string_view& line) {
    if (length > kLineBytesMax) {
      return Fail({"reading ", At(name_, number_ + 1), ": the line is longer than 64 KiB"},
                  "this is no trace");
    }
    line = WithoutReturn({buffer_.data() + first_, length});
    first_ += length + terminator;
    seen_ = 0;
    ++number_;
    return true;
  }

  Result<void> Fill() {
    std::memmove(buffer_.data(), buffer_.data() + first_, used_ - first_);
    used_ -= first_;
    first_ = 0;
    const int read = gzread(file_.get(), buffer_.data() + used_, kChunk);
    int code = Z_OK;
    const char* const text = gzerror(file_.get(), &code);
    if (read < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      if (code == Z_ERRNO) return Fail(errno, {"reading ", At(name_, number_ + 1)});
      const std::string why = code == Z_BUF_ERROR ? "the gzip file ends too early" : text;
      return Fail({"reading ", At(name_, number_ + 1), ": ", why}, "copy it again");
    }
    used_ += static_cast<std::size_t>(read);
    ended_ = read == 0;
    return {};
  }

  std::string name_;
  Gzip file_;
  // Holds a line of the longest allowed, and what came with it.
  std::vector<char> buffer_ = std::vector<char>(kLineBytesMax + std::size_t{2} * kChunk);
  std::size_t first_ = 0;  // of what was not taken yet
  std::size_t used_ = 0;
  std::size_t seen_ = 0;  // of it, without an end of line
  bool ended_ = false;
};

class MemoryLines final : public LineReader {
 public:
  MemoryLines(std::string name, std::string_view bytes) : name_(std::move(name)), rest_(bytes) {}

  const std::string& name() const override { return name_; }

  Result<bool> Next(std::string_view& line) override {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    if (end > kLineBytesMax) {
      return Fail({"reading ", At(name_, number_ + 1), ": the line is longer than 64 KiB"},
                  "this is no trace");
    }
    line = WithoutReturn(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return true;
  }

 private:
  std::string name_;
  std::string_view rest_;
};

}  // namespace

Result<std::unique_ptr<LineReader>> OpenLines(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return Fail(errno, {"opening ", path});
  if (!S_ISREG(status.st_mode)) return Fail({"opening ", path, ": it is not a file"});
  Gzip file(gzopen(path.c_str(), "rb"));
  if (!file) return Fail(errno != 0 ? errno : ENOMEM, {"opening ", path});
  gzbuffer(file.get(), kChunk);
  return std::make_unique<GzipLines>(path, std::move(file));
}

std::unique_ptr<LineReader> LinesOf(std::string name, std::string_view bytes) {
  return std::make_unique<MemoryLines>(std::move(name), bytes);
}

}  // namespace rdmapulse::health::trace
