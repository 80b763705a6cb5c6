#include "op/side_kernels.h"

#include <stdatomic.h>

#include "op/engine_parts.h"

/* float, the integers of sizes and indices, bool and string are the types of most programs. */
static const DataType kSideTypes[] = {DT_DOUBLE,  DT_HALF,   DT_BFLOAT16,  DT_UINT8,     DT_INT8,   DT_INT16,
                                      DT_UINT16,  DT_UINT32, DT_UINT64,    DT_QINT8,     DT_QUINT8, DT_QINT16,
                                      DT_QUINT16, DT_QINT32, DT_COMPLEX64, DT_COMPLEX128};

static atomic_bool wanted;

bool side_kernels_have_type(DataType type) {
  for (size_t i = 0; i < sizeof kSideTypes / sizeof *kSideTypes; i++)
    if (kSideTypes[i] == type) return true;
  return false;
}

void side_kernels_want(void) { atomic_store(&wanted, true); }

bool side_kernels_wanted(void) { return engine_part_missing(PART_SIDE) && atomic_load(&wanted); }
