/* Kernels: how an op computes. A kernel is made once per node of a program (attrs are read and constants
 * packed then) and runs many times; running it does no string work and, with unchanged shapes, no allocation.
 *
 *   static bool scale(KernelContext *context, Status *status) {
 *     const ScaleState *state = context->state;  what .construct read from the node's attrs
 *     const Tensor *x = context->inputs[0];
 *     if (x->shape.rank < 1) return status_invalid(status, "x must be at least a vector");
 *     Tensor *y;
 *     TRY(kernel_forward_or_allocate(context, 0, 0, &x->shape, &y, status));
 *     ScaleJob job = {tensor_f32(x), tensor_f32(y), state->factor};
 *     parallel_work(context->parallel, tensor_num_elements(x), 1, scale_range, &job);
 *     return true;
 *   }
 *
 * A kernel checks what it is given, shapes too: a shape function saw what was known when the graph was built.
 * Number and types of inputs are as the OpDef says. An error is TensorFlow's code and wording; outputs that
 * were set are cleared by the caller. */
#ifndef TFCORE_OP_KERNEL_H_
#define TFCORE_OP_KERNEL_H_

#include "base/parallel.h"
#include "op/function_caller.h"
#include "op/resource.h"
#include "op/step.h"
#include "proto/proto.h"
#include "tensor/tensor.h"

typedef struct Op Op;

/* What a kernel may look at while it is made. */
typedef struct KernelConstruction {
  const NodeDef *node; /* complete: defaults are filled in */
  const OpDef *op_def;
  const DataType *input_types, *output_types;
  int num_inputs, num_outputs;
  /* NULL, or per input the value when it is constant in this program, else NULL */
  const Tensor *const *constant_inputs;
  Arena *arena;     /* lives as long as the kernel */
  const void *data; /* what the kernel was registered with: KernelEntry.data, KernelFunctions.data */
  const FunctionCaller *functions; /* for kernels that call functions; NULL outside of sessions */
} KernelConstruction;

/* A kernel that calls functions may have to pause in the middle of a call, when the step gives way to others.
 * It then leaves what it needs to go on in context->paused, in a struct of its own that begins with this one,
 * sets no output, and returns true. It is called again with the same inputs (those that it took are empty)
 * until it leaves NULL there. A step that ends before that calls `abandon`, which frees the struct. */
typedef struct PausedKernel {
  void (*abandon)(struct PausedKernel *paused);
} PausedKernel;

/* What a kernel sees while it runs. Inputs are borrowed; outputs are empty at entry and set by the kernel. */
typedef struct KernelContext {
  void *state;      /* of `state_size` bytes, filled by construct */
  const void *data; /* KernelConstruction.data */
  const Tensor *const *inputs;
  Tensor *outputs;
  const DataType *output_types;
  int num_inputs, num_outputs;
  const bool *last_use;     /* NULL, or per input: nobody reads this value after this kernel */
  BufferPool *pool;         /* for outputs and temporaries; may be NULL */
  const Parallel *parallel; /* NULL: run on this thread alone */
  ResourceManager *resources;
  const FunctionCaller *functions; /* the one that was there while the kernel was made */
  Step *step;            /* the one it runs in; NULL outside of steps, where no functions are called */
  PausedKernel *paused;  /* NULL at first; see PausedKernel */
  const char *node_name; /* the caller adds it to error messages itself */
  const char *op_name;
} KernelContext;

/* The number of the step; 0 outside of steps. */
static inline int64_t kernel_step_id(const KernelContext *context) {
  return context->step ? context->step->id : 0;
}

typedef bool (*KernelConstructFn)(const KernelConstruction *construction, void *state, Status *status);
/* Also called when construct failed: the state was zeroed before, so what construct did not reach is zero. */
typedef void (*KernelDestroyFn)(void *state);
typedef bool (*KernelComputeFn)(KernelContext *context, Status *status);

/* Output `i` as a new tensor of its declared type. */
MUST_CHECK bool kernel_allocate_output(KernelContext *context, int i, const Shape *shape, Tensor **out,
                                       Status *status);
MUST_CHECK bool kernel_allocate_output_dims(KernelContext *context, int i, int rank, const int64_t *dims,
                                            Tensor **out, Status *status);
/* Whether nobody else will see what the kernel does to the elements of the input: this is its last use, and
 * its buffer is not shared. */
bool kernel_owns_input(const KernelContext *context, int input);
/* Output `i` in the memory of input `input` when that is its last use, nobody shares the buffer, and dtype
 * size and number of elements agree; otherwise newly allocated. The kernel must then tolerate out->data ==
 * inputs[input]->data. */
bool kernel_may_forward(const KernelContext *context, int input, int i,
                        const Shape *shape); /* whether it would */
MUST_CHECK bool kernel_forward_or_allocate(KernelContext *context, int input, int i, const Shape *shape,
                                           Tensor **out, Status *status);
/* Output `i` shares the buffer of `tensor`, under `shape` when that is not NULL (Identity, Reshape). */
MUST_CHECK bool kernel_set_output(KernelContext *context, int i, const Tensor *tensor, const Shape *shape,
                                  Status *status);
/* A reference to input `input` for somebody who may overwrite it when nobody else has one: the run's own when
 * this is the input's last use. */
MUST_CHECK bool kernel_take_input(KernelContext *context, int input, Tensor *to, Status *status);
/* Temporary bytes (64-byte aligned) that last until buffer_unref. NULL with status when out of memory. */
Buffer *kernel_scratch(KernelContext *context, int64_t size, Status *status);

/* A kernel made for one node. */
typedef struct OpKernel {
  const Op *op;
  const NodeDef *node;
  KernelComputeFn compute;
  KernelDestroyFn destroy;
  void *state;
  const void *data;
  const DataType *input_types, *output_types;
  int num_inputs, num_outputs;
  Arena *arena;
} OpKernel;

/* Makes the kernel of a node: the one that kernel_registry_select (op/kernel_registry.h) chooses, which gives
 * the errors too. Of the op's table that is the entry for the value of its first attr of kind `type`, else
 * the one for any type. `node` is borrowed and must outlive the kernel; attrs that it lacks get their
 * defaults. `functions` may be NULL, else it outlives the kernel. */
MUST_CHECK bool op_kernel_new(const Op *op, const NodeDef *node, const Tensor *const *constant_inputs,
                              const FunctionCaller *functions, OpKernel **kernel, Status *status);
void op_kernel_free(OpKernel *kernel); /* NULL is fine */
/* Runs; checks, unless the kernel paused, that every output was set with its declared type; on error attaches
 * the node and clears the outputs. What the kernel itself knows (state, data, types and counts, names) is
 * put into the context here. */
MUST_CHECK bool op_kernel_run(const OpKernel *kernel, KernelContext *context, Status *status);

/* Computes one stateless node on given inputs, once: constant folding and shape inference use it. `outputs`
 * has the node's number of outputs, empty. INVALID_ARGUMENT for a stateful op and for inputs of other types
 * than the node's. */
MUST_CHECK bool op_evaluate(const Op *op, const NodeDef *node, const Tensor *const *inputs, Tensor *outputs,
                            Status *status);

#endif
