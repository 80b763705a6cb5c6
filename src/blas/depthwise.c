/* The depthwise convolutions of conv.h, for each type. */
#include <string.h>

#include "blas/conv.h"
#include "simd/templates.h"
#include "simd/simd.h"

#define TEMPLATE "blas/depthwise.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"
