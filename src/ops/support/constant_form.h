/* Another form of a constant input, such as a packed matrix: made by the step that first needs it, and kept
 * by the kernel.
 *
 *   static void pack(const void *arg, const Parallel *parallel, void *form) { ... }
 *
 *   const void *packed;
 *   TRY(constant_form_get(&state->packed, size, pack, &args, context->parallel, &packed, status));
 *
 * Steps may run at once. Those that find no form make one each, and keep the first that is complete: none
 * waits for another, whose threads it may be.
 */
#ifndef TFCORE_OPS_SUPPORT_CONSTANT_FORM_H_
#define TFCORE_OPS_SUPPORT_CONSTANT_FORM_H_

#include <stdatomic.h>

#include "base/parallel.h"
#include "base/status.h"

/* Zero-initialised; a part of the kernel's state. */
typedef struct ConstantForm {
  _Atomic(void *) made;
} ConstantForm;

/* Writes the whole form. It does not end early when the step does (base/work_stop.h). */
typedef void MakeConstantForm(const void *arg, const Parallel *parallel, void *form);

/* The form of `size` bytes (64-byte aligned), which belongs to the kernel. */
MUST_CHECK bool constant_form_get(ConstantForm *form, int64_t size, MakeConstantForm *make, const void *arg,
                                  const Parallel *parallel, const void **made, Status *status);
void constant_form_free(ConstantForm *form);

#endif
