/* Kernels: the computation of an op. A kernel is made once per node of a program, when it reads attrs, and
 * runs many times; other forms of its constants are made by the first run that needs them
 * (ops/support/constant_form.h). Running it does no string work and, with unchanged shapes, no
 * allocation.
 *
 *   static bool scale(KernelContext *context, Status *status) {
 *     const ScaleState *state = context->state; // which .construct read from the node's attrs
 *     const Tensor *x = context->inputs[0];
 *     if (x->shape.rank < 1) return status_invalid(status, "x must be at least a vector");
 *     Tensor *y;
 *     TRY(kernel_forward_or_allocate(context, 0, 0, &x->shape, &y, status));
 *     ScaleJob job = {tensor_f32(x), tensor_f32(y), state->factor};
 *     parallel_work(context->parallel, tensor_num_elements(x), 1, scale_range, &job);
 *     return true;
 *   }
 *
 * A kernel checks its inputs, including their shapes: the shape function only knew what was known when the
 * graph was built. The number and types of inputs match the OpDef. Errors have TensorFlow's code and words;
 * the caller clears outputs that were set before an error.
 */
#ifndef TFCORE_OP_KERNEL_H_
#define TFCORE_OP_KERNEL_H_

#include "base/parallel.h"
#include "op/function_caller.h"
#include "op/rendezvous.h"
#include "op/resource.h"
#include "op/step.h"
#include "proto/proto.h"
#include "tensor/tensor.h"

typedef struct Op Op;

/* What a kernel can use while it is made. */
typedef struct KernelConstruction {
  const NodeDef *node; /* with all defaults filled in */
  const OpDef *op_def;
  const DataType *input_types, *output_types;
  int num_inputs, num_outputs;
  /* NULL, or per input: its value if it is constant in this program, else NULL */
  const Tensor *const *constant_inputs;
  Arena *arena;                    /* lives as long as the kernel */
  const void *data;                /* KernelEntry.data or KernelFunctions.data of the registration */
  const FunctionCaller *functions; /* for kernels that call functions; NULL outside of sessions */
  int64_t *memory_size;            /* 0 at first; the bytes that the kernel wants as KernelContext.memory */
} KernelConstruction;

/* A kernel that calls functions may have to pause in the middle of a call. It then stores its state in
 * context->paused, in its own struct that begins with this one, sets no output, and returns true. It is
 * called again with the same inputs (those that it consumed are empty) until it sets context->paused to NULL.
 * If the step ends earlier, `abandon` is called and frees the struct. */
typedef struct PausedKernel {
  void (*abandon)(struct PausedKernel *paused);
} PausedKernel;

/* What a kernel can use while it runs. Inputs are borrowed; outputs are empty at entry and set by the
 * kernel. */
typedef struct KernelContext {
  void *state;      /* `state_size` bytes, filled by construct */
  const void *data; /* KernelConstruction.data */
  const Tensor *const *inputs;
  Tensor *outputs;
  const DataType *output_types;
  int num_inputs, num_outputs;
  const bool *last_use; /* NULL, or per input: no other kernel reads this value later */
  /* NULL, or memory that the kernel has kept since it last ran for this context, zeroed at first: what it
   * found out about the shapes of its inputs. It owns nothing. */
  void *memory;
  BufferPool *pool;         /* for outputs and temporaries; may be NULL */
  const Parallel *parallel; /* NULL: run on this thread only */
  ResourceManager *resources;
  const FunctionCaller *functions; /* as in KernelConstruction */
  Step *step;               /* the current step; NULL outside of steps, where no functions are called */
  PausedKernel *paused;     /* NULL at first; see PausedKernel */
  DeviceTransfer *transfer; /* for _Send and _Recv; NULL outside of steps */
  /* The caller adds it to error messages; a kernel that stands for several nodes sets it to the one that
   * fails. */
  const char *node_name;
  const char *op_name;
} KernelContext;

/* The id of the step; 0 outside of steps. */
static inline int64_t kernel_step_id(const KernelContext *context) {
  return context->step ? context->step->id : 0;
}

typedef bool (*KernelConstructFn)(const KernelConstruction *construction, void *state, Status *status);
/* Also called after construct failed. The state was zeroed before, so fields that construct did not set are
 * zero. */
typedef void (*KernelDestroyFn)(void *state);
typedef bool (*KernelComputeFn)(KernelContext *context, Status *status);

/* Allocates output `i` with its declared type. */
MUST_CHECK bool kernel_allocate_output(KernelContext *context, int i, const Shape *shape, Tensor **out,
                                       Status *status);
MUST_CHECK bool kernel_allocate_output_dims(KernelContext *context, int i, int rank, const int64_t *dims,
                                            Tensor **out, Status *status);
/* Whether the kernel may overwrite the input: this is its last use, and its buffer is not shared. */
bool kernel_owns_input(const KernelContext *context, int input);
/* Output `i` in the memory of input `input` if the kernel may overwrite it, and dtype size and number of
 * elements agree; otherwise newly allocated. The kernel must then tolerate out->data ==
 * inputs[input]->data. */
bool kernel_may_forward(const KernelContext *context, int input, int i,
                        const Shape *shape); /* whether it would use the input's memory */
MUST_CHECK bool kernel_forward_or_allocate(KernelContext *context, int input, int i, const Shape *shape,
                                           Tensor **out, Status *status);
/* Output `i` shares the buffer of `tensor`, with `shape` if that is not NULL (Identity, Reshape). */
MUST_CHECK bool kernel_set_output(KernelContext *context, int i, const Tensor *tensor, const Shape *shape,
                                  Status *status);
/* The same with the elements of `tensor` from `first` on, which are as many as the sizes say. *shared is
 * false, and the output is not set, where the part is better copied: strings and objects, and a part so small
 * that it would keep alive much more memory than its own. */
MUST_CHECK bool kernel_share_part(KernelContext *context, int i, const Tensor *tensor, int64_t first,
                                  int rank, const int64_t *dims, bool *shared, Status *status);
/* A reference to input `input` for a later reader that may overwrite it if the reference is the only one.
 * When this is the input's last use, it is the run's own reference. */
MUST_CHECK bool kernel_take_input(KernelContext *context, int input, Tensor *to, Status *status);
/* Temporary bytes (64-byte aligned), to be freed with buffer_unref. NULL with status when out of memory. */
Buffer *kernel_scratch(KernelContext *context, int64_t size, Status *status);

/* The construction of a kernel whose code is not loaded yet: its first run begins with it. */
typedef struct LateConstruction {
  KernelConstructFn construct; /* may be NULL */
  const FunctionCaller *functions;
  bool is_done;
} LateConstruction;

/* The kernel of one node. */
typedef struct OpKernel {
  const Op *op;
  const NodeDef *node;
  KernelComputeFn compute;
  KernelDestroyFn destroy;
  void *state;
  int64_t state_size, memory_size; /* of the memory of a context */
  const void *data;
  const DataType *input_types, *output_types;
  int num_inputs, num_outputs;
  bool is_aside;          /* its code may be in PART_SIDE, which is not loaded (op/side_kernels.h) */
  LateConstruction *late; /* of a kernel that is aside, else NULL */
  bool changes_state;     /* it may change a variable or another resource: its loops never end early */
  Arena *arena;
} OpKernel;

/* Makes the kernel of a node, chosen by kernel_registry_select (op/kernel_registry.h), which also gives the
 * errors. In the op's table, that is the entry for the value of the op's first attr of kind `type`, else the
 * entry for any type. `node` is borrowed and must outlive the kernel; missing attrs get their defaults.
 * `functions` may be NULL, else it must outlive the kernel. */
MUST_CHECK bool op_kernel_new(const Op *op, const NodeDef *node, const Tensor *const *constant_inputs,
                              const FunctionCaller *functions, OpKernel **kernel, Status *status);
void op_kernel_free(OpKernel *kernel); /* NULL is fine */
/* Runs the kernel and, unless it paused, checks that every output was set with its declared type. On error it
 * clears the outputs and attaches the node, unless the step has ended (op/step.h). It fills in the fields of
 * the context that the kernel knows (state, data, types and counts, names). */
MUST_CHECK bool op_kernel_run(const OpKernel *kernel, KernelContext *context, Status *status);

/* Computes one stateless node once, on given inputs: for constant folding and shape inference. `outputs` has
 * the node's number of outputs, empty. INVALID_ARGUMENT for a stateful op and for inputs with types other
 * than the node's. */
MUST_CHECK bool op_evaluate(const Op *op, const NodeDef *node, const Tensor *const *inputs, Tensor *outputs,
                            Status *status);

#endif
