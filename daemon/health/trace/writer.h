// The detectors' inputs as rows of hosts.csv and probes.csv (design 5.3): what rows.h reads. Pure.
#pragma once

#include <string>

#include "daemon/health/trace/rows.h"

namespace rdmapulse::health::trace {

// The first line of each file, with its end.
std::string HostHeader();
std::string ProbeHeader();

// Adds one line. What a cell cannot hold (a comma, a quote, a control character) becomes '_'. A row
// without a priority is of the lossless class and gets priority 3.
void Append(const HostRow& row, std::string& out);
// A result without a round trip gets the time that it took to be learned.
void Append(const ProbeRow& row, std::string& out);

}  // namespace rdmapulse::health::trace
