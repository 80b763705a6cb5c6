/* The reductions of reduce.h for integers, which most models only need for shapes: compiled for size. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "blas/reduce.h"
#include "blas/reduce_axes.h"
#include "simd/simd.h"
#include "simd/templates.h"

#define TEMPLATE "blas/reduce.inc"
#define TYPES TYPES_INT
#include "simd/each_type.inc"
