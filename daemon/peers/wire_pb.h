// The generated code, whose warnings are not ours to fix. Only wire_encode.cc and wire_decode.cc
// know that it is protobuf.
#pragma once
#pragma GCC system_header

#include "daemon/peers/peers.pb.h"
