// What a falsifier's run says: as words, JSON, CSV and a picture of hits against time.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "study/falsifier.h"

namespace swizzleperf::study {

nlohmann::ordered_json to_json(const Launch& launch, const Falsified& f);

/// A row a hit rate and bin of time: how many deals.
std::string histogram_csv(const Falsified& f);

/// Hit rate to the right, time upwards, the darker the more deals; what is shown in words is
/// marked.
std::string histogram_svg(const Launch& launch, const Falsified& f);

std::string in_words(const Launch& launch, const Falsified& f);

}  // namespace swizzleperf::study
