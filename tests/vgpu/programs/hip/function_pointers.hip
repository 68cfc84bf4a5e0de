// Virtual functions, pointers to functions in arguments, tables and device variables.
#include "check.h"

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual float scaled(float by) const { return area() * by; }
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Rectangle : Shape {
  float a, b;
  __device__ Rectangle(float x, float y) : a(x), b(y) {}
  __device__ float area() const override { return a * b; }
  __device__ float scaled(float by) const override { return area() + by; }
};

__global__ void areas(float* out) {
  const int i = threadIdx.x;
  Square square(static_cast<float>(i));
  Rectangle rectangle(static_cast<float>(i), 10.0f);
  const Shape* shape = i % 3 == 0 ? static_cast<const Shape*>(&square) : &rectangle;
  out[i] = shape->area();
  out[64 + i] = shape->scaled(2.0f);
}

typedef float (*Function)(float);
__device__ float twice(float x) { return 2 * x; }
__device__ float square_of(float x) { return x * x; }
__device__ float negative(float x) { return -x; }
__device__ Function table[3] = {twice, square_of, negative};
__device__ float weights[3] = {1, 10, 100};
__device__ const float* second_weight = &weights[1];

__global__ void through_a_table(float* out) {
  const int i = threadIdx.x;
  out[i] = table[i % 3](static_cast<float>(i)) + *second_weight;
}

__global__ void choose(Function* where, int which) { *where = which == 0 ? twice : negative; }
__global__ void through_an_argument(float* out, Function f) { out[threadIdx.x] = f(threadIdx.x + 1.0f); }

template <class Operation>
__global__ void apply(float* out, Operation operation) {
  out[threadIdx.x] = operation(static_cast<float>(threadIdx.x));
}

int main() {
  Array<float> out(128);
  areas<<<1, 64>>>(out);
  out.download();
  for (int i = 0; i < 64; ++i) {
    const float area = i % 3 == 0 ? i * i : i * 10;
    check_equal("area", i, out.host[i], area);
    check_equal("scaled", i, out.host[64 + i], i % 3 == 0 ? area * 2 : area + 2);
  }
  through_a_table<<<1, 64>>>(out);
  out.download();
  for (int i = 0; i < 64; ++i)
    check_equal("table", i, out.host[i], 10.0f + (i % 3 == 0 ? 2 * i : i % 3 == 1 ? i * i : -i));

  Array<Function> pointer(1);
  for (int which = 0; which < 2; ++which) {
    choose<<<1, 1>>>(pointer, which);
    pointer.download();
    through_an_argument<<<1, 64>>>(out, pointer.host[0]);
    out.download();
    for (int i = 0; i < 64; ++i)
      check_equal("argument", i, out.host[i], which == 0 ? 2.0f * (i + 1) : -(i + 1.0f));
  }
  const float offset = 5;
  apply<<<1, 64>>>(out, [offset] __device__(float x) { return x * 3 + offset; });
  out.download();
  for (int i = 0; i < 64; ++i) check_equal("lambda", i, out.host[i], i * 3 + 5.0f);
  return report();
}
