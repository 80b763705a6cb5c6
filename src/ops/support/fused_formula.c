#include "ops/support/fused_formula.h"

#include <string.h>

#include "simd/vector_math.h"

static const struct {
  const char *op, *text;
} kFormulas[] = {
    {"Abs", "xa"},
    {"Add", "xy+"},
    {"AddV2", "xy+"},
    {"Ceil", "xc"},
    {"DivNoNan", "xy/y0=~"},
    {"EluGrad", "xy1+*xy0<?"},
    {"Floor", "xf"},
    {"Inv", "1x/"},
    {"InvGrad", "ynxx**y0=~"},
    {"Maximum", "yxxy<yy!|?"},
    {"Minimum", "yxyx<yy!|?"},
    {"Mul", "xy*"},
    {"MulNoNan", "xy*y0=~"},
    {"Neg", "xn"},
    {"RealDiv", "xy/"},
    {"Reciprocal", "1x/"},
    {"ReciprocalGrad", "ynxx**y0=~"},
    {"Relu", "x0M"},
    {"Relu6", "x0M6m"},
    {"Relu6Grad", "xy0>y6<&1&*"},
    {"ReluGrad", "xy0>1&*"},
    {"Rint", "xi"},
    {"Rsqrt", "1xr/"},
    {"RsqrtGrad", "Hyx**xx**y0=~"},
    {"SeluGrad", "xys+*xS*y0<?"},
    {"SigmoidGrad", "yx1x-**"},
    {"Softsign", "x1xa+/"},
    {"SoftsignGrad", "x1ya+1ya+*/"},
    {"Sqrt", "xr"},
    {"SqrtGrad", "hy*x/y0=~"},
    {"Square", "xx*"},
    {"SquaredDifference", "xy-xy-*"},
    {"Sub", "xy-"},
    {"TanhGrad", "y1xx*-*"},
};

uint8_t fused_formula_of(const char *op) {
  for (size_t i = 0; i < sizeof kFormulas / sizeof *kFormulas; i++) {
    if (strcmp(kFormulas[i].op, op) == 0) return (uint8_t)(i + 1);
  }
  return 0;
}

const char *fused_formula_text(uint8_t number) { return kFormulas[number - 1].text; }

bool fused_formula_constant(char letter, double *value) {
  switch (letter) {
    case '0': *value = 0; return true;
    case '1': *value = 1; return true;
    case '6': *value = 6; return true;
    case 'h': *value = 0.5; return true;
    case 'H': *value = -0.5; return true;
    case 's': *value = SELU_SCALE_ALPHA; return true;
    case 'S': *value = SELU_SCALE; return true;
    default: return false;
  }
}
