#include "ops/linalg/reflectors.h"

#include <float.h>
#include <string.h>

#include "base/alloc.h"
#include "ops/linalg/field.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/linalg/matrix_update.h"

/* Reflections that are applied to other columns as one product. */
enum { BLOCK = 32 };

#define TEMPLATE "ops/linalg/reflectors.inc"
#include "ops/linalg/each_field.inc"
