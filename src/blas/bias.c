#include "blas/bias.h"

#include "simd/templates.h"

#define TEMPLATE "blas/bias.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT)
#include "simd/each_type.inc"
