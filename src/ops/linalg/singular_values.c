/* Singular values: reduction to a real bidiagonal matrix, then Golub and Kahan's implicit QR steps. */
#include <float.h>

#include "base/alloc.h"
#include "base/work_stop.h"
#include "ops/linalg/field.h"
#include "ops/linalg/reflectors.h"
#include "ops/linalg/rotations.h"
#include "ops/linalg/spectral.h"

#define TEMPLATE "ops/linalg/singular_values.inc"
#include "ops/linalg/each_field.inc"
