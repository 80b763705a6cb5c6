#include "blas/bias.h"

#include "simd/element_types.h"

#define TEMPLATE "blas/bias.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT)
#include "simd/each_type.inc"
