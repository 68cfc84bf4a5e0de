// What kernels ask of the runtime: to print, to allocate. Lane by lane, and compiled once.
#include <algorithm>
#include <cstring>
#include <string>

#include "vgpu/exec/device_heap.h"
#include "vgpu/exec/ops/parts.h"
#include "vgpu/exec/text.h"
#include "vgpu/exec/wave.h"

namespace swizzleperf::vgpu {
namespace {

/// The value of an operand of 1, 2, 4 or 8 bytes in one lane.
template <class T>
T in_lane(const Wave& w, std::uint32_t operand, std::uint32_t lane) {
  T value;
  const std::uint32_t at =
      is_uniform(operand) ? 0 : lane * static_cast<std::uint32_t>(sizeof value);
  std::memcpy(&value, w.registers + (operand & ~kUniformBit) + at, sizeof value);
  return value;
}

void set_lane(const Wave& w, std::uint32_t d, std::uint32_t lane, std::uint64_t value) {
  std::memcpy(w.registers + d + 8 * lane, &value, sizeof value);
}

template <class Body>
void each_lane(const Wave& w, Body body) {
  for (std::uint64_t left = w.exec; left != 0; left &= left - 1)
    body(static_cast<std::uint32_t>(__builtin_ctzll(left)));
}

/// Handles of messages count from 1; what a kernel makes of them is checked.
Message& message_of(Wave& w, const Op& op, std::uint32_t lane, std::uint64_t handle) {
  auto& messages = w.run->messages;
  if (handle == 0 || handle > messages.size())
    fault(w, op, lane, "appends to a message that it did not begin");
  return messages[handle - 1];
}

void send(BlockRun& run, Message& message) {
  const std::string text = formatted(message);
  if (!message.is_error)
    run.text += text;
  else if (run.error_text.empty())
    run.error_text = text;
  message.pieces.clear();
}

void append_numbers(Wave& w, const Op& op, const std::uint32_t* list, std::uint32_t lane) {
  const auto handle = in_lane<std::uint64_t>(w, list[0], lane);
  Message& message = message_of(w, op, lane, handle);
  const auto count = in_lane<std::uint32_t>(w, list[1], lane);
  for (std::uint32_t k = 0; k < std::min(count, 7U); ++k)
    message.pieces.emplace_back(in_lane<std::uint64_t>(w, list[2 + k], lane));
  if (in_lane<std::uint32_t>(w, list[9], lane) != 0) send(*w.run, message);
  set_lane(w, op.d, lane, handle);
}

void append_string(Wave& w, const Op& op, const std::uint32_t* list, std::uint32_t lane) {
  const auto handle = in_lane<std::uint64_t>(w, list[0], lane);
  Message& message = message_of(w, op, lane, handle);
  const auto bytes = in_lane<std::uint64_t>(w, list[2], lane);
  const auto address = in_lane<std::uint64_t>(w, list[1], lane);
  if (address == 0)
    message.pieces.emplace_back(std::uint64_t{0});
  else
    message.pieces.emplace_back(
        std::string(static_cast<const char*>(readable(w, op, lane, address, bytes)), bytes));
  if (in_lane<std::uint32_t>(w, list[3], lane) != 0) send(*w.run, message);
  set_lane(w, op.d, lane, handle);
}

void text(Wave& w, const Op& op) {
  const std::uint32_t* list = w.run->program->lists.data() + op.list;
  const auto call = static_cast<TextCall>(op.imm);
  each_lane(w, [&](std::uint32_t lane) {
    if (call == TextCall::kNumbers) return append_numbers(w, op, list, lane);
    if (call == TextCall::kString) return append_string(w, op, list, lane);
    w.run->messages.push_back({{}, call == TextCall::kBeginError});
    set_lane(w, op.d, lane, w.run->messages.size());
  });
}

DeviceHeap& heap_of(Wave& w, const Op& op) {
  DeviceHeap* heap = w.run->launch->heap;
  if (heap == nullptr)
    fault(w, op, static_cast<std::uint32_t>(__builtin_ctzll(w.exec)),
          "allocates memory, and the launch has none to give");
  return *heap;
}

void allocate(Wave& w, const Op& op) {
  DeviceHeap& heap = heap_of(w, op);
  each_lane(w, [&](std::uint32_t lane) {
    set_lane(w, op.d, lane, heap.allocate(in_lane<std::uint64_t>(w, op.a, lane)));
  });
}

void release(Wave& w, const Op& op) {
  DeviceHeap& heap = heap_of(w, op);
  each_lane(w, [&](std::uint32_t lane) {
    const auto address = in_lane<std::uint64_t>(w, op.a, lane);
    if (address != 0 && !heap.release(address))
      fault(w, op, lane, "frees what it did not allocate, or frees it twice");
  });
}

}  // namespace

void add_services(Operations& operations) {
  const auto set = [&](Code code, Type type, Handler handler) {
    operations.by_code[static_cast<std::size_t>(code)][static_cast<std::size_t>(type)] = {handler,
                                                                                          nullptr};
  };
  set(Code::kText, Type::kI64, text);
  set(Code::kAllocate, Type::kI64, allocate);
  set(Code::kRelease, Type::kI64, release);
}

}  // namespace swizzleperf::vgpu
