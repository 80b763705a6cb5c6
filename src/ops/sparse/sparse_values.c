#include "ops/sparse/sparse_values.h"

#include <stddef.h>

#include "ops/support/element_types.h"

#define TEMPLATE "ops/sparse/sparse_values.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

const ValueLoops *value_loops(DataType type) {
  switch (type) {
    case DT_FLOAT: return &loops_f32;
    case DT_DOUBLE: return &loops_f64;
    case DT_HALF: return &loops_f16;
    case DT_BFLOAT16: return &loops_bf16;
    case DT_INT32: return &loops_i32;
    case DT_INT64: return &loops_i64;
    case DT_UINT8: return &loops_u8;
    case DT_INT8: return &loops_i8;
    case DT_INT16: return &loops_i16;
    case DT_UINT16: return &loops_u16;
    case DT_UINT32: return &loops_u32;
    case DT_UINT64: return &loops_u64;
    case DT_COMPLEX64: return &loops_c64;
    case DT_COMPLEX128: return &loops_c128;
    default: return NULL;
  }
}
