/* Abort: ends a step on purpose. */
#include "op/node_def.h"
#include "op/op_registry.h"

typedef struct AbortState {
  Str message;
  bool quiet;
} AbortState;

static bool abort_construct(const KernelConstruction *construction, void *memory, Status *status) {
  AbortState *state = memory;
  TRY(node_attr_string(construction->node, "error_msg", &state->message, status));
  return node_attr_bool(construction->node, "exit_without_error", &state->quiet, status);
}

/* TensorFlow ends the process, with this message or silently. Here the step fails, and the session stays
 * usable. */
static bool abort_step(KernelContext *context, Status *status) {
  const AbortState *state = context->state;
  if (state->quiet) return status_set(status, CODE_ABORTED, "Abort_op exits without an error");
  return status_set(status, CODE_ABORTED, "Abort_op intentional failure; %.*s",
                    (int)(state->message.length < 512 ? state->message.length : 512), state->message.data);
}

const OpRegistration kOpAbort = {
    .name = "Abort",
    .attrs = {"error_msg: string = ''", "exit_without_error: bool = false"},
    .shape = shape_no_outputs,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(AbortState),
    .construct = abort_construct,
    .kernels = {{DT_INVALID, abort_step}},
};
