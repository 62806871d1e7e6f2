#include "daemon/recorder/recording.h"

#include <zlib.h>

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "daemon/health/trace/writer.h"

namespace rdmapulse::recorder {
namespace {

using health::PeerSample;
using health::ProbeOutcome;
using health::Time;
using health::trace::ProbeRow;

// Counters that hardly change: a higher level gains little and takes the loop's time.
constexpr int kLevel = 1;
constexpr int kGzipWindow = 15 + 16;
constexpr int kMemory = 8;
constexpr double kNanoseconds = 1000;

ProbeRow RowOf(const Recording& recording, const RecordedProbe& probe) {
  ProbeRow row;
  row.src = recording.host;
  row.path = recording.paths[probe.path];
  row.posted = row.result.posted = probe.posted;
  row.outstanding = probe.state == RecordedProbe::State::kOutstanding;
  if (row.outstanding) return row;
  row.result.rtt_us = static_cast<double>(probe.rtt_ns) / kNanoseconds;
  if (probe.outcome != RecordedProbe::kNoOutcome) {
    row.result.outcome = static_cast<ProbeOutcome>(probe.outcome);
  }
  if (probe.responder_ns >= 0) {
    row.result.responder_us = static_cast<double>(probe.responder_ns) / kNanoseconds;
  }
  row.result.status = recording.statuses[probe.status];
  return row;
}

// A session that came or went is no probe: a row of kind connect tells it, and no detector reads
// more of it.
ProbeRow RowOf(const Recording& recording, const PeerSample& sample) {
  ProbeRow row;
  row.src = recording.host;
  row.path.peer = sample.peer;
  row.path.op = "connect";
  row.posted = row.result.posted = row.result.time = sample.time;
  row.result.outcome = sample.session_up.value_or(true) ? ProbeOutcome::kOk : ProbeOutcome::kFailed;
  row.session_up = sample.session_up;
  row.peer_epoch = sample.epoch;
  return row;
}

// The header, each member, what follows them: whole lines each.
class RecordedLines final : public health::trace::LineReader {
 public:
  explicit RecordedLines(const Recording& recording) : recording_(recording) {}

  const std::string& name() const override { return name_; }

  Result<bool> Next(std::string_view& line) override {
    while (true) {
      Result<bool> more = part_->Next(line);
      if (!more) return more;
      if (*more) {
        ++number_;
        return true;
      }
      if (opened_ > recording_.rows_gz.size()) return false;
      if (auto opened = OpenPart(); !opened) return tl::unexpected(opened.error());
    }
  }

 private:
  Result<void> OpenPart() {
    const std::size_t part = opened_++;
    const bool plain = part == recording_.rows_gz.size();
    Result<std::string> text =
        plain ? Result<std::string>(recording_.rows) : Gunzip(recording_.rows_gz[part]);
    if (!text) return tl::unexpected(text.error());
    text_ = *std::move(text);
    part_ = health::trace::LinesOf(name_, text_);
    return {};
  }

  const Recording& recording_;
  const std::string name_ = "hosts.csv";
  std::string text_ = health::trace::HostHeader();
  std::unique_ptr<health::trace::LineReader> part_ = health::trace::LinesOf(name_, text_);
  std::size_t opened_ = 0;  // parts behind the header
};

}  // namespace

Result<std::string> Gzip(std::string_view bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    return Fail(ENOMEM, {"compressing a recording"});
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  // zlib does not write through next_in; its type is older than const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int done = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (done != Z_STREAM_END) return Fail({"compressing a recording: zlib refused it"});
  return out;
}

Result<std::string> Gunzip(std::string_view members) {
  std::string out;
  std::array<char, 65536> buffer{};
  z_stream stream = {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(members.data()));
  stream.avail_in = static_cast<uInt>(members.size());
  while (stream.avail_in > 0) {
    if (inflateInit2(&stream, kGzipWindow) != Z_OK) {
      return Fail(ENOMEM, {"unpacking a recording"});
    }
    int code = Z_OK;
    while (code == Z_OK) {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = static_cast<uInt>(buffer.size());
      code = inflate(&stream, Z_NO_FLUSH);
      out.append(buffer.data(), buffer.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    if (code != Z_STREAM_END) return Fail({"unpacking a recording: it is damaged"});
  }
  return out;
}

Result<std::string> HostsCsvGz(const Recording& recording) {
  Result<std::string> file = Gzip(health::trace::HostHeader());
  if (!file) return file;
  for (const std::string& member : recording.rows_gz) *file += member;
  Result<std::string> rest = Gzip(recording.rows);
  if (!rest) return rest;
  *file += *rest;
  return file;
}

Result<std::string> ProbesCsvGz(const Recording& recording) {
  std::string text = health::trace::ProbeHeader();
  auto peer = recording.peers.begin();
  for (const RecordedProbe& probe : recording.probes) {
    for (; peer != recording.peers.end() && peer->time <= probe.posted; ++peer) {
      health::trace::Append(RowOf(recording, *peer), text);
    }
    health::trace::Append(RowOf(recording, probe), text);
  }
  for (; peer != recording.peers.end(); ++peer) {
    health::trace::Append(RowOf(recording, *peer), text);
  }
  return Gzip(text);
}

std::unique_ptr<health::trace::LineReader> HostLines(const Recording& recording) {
  return std::make_unique<RecordedLines>(recording);
}

}  // namespace rdmapulse::recorder
