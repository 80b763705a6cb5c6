#include "blas/conv.h"

#include <string.h>

#include "base/copy.h"
#include "blas/gemm.h"
#include "simd/templates.h"
#include "simd/simd.h"

#define TEMPLATE "blas/conv_product.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"
