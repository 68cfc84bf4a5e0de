// Modules loaded at run time: the program writes a kernel as LLVM IR and launches it in both of HIP's
// ways.
#include <fstream>

#include "check.h"

static const char* const kText = R"(
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"
@offset = addrspace(1) global i32 100, align 4
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @fill(ptr addrspace(1) %out, i32 %value) #0 {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %base = load i32, ptr addrspace(1) @offset, align 4
  %sum = add i32 %id, %value
  %all = add i32 %sum, %base
  %where = getelementptr i32, ptr addrspace(1) %out, i32 %id
  store i32 %all, ptr addrspace(1) %where, align 4
  ret void
}
attributes #0 = { "target-cpu"="gfx942" }
)";

__global__ void unused(int* p) { *p = 1; }

int main() {
  hipModule_t module;
  OK(hipModuleLoadData(&module, kText));
  hipFunction_t function;
  CHECK(hipModuleGetFunction(&function, module, "absent") == hipErrorNotFound);
  OK(hipModuleGetFunction(&function, module, "fill"));
  Array<int> out(64);
  int* pointer = out;
  int value = 5;
  void* arguments[] = {&pointer, &value};
  OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  out.download();
  for (int i = 0; i < 64; ++i) check_equal("arguments", i, out.host[i], i + 105);

  hipDeviceptr_t offset;
  size_t bytes;
  OK(hipModuleGetGlobal(&offset, &bytes, module, "offset"));
  CHECK(bytes == 4);
  OK(hipMemsetD32(offset, 1000, 1));
  struct {
    int* pointer;
    int value;
  } packed = {out, 7};
  size_t size = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  out.download();
  for (int i = 0; i < 64; ++i) check_equal("extra", i, out.host[i], i + 1007);

  const char* const file = "/tmp/swizzleperf_modules_test.ll";
  std::ofstream(file) << kText;
  hipModule_t second;
  OK(hipModuleLoad(&second, file));
  std::remove(file);
  hipFunction_t again;
  OK(hipModuleGetFunction(&again, second, "fill"));
  OK(hipModuleLaunchKernel(again, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  out.download();
  for (int i = 0; i < 64; ++i) check_equal("file", i, out.host[i], i + 105);
  int blocks = 0;
  OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, again, 256, 0));
  CHECK(blocks >= 1);
  CHECK(hipModuleLoad(&second, "/tmp/there_is_no_such_file") == hipErrorFileNotFound);
  OK(hipModuleUnload(module));
  unused<<<1, 1>>>(out);
  return report();
}
