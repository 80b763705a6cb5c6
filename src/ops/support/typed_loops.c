#include "ops/support/typed_loops.h"

const void *typed_loops(const KernelEntry *table, int count, DataType type) {
  for (int i = 0; i < count; i++)
    if (table[i].type == type) return table[i].data;
  return NULL;
}
