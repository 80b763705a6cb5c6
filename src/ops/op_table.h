/* The table of the ops that this build contains: every OpRegistration of the families it was configured with.
 */
#ifndef TFCORE_OPS_OP_TABLE_H_
#define TFCORE_OPS_OP_TABLE_H_

#include "op/op_registry.h"

extern const OpRegistration *const kOpTable[];
extern const int kOpTableSize;

#endif
