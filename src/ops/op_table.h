/* The table of the ops in this build: every OpRegistration of the configured families. */
#ifndef TFCORE_OPS_OP_TABLE_H_
#define TFCORE_OPS_OP_TABLE_H_

#include "op/op_registry.h"

extern const OpRegistration *const kOpTable[];
extern const int kOpTableSize;
/* The side ops (TFCORE_SIDE_OPS in cmake/TfcoreModules.cmake), whose kernels may be in a side module. */
extern const OpRegistration *const kSideOps[];
extern const int kNumSideOps;
/* The ops of which only the kernels for integers may be there (TFCORE_INTEGERS_ASIDE). */
extern const OpRegistration *const kIntegersAsideOps[];
extern const int kNumIntegersAsideOps;

#endif
