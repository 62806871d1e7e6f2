#include "daemon/http/response.h"

#include <gtest/gtest.h>

#include <string>

namespace rdmapulse::http {
namespace {

TEST(ResponseTest, AHeaderSaysWhatFollowsAndWhetherTheConnectionStays) {
  EXPECT_EQ(ResponseHeader({.status = 200, .type = kJsonType}, 12, true),
            "HTTP/1.1 200 OK\r\n"
            "Server: rdmapulse/0.1.0\r\n"
            "Content-Type: application/json\r\n"
            "Cache-Control: no-store\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Content-Length: 12\r\n"
            "Connection: keep-alive\r\n"
            "\r\n");
}

TEST(ResponseTest, ARefusedMethodIsToldTheOthersAndChunksHaveNoLength) {
  Reply reply = Sentence(405, "use POST");
  reply.allow = "POST";
  EXPECT_EQ(ResponseHeader(reply, std::nullopt, false),
            "HTTP/1.1 405 Method Not Allowed\r\n"
            "Server: rdmapulse/0.1.0\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Cache-Control: no-store\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Allow: POST\r\n"
            "Transfer-Encoding: chunked\r\n"
            "Connection: close\r\n"
            "\r\n");
}

TEST(ResponseTest, AChunkIsItsLengthInHexadecimalAndItsBytes) {
  EXPECT_EQ(Chunk("a\n"), "2\r\na\n\r\n");
  EXPECT_EQ(Chunk(std::string(255, 'x')), "ff\r\n" + std::string(255, 'x') + "\r\n");
}

}  // namespace
}  // namespace rdmapulse::http
