/* Optionals: a value of several tensors, or none, as an element of a DT_VARIANT scalar. */
#ifndef TFCORE_OPS_SUPPORT_OPTIONAL_H_
#define TFCORE_OPS_SUPPORT_OPTIONAL_H_

#include "ops/support/variant.h"

/* Immutable once it is an output. */
typedef struct Optional {
  VariantObject variant;
  int depth; /* above that of every component */
  bool has_value;
  int count;
  Tensor components[];
} Optional;

extern const VariantMethods kOptionalMethods;

/* With `count` empty components and one reference; NULL with status when out of memory. */
Optional *optional_new(bool has_value, int count, Status *status);
/* Output 0 is the optional; takes over the reference, on failure too. */
MUST_CHECK bool optional_set_output(KernelContext *context, Optional *optional, Status *status);

#endif
