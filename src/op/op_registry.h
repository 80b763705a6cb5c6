/* Ops: what REGISTER_OP says in the family files under ops/, and the registry that finds an op by name.
 *
 * A family file holds everything about an op in one place:
 *
 *   REGISTER_OP(Relu,
 *     .inputs = {"features: T"}, .outputs = {"activations: T"}, .attrs = {"T: realnumbertype"},
 *     .shape = shape_unchanged, .gradient = "ReluGrad[...](...) -> (...) {...}",
 *     .kernels = {{DT_FLOAT, relu_f32}, {DT_DOUBLE, relu_f64}})
 *
 * Specs are TensorFlow's REGISTER_OP language, verbatim (op/op_def_builder.h). They are parsed when an op is first looked up,
 * so a table of hundreds of ops costs nothing at start-up.
 */
#ifndef TFCORE_OP_OP_REGISTRY_H_
#define TFCORE_OP_OP_REGISTRY_H_

#include "op/kernel.h"
#include "op/shape_inference.h"
#include "proto/proto.h"

enum { OP_MAX_ARGS = 24, OP_MAX_ATTRS = 32, OP_MAX_KERNELS = 24 };

/* What the gradient is wanted of: a node, and at which of its outputs a gradient arrives (`flows[i]`; NULL: at all). Where none
 * does, the argument is zero and the text need not look at it. */
typedef struct GradientRequest {
  const NodeDef *node;
  const bool *flows;
} GradientRequest;

/* Writes the gradient function of one node as function text (function/function_text.h): a complete function whose
 * arguments are the node's inputs followed by one gradient per output, and whose results are one gradient per input.
 * `$T` and the like in it are bound from the node's attrs. For gradients that depend on attr values, input counts, or on where
 * gradients arrive. */
typedef bool (*GradientFn)(const GradientRequest *request, StrBuf *text, Status *status);

/* `.gradient = NO_GRADIENT` says that no gradient flows through the op (integer results, comparisons, state). */
extern const char NO_GRADIENT[];

/* A kernel for one element type. */
typedef struct KernelEntry {
  DataType type; /* value of the op's first attr of kind `type`; DT_INVALID: any type, or the op has none */
  KernelComputeFn compute;
} KernelEntry;

typedef struct OpRegistration {
  const char *name;
  const char *inputs[OP_MAX_ARGS];
  const char *outputs[OP_MAX_ARGS];
  const char *attrs[OP_MAX_ATTRS];
  bool is_stateful, is_commutative, is_aggregate, allows_uninitialized_input;
  int deprecated_version; /* 0: not deprecated */
  const char *deprecation_explanation;
  ShapeFn shape;
  const char *gradient;     /* function text, or NO_GRADIENT; NULL: none is known, or gradient_fn writes it */
  GradientFn gradient_fn;
  int64_t state_size;       /* bytes of kernel state, zeroed before construct */
  KernelConstructFn construct; /* may be NULL */
  KernelDestroyFn destroy;     /* may be NULL */
  KernelEntry kernels[OP_MAX_KERNELS];
} OpRegistration;

#define REGISTER_OP(Name, ...) const OpRegistration kOp##Name = {.name = #Name, __VA_ARGS__};

/* A registered op: its parsed definition and where it came from. Lives until the process ends. */
typedef struct Op {
  const OpDef *def;
  const OpRegistration *registration; /* never NULL */
} Op;

/* The process-wide registry; all functions are thread-safe. */

/* Adds a table of registrations (sorted by name or not). Specs are not parsed yet; the table must stay alive. Adding the same table again does nothing. */
MUST_CHECK bool op_registry_add_table(const OpRegistration *const *table, int count, Status *status);
/* Parses, validates (op_def_validate) and adds one op at once. ALREADY_EXISTS "Op with name Foo". */
MUST_CHECK bool op_registry_add(const OpRegistration *registration, Status *status);
/* NOT_FOUND "Op type not registered 'X' in binary running on ...", INVALID_ARGUMENT when its spec is wrong. */
MUST_CHECK bool op_registry_look_up(const char *name, const Op **op, Status *status);
/* NULL when there is no such op; no message is made. */
const Op *op_registry_find(const char *name);
/* All OpDefs sorted by name, names starting with '_' only if include_internal; the list in `arena`, OpDefs borrowed. */
MUST_CHECK bool op_registry_export(bool include_internal, Arena *arena, OpList **list, Status *status);
/* Names in table order, for walks over the registry. */
int op_registry_count(void);
const char *op_registry_name(int i);
/* Frees everything; the registry is empty again. For tests and leak checks. */
void op_registry_clear(void);

/* True when the op has a kernel for the dtype (DT_INVALID: for any). */
bool op_has_kernel(const Op *op, DataType type);

#endif
