#include "ops/op_table.h"

/* op_table.inc has one line OP(Name) for each `const OpRegistration kOpName = {` of the families; the
 * build makes it. */
#define OP(Name) extern const OpRegistration kOp##Name;
#include "op_table.inc"
#undef OP

const OpRegistration *const kOpTable[] = {
#define OP(Name) &kOp##Name,
#include "op_table.inc"
#undef OP
};

const int kOpTableSize = sizeof kOpTable / sizeof kOpTable[0];
