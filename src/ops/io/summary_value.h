/* Shared by the ops that make summaries. */
#ifndef TFCORE_OPS_IO_SUMMARY_VALUE_H_
#define TFCORE_OPS_IO_SUMMARY_VALUE_H_

#include "op/kernel.h"
#include "proto/summary_protos.h"

/* An empty summary in its own arena, which the caller frees; there is no arena on error. */
MUST_CHECK bool summary_begin(Arena **arena, Summary **summary, Status *status);
/* Appends a value that only has its tag. */
MUST_CHECK bool summary_add(Summary *summary, Arena *arena, Str tag, SummaryValue **value, Status *status);
/* Output 0: the serialised summary as a scalar. */
MUST_CHECK bool summary_set_output(KernelContext *context, const Summary *summary, Status *status);
/* Element `i` of a tensor of real numbers. */
double summary_number(const Tensor *tensor, int64_t i);

#endif
