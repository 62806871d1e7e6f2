// The generated code, whose warnings are not ours to fix. Only family_set_protobuf.cc and its test
// know that it is protobuf.
#pragma once
#pragma GCC system_header

#include "daemon/metrics/exposition.pb.h"
