/* The matrix products of gemm.h for integers: plain loops. */
#include <stddef.h>

#include "blas/gemm.h"
#include "simd/templates.h"

#define TEMPLATE "blas/gemm_generic.inc"
#define TYPES TYPES_INT
#include "simd/each_type.inc"
