/* Converts a registration to an OpDef, and an OpDef made at run time to a registration. For op_registry.c. */
#ifndef TFCORE_OP_OP_REGISTRATION_H_
#define TFCORE_OP_OP_REGISTRATION_H_

#include "op/op_registry.h"

/* Parses and validates the specs; the OpDef is in `arena`. A failure may leave memory there. */
MUST_CHECK bool op_registration_parse(const OpRegistration *registration, Arena *arena, OpDef **op_def,
                                      Status *status);
/* A registration without specs and kernels, in `arena`, for an op that a factory described. NULL with status
 * when out of memory. */
OpRegistration *op_registration_describe(const OpRegistrationData *data, Arena *arena, Status *status);

#endif
