#include "ops/linalg/factors.h"

#include "ops/linalg/field.h"
#include "ops/linalg/matrix_update.h"

/* Columns that are factored before the rest of the matrix is updated. */
enum { PANEL = 48 };

#define TEMPLATE "ops/linalg/factors.inc"
#include "ops/linalg/each_field.inc"
