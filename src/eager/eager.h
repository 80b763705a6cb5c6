/* Eager execution: single ops and functions, run at once on given values.
 *
 *   EagerContext *context = eager_context_new(graph, session, devices, &status);
 *   EagerCall call = {.def = node_def_new(arena, "MatMul", "MatMul"), .inputs = values, .num_inputs = 2};
 *   eager_execute(context, &call, arena, results, &num_results, &status);
 *
 * The context adds each op that it runs to its graph once, with a placeholder for each input, and keeps a
 * callable for it: ops run as the steps of a session, over the same shape functions, passes and kernels.
 * Calls with equal op, attrs, device and types share the callable, and with it the state of the kernel.
 * Variables and other resources belong to the session. Threads may share a context.
 */
#ifndef TFCORE_EAGER_EAGER_H_
#define TFCORE_EAGER_EAGER_H_

#include "runtime/session.h"

typedef struct EagerContext EagerContext;

/* All are borrowed and must outlive the context. NULL when out of memory. */
EagerContext *eager_context_new(Graph *graph, Session *session, const DeviceSet *devices, Status *status);
/* NULL is fine. */
void eager_context_free(EagerContext *context);
/* Forgets the callables and the state of their kernels; no call may be under way. Resources stay. */
void eager_context_clear(EagerContext *context);

/* One call of an op or a function. */
typedef struct EagerCall {
  NodeDef *def;                /* op, attrs and device; its attrs are completed */
  const Tensor *const *inputs; /* borrowed */
  int num_inputs;
  /* For each input, the number of inputs in the list that begins with it; 0: it is no list, or inside one.
   * NULL: no lists are known. A list can also be known from its attr. */
  const int *list_lengths;
} EagerCall;

/* Sets the attrs that follow from the inputs (their types override given ones), and the op's defaults. The
 * attrs are in `arena`. */
MUST_CHECK bool eager_infer_attrs(const EagerCall *call, const OpDef *op_def, Arena *arena, Status *status);
/* The op or function. NOT_FOUND "'X' is neither a type of a primitive operation nor a name of a function
 * registered in binary running on ...". */
MUST_CHECK bool eager_look_up(EagerContext *context, const char *name, const Op **op, Status *status);
/* The device of that full, partial or local name; "": the first one. NULL: there is no such device. */
const Device *eager_find_device(const EagerContext *context, const char *name);
/* Runs the call. *num_results is the space in `results` (empty at entry), and becomes the number of results.
 * INVALID_ARGUMENT when the space is too small. */
MUST_CHECK bool eager_execute(EagerContext *context, const EagerCall *call, Arena *arena, Tensor *results,
                              int *num_results, Status *status);

#endif
