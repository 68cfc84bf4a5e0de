// The functions of a mathematical library, with the host's libm behind them.
#include <limits>

#include "vgpu/exec/ops/lanes.h"

namespace swizzleperf::vgpu {
namespace {

FLOAT2(Pow, std::pow(a, b));
FLOAT2(Atan2, std::atan2(a, b));
FLOAT2(Hypot, std::hypot(a, b));
FLOAT2(Remainder, std::remainder(a, b));
template <class T>
struct NextAfter {
  T operator()(T a, T b) const { return std::nextafter(a, b); }
};
template <class T>
struct Powi {
  T operator()(T a, u32 e) const {
    return narrow<T>(std::pow(wide(a), static_cast<Wide<T>>(static_cast<i32>(e))));
  }
};

constexpr double kPi = 3.14159265358979323846;
constexpr double kLn10 = 2.30258509299404568402;

// The argument of sin(pi x) is reduced exactly before it is multiplied.
inline double sin_pi(double x) {
  const double r = std::fmod(x, 2.0);
  return r == std::trunc(r) ? std::copysign(0.0, x) : std::sin(r * kPi);
}
inline double cos_pi(double x) {
  const double r = std::fmod(std::fabs(x), 2.0);
  return r == 0.5 || r == 1.5 ? 0.0 : std::cos(r * kPi);
}

FLOAT1(Exp, std::exp(a));
FLOAT1(Exp2, std::exp2(a));
FLOAT1(Exp10, static_cast<W>(std::exp(static_cast<double>(a) * kLn10)));
FLOAT1(ExpM1, std::expm1(a));
FLOAT1(Log, std::log(a));
FLOAT1(Log2, std::log2(a));
FLOAT1(Log10, std::log10(a));
FLOAT1(Log1P, std::log1p(a));
FLOAT1(Sin, std::sin(a));
FLOAT1(Cos, std::cos(a));
FLOAT1(Tan, std::tan(a));
FLOAT1(SinPi, static_cast<W>(sin_pi(static_cast<double>(a))));
FLOAT1(CosPi, static_cast<W>(cos_pi(static_cast<double>(a))));
FLOAT1(SinTurns, static_cast<W>(sin_pi(2.0 * static_cast<double>(a))));
FLOAT1(CosTurns, static_cast<W>(cos_pi(2.0 * static_cast<double>(a))));
FLOAT1(ASin, std::asin(a));
FLOAT1(ACos, std::acos(a));
FLOAT1(ATan, std::atan(a));
FLOAT1(SinH, std::sinh(a));
FLOAT1(CosH, std::cosh(a));
FLOAT1(TanH, std::tanh(a));
FLOAT1(ASinH, std::asinh(a));
FLOAT1(ACosH, std::acosh(a));
FLOAT1(ATanH, std::atanh(a));
FLOAT1(Erf, std::erf(a));
FLOAT1(ErfC, std::erfc(a));
FLOAT1(LGamma, std::lgamma(a));
FLOAT1(TGamma, std::tgamma(a));
FLOAT1(Cbrt, std::cbrt(a));
FLOAT1(LogB, std::logb(a));
FLOAT1(J0, static_cast<W>(::j0(static_cast<double>(a))));
FLOAT1(J1, static_cast<W>(::j1(static_cast<double>(a))));
FLOAT1(Y0, static_cast<W>(::y0(static_cast<double>(a))));
FLOAT1(Y1, static_cast<W>(::y1(static_cast<double>(a))));
// Where libm has nothing: a first guess and Newton's steps on what it has, or a series.

/// x with erfc(x) = y, 0 < y < 2.
double erfc_inverse(double y) {
  if (!(y >= 0 && y <= 2)) return std::numeric_limits<double>::quiet_NaN();
  if (y == 0 || y == 2) return y == 0 ? HUGE_VAL : -HUGE_VAL;
  const double tail = y < 1 ? y : 2 - y;
  const double t = std::sqrt(-2 * std::log(tail / 2));
  double x = -0.70711 * ((2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)) - t);
  for (int k = 0; k < 3; ++k) {
    const double wrong = std::erfc(x) - tail;
    x += wrong / (1.12837916709551257 * std::exp(-x * x) - x * wrong);
  }
  return y < 1 ? x : -x;
}
double erf_inverse(double y) {
  // Close to 0 the complement has no digits left.
  if (std::fabs(y) >= 0.25) return erfc_inverse(1 - y);
  double x = y * 0.88622692545275801;
  for (int k = 0; k < 4; ++k) x -= (std::erf(x) - y) / (1.12837916709551257 * std::exp(-x * x));
  return x;
}
/// exp(x^2) erfc(x); for large x by its continued fraction.
double erfc_scaled(double x) {
  if (x < 10) return std::exp(x * x) * std::erfc(x);
  double fraction = 0;
  for (int k = 60; k > 0; --k) fraction = k * 0.5 / (x + fraction);
  return 0.56418958354775629 / (x + fraction);
}
/// Modified Bessel functions of order 0 and 1: their power series, all of whose terms are positive.
template <int kOrder>
double bessel_i(double x) {
  const double quarter = x * x / 4;
  double term = kOrder == 0 ? 1.0 : x / 2;
  double sum = term;
  for (int k = 1; k < 2000 && std::fabs(term) > std::fabs(sum) * 1e-17; ++k) {
    term *= quarter / (static_cast<double>(k) * (k + kOrder));
    sum += term;
  }
  return sum;
}
FLOAT1(ErfInv, static_cast<W>(erf_inverse(static_cast<double>(a))));
FLOAT1(ErfCInv, static_cast<W>(erfc_inverse(static_cast<double>(a))));
FLOAT1(ErfCX, static_cast<W>(erfc_scaled(static_cast<double>(a))));
FLOAT1(I0, static_cast<W>(bessel_i<0>(static_cast<double>(a))));
FLOAT1(I1, static_cast<W>(bessel_i<1>(static_cast<double>(a))));
template <class T>
struct IntLogB {
  u32 operator()(T a) const { return static_cast<u32>(std::ilogb(wide(a))); }
};

template <class T>
void add_integer_sided(const Table& table) {
  const Type t = kTypeOf<T>;
  table.set(Code::kPowi, t, binary<T, T, u32, Powi<T>>, binary_uniform<T, T, u32, Powi<T>>);
  table.set(Code::kIntLogB, t, unary<u32, T, IntLogB<T>>, unary_uniform<u32, T, IntLogB<T>>);
}

}  // namespace

void CONCAT(add_math_, ISA_NAME)(Operations& operations) {
  const Table table{operations};
  table.float2<Pow>(Code::kPow);
  table.float2<Atan2>(Code::kAtan2);
  table.float2<Hypot>(Code::kHypot);
  table.float2<Remainder>(Code::kRemainder);
  table.binaries<NextAfter, float, double>(Code::kNextAfter);
  table.float1<Exp>(Code::kExp);
  table.float1<Exp2>(Code::kExp2);
  table.float1<Exp10>(Code::kExp10);
  table.float1<ExpM1>(Code::kExpM1);
  table.float1<Log>(Code::kLog);
  table.float1<Log2>(Code::kLog2);
  table.float1<Log10>(Code::kLog10);
  table.float1<Log1P>(Code::kLog1P);
  table.float1<Sin>(Code::kSin);
  table.float1<Cos>(Code::kCos);
  table.float1<Tan>(Code::kTan);
  table.float1<SinPi>(Code::kSinPi);
  table.float1<CosPi>(Code::kCosPi);
  table.float1<SinTurns>(Code::kSinTurns);
  table.float1<CosTurns>(Code::kCosTurns);
  table.float1<ASin>(Code::kASin);
  table.float1<ACos>(Code::kACos);
  table.float1<ATan>(Code::kATan);
  table.float1<SinH>(Code::kSinH);
  table.float1<CosH>(Code::kCosH);
  table.float1<TanH>(Code::kTanH);
  table.float1<ASinH>(Code::kASinH);
  table.float1<ACosH>(Code::kACosH);
  table.float1<ATanH>(Code::kATanH);
  table.float1<Erf>(Code::kErf);
  table.float1<ErfC>(Code::kErfC);
  table.float1<ErfInv>(Code::kErfInv);
  table.float1<ErfCInv>(Code::kErfCInv);
  table.float1<ErfCX>(Code::kErfCX);
  table.float1<I0>(Code::kI0);
  table.float1<I1>(Code::kI1);
  table.float1<LGamma>(Code::kLGamma);
  table.float1<TGamma>(Code::kTGamma);
  table.float1<Cbrt>(Code::kCbrt);
  table.float1<LogB>(Code::kLogB);
  table.float1<J0>(Code::kJ0);
  table.float1<J1>(Code::kJ1);
  table.float1<Y0>(Code::kY0);
  table.float1<Y1>(Code::kY1);
  add_integer_sided<_Float16>(table);
  add_integer_sided<BFloat>(table);
  add_integer_sided<float>(table);
  add_integer_sided<double>(table);
}

}  // namespace swizzleperf::vgpu
