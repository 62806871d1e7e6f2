// The words of findings, for a tired person at 3 a.m. Pure.
#pragma once

#include <string>
#include <string_view>

#include "daemon/health/finding.h"
#include "daemon/health/judgement.h"

namespace rdmapulse::health {

Evidence InWords(const Fact& fact, std::string_view detail);
std::string Advice(const Finding& finding, const Judgement& judgement);
// "priority 3 of mlx5_0/1", "peer h2, lossless class".
std::string Where(const Subject& subject);
// "low" < 0.6 <= "medium" < 0.9 <= "high".
std::string_view HowSure(double confidence);
// One line: when, host, what, state, where, how sure, why, what it is not.
std::string Line(const Finding& finding);

}  // namespace rdmapulse::health
