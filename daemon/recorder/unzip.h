// For tests: what a gzip file of several members holds.
#pragma once

#include <zlib.h>

#include <array>
#include <string>

namespace rdmapulse::recorder {

// Empty when it is damaged.
inline std::string Unzip(std::string gz) {
  std::string out;
  std::array<char, 65536> buffer{};
  z_stream stream = {};
  stream.next_in = reinterpret_cast<Bytef*>(gz.data());
  stream.avail_in = static_cast<uInt>(gz.size());
  while (stream.avail_in > 0) {
    if (inflateInit2(&stream, 15 + 16) != Z_OK) return {};
    int code = Z_OK;
    while (code == Z_OK) {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = buffer.size();
      code = inflate(&stream, Z_NO_FLUSH);
      out.append(buffer.data(), buffer.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    if (code != Z_STREAM_END) return {};
  }
  return out;
}

}  // namespace rdmapulse::recorder
