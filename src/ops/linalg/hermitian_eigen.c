/* Eigenvalues of Hermitian matrices: reduction to a real tridiagonal matrix, then implicit QL steps. */
#include <float.h>

#include "base/alloc.h"
#include "base/work_stop.h"
#include "ops/linalg/field.h"
#include "ops/linalg/reflectors.h"
#include "ops/linalg/rotations.h"
#include "ops/linalg/spectral.h"

#define TEMPLATE "ops/linalg/hermitian_eigen.inc"
#include "ops/linalg/each_field.inc"
