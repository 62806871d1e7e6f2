// Readings and settings as the tools print them: what a recording is written in. Pure; what is
// written so is read back the same by the parsers of this folder.
#pragma once

#include <string>
#include <vector>

#include "collectors/port_qos.h"
#include "collectors/reading.h"
#include "collectors/recorded/ethtool_text.h"
#include "collectors/recorded/rdma_statistic_text.h"

namespace rdmapulse::collectors::recorded {

// `ethtool -S`. `standard` are those of the values that ethtool lists by groups.
std::string EthtoolStatisticsText(const std::vector<Value>& driver,
                                  const std::vector<Value>& standard, const std::string& netdev);
// `ethtool -I -a`; of `values` the pause statistics are written.
std::string EthtoolPauseText(const PortQos& qos, const std::vector<Value>& values);
// `ethtool -i`
std::string EthtoolDriverText(const EthtoolDriver& driver);

// `dcb -s pfc show`, `dcb app show`, `dcb ets show`; empty: nothing is known of it. What dcb cannot
// say (trust, buffers) is not written.
std::string DcbPfcText(const PortQos& qos, const std::vector<Value>& statistics);
std::string DcbAppText(const PortQos& qos);
std::string DcbEtsText(const PortQos& qos);

// `rdma statistic show`
std::string RdmaStatisticsText(const std::vector<RdmaLinkStatistics>& links);

}  // namespace rdmapulse::collectors::recorded
