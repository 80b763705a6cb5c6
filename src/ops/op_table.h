/* The table of the ops in this build: every OpRegistration of the configured families. */
#ifndef TFCORE_OPS_OP_TABLE_H_
#define TFCORE_OPS_OP_TABLE_H_

#include "op/op_registry.h"

extern const OpTableRow kOpTable[];
extern const int kOpTableSize;

#endif
