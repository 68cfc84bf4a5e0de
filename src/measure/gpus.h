// What *_VISIBLE_DEVICES leaves of a host's GPUs.
#pragma once

#include <string>
#include <vector>

#include "measure/profile.h"

namespace swizzleperf::measure {

/// `list` as CUDA_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES have it: indices into `gpus`, or
/// beginnings of UUIDs, in the order to be seen. As in the runtimes, the first entry that names no
/// GPU hides itself and all after it, and one named twice hides all.
std::vector<Gpu> restricted(const std::vector<Gpu>& gpus, const std::string& list);

}  // namespace swizzleperf::measure
