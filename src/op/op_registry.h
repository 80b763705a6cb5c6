/* Ops: what an OpRegistration says in the family files under ops/, and the registry that finds an op by name.
 *
 * A family file holds everything about an op in one place:
 *
 *   const OpRegistration kOpRelu = {
 *       .name = "Relu",
 *       .inputs = {"features: T"},
 *       .outputs = {"activations: T"},
 *       .attrs = {"T: realnumbertype"},
 *       .shape = shape_unchanged,
 *       .gradient = "ReluGrad[...](...) -> (...) {...}",
 *       .kernels = {{DT_FLOAT, elementwise_unary, relu_f32}, {DT_DOUBLE, elementwise_unary, relu_f64}},
 *   };
 *
 * Specs are in the language of TensorFlow's REGISTER_OP, verbatim (op/op_def_builder.h). They are parsed when
 * an op is first looked up, so a table of hundreds of ops costs nothing at start-up. Shape functions are
 * explained in op/shape_inference.h, kernels in op/kernel.h, the language of gradients in
 * function/text/function_text.h. The build looks for `const OpRegistration kOpName` at the beginning of lines
 * and makes the table of all ops. Ops are also described at run time (op_registry_register), and kernels
 * registered then (op/kernel_registry.h). */
#ifndef TFCORE_OP_OP_REGISTRY_H_
#define TFCORE_OP_OP_REGISTRY_H_

#include "op/kernel.h"
#include "op/op_class.h"
#include "op/shape_inference.h"
#include "proto/proto.h"

enum { OP_MAX_ARGS = 24, OP_MAX_ATTRS = 32, OP_MAX_KERNELS = 24 };

/* What the gradient is wanted of: a node, and at which of its outputs a gradient arrives (`flows[i]`; NULL:
 * at all). Where none does, the argument is zero and the text need not look at it. */
typedef struct GradientRequest {
  const NodeDef *node;
  const bool *flows;
} GradientRequest;

/* Writes the gradient function of one node as function text (function/text/function_text.h): a complete
 * function whose arguments are the node's inputs followed by one gradient per output, and whose results are
 * one gradient per input.
 * `$T` and the like in it are bound from the node's attrs. For gradients that depend on attr values, input
 * counts, or on where gradients arrive. */
typedef bool (*GradientFn)(const GradientRequest *request, StrBuf *text, Status *status);

/* `.gradient = NO_GRADIENT` says that no gradient flows through the op (integer results, comparisons,
 * state). */
extern const char NO_GRADIENT[];
/* `.gradient = FUNCTIONAL_GRADIENT`: it follows from the gradients of the functions that the op
 * calls (gradient/branch_gradient.c, gradient/loop_gradient.c, gradient/map_gradient.c). */
extern const char FUNCTIONAL_GRADIENT[];

/* A kernel for one element type. Kernels that differ in a constant only, or in an inner loop, share `compute`
 * and differ in `data`: what `compute` finds in its context. */
typedef struct KernelEntry {
  DataType type; /* value of the op's first attr of kind `type`; DT_INVALID: any type, or the op has none */
  KernelComputeFn compute;
  const void *data; /* a constant or a function, as `compute` takes it; may be NULL */
} KernelEntry;

typedef struct OpRegistration {
  const char *name;
  const char *inputs[OP_MAX_ARGS];
  const char *outputs[OP_MAX_ARGS];
  const char *attrs[OP_MAX_ATTRS];
  bool is_stateful, is_commutative, is_aggregate, allows_uninitialized_input, is_distributed_communication;
  int deprecated_version; /* 0: not deprecated */
  const char *deprecation_explanation;
  ShapeFn shape;
  /* what the shape function finds in its context; for functions that come from outside */
  const void *shape_data;
  const char *gradient; /* function text, or NO_GRADIENT; NULL: none is known, or gradient_fn writes it */
  GradientFn gradient_fn;
  int64_t state_size;          /* bytes of kernel state, zeroed before construct */
  KernelConstructFn construct; /* may be NULL */
  KernelDestroyFn destroy;     /* may be NULL */
  KernelEntry kernels[OP_MAX_KERNELS];
} OpRegistration;

/* A registered op: its definition and where it came from. Lives as long as its registry, and does not
 * change. */
typedef struct Op {
  const OpDef *def;
  const OpRegistration
      *registration;    /* never NULL; that of an op described at run time lists no specs and no kernels */
  NodeClass node_class; /* of the nodes that have this op */
} Op;

/* Ops by name. All functions are thread-safe. As TensorFlow's OpRegistry, a registry begins by putting
 * registrations off: factories wait until somebody looks at the ops, and are run at once from then on. Where
 * TensorFlow would end the process because one fails, the registry goes on without it and remembers: the
 * look-up of that name and op_registry_process_registrations report the error until
 * op_registry_clear_deferred.
 *
 * Tables of registrations are known by name from the start and parsed op by op when they are looked up. Only
 * a watcher and op_registry_process_registrations make registrations like others of them.
 */
typedef struct OpRegistry OpRegistry;

/* The registry of the process: what graphs use unless they are told otherwise. Never NULL. */
OpRegistry *op_registry_global(void);
OpRegistry *op_registry_new(void); /* NULL when out of memory */
/* Frees the registry with all its ops; graphs that use it must be gone. NULL is fine. Not for the global one:
 * op_registry_clear. */
void op_registry_free(OpRegistry *registry);
/* Frees all ops, factories and memories of errors, and forgets watcher and validator: the registry is
 * as new. */
void op_registry_clear(OpRegistry *registry);

/* --- registering --- */

/* Adds a table of registrations (sorted by name or not), all of them or none. Specs are not parsed yet; the
 * table must stay alive. Adding the same table again does nothing. */
MUST_CHECK bool op_registry_add_table(OpRegistry *registry, const OpRegistration *const *table, int count,
                                      Status *status);
/* Parses, validates (op_def_validate) and adds one op at once. ALREADY_EXISTS "Op with name Foo". */
MUST_CHECK bool op_registry_add(OpRegistry *registry, const OpRegistration *registration, Status *status);

/* An op described at run time, as a factory fills it in. */
typedef struct OpRegistrationData {
  OpDef *op_def; /* in the factory's arena */
  const char
      *name;     /* for a factory that fails before it has an OpDef: whose look-up reports it; may be NULL */
  ShapeFn shape; /* may be NULL */
  const void *shape_data; /* InferenceContext.shape_data of its runs; lives as long as the registry (in the
                             arena, say) */
  const char *gradient;   /* function text, which is copied; NO_GRADIENT; or NULL */
} OpRegistrationData;

/* Fills in `data`, which was zeroed. What lives in `arena` lives as long as the op. Runs while the registry
 * is locked: it must not call the registry. */
typedef bool (*OpFactory)(void *arg, Arena *arena, OpRegistrationData *data, Status *status);

/* TensorFlow's Register: runs the factory, validates the OpDef and adds the op, now or when the deferred ones
 * are processed. `free_arg` (may be NULL) is called once with `arg` when the factory is not needed any more,
 * also after an error. */
MUST_CHECK bool op_registry_register(OpRegistry *registry, OpFactory factory, void *arg,
                                     void (*free_arg)(void *arg), Status *status);

/* Runs what was deferred, and every later registration at once. Errors wait for who asks for them, see above;
 * every function below that looks at the ops does this first. */
void op_registry_end_deferral(OpRegistry *registry);
/* The same, and parses the tables. The first error of all registrations that failed so far; TensorFlow, in
 * contrast, stops at the first and leaves out those behind it. */
MUST_CHECK bool op_registry_process_registrations(OpRegistry *registry, Status *status);
/* Puts registrations off again, from now on. */
void op_registry_defer_registrations(OpRegistry *registry);
/* Drops what is deferred, and what is remembered of deferred registrations that failed. */
void op_registry_clear_deferred(OpRegistry *registry);

/* Is told of every registration: `outcome` is its status and `op_def` what there is of its definition (NULL
 * when there is none). What it returns, with `status` set, counts as the outcome, so an error may be let pass
 * (the op stays away all the same). Runs while the registry is locked: it must not call the registry. */
typedef bool (*OpWatcher)(void *arg, const Status *outcome, const OpDef *op_def, Status *status);
/* NULL removes the watcher. ALREADY_EXISTS "Cannot over-write a valid watcher with another." */
MUST_CHECK bool op_registry_set_watcher(OpRegistry *registry, OpWatcher watcher, void *arg, Status *status);

/* Runs in the first look-up that finds registrations deferred, after they were processed; it may use
 * the registry. Its error is that of the look-up, and op_registry_process_registrations reports it from
 * then on. */
typedef bool (*OpValidator)(void *arg, OpRegistry *registry, Status *status);
void op_registry_set_validator(OpRegistry *registry, OpValidator validator, void *arg); /* NULL removes it */

/* --- looking --- */

/* NOT_FOUND "Op type not registered 'X' in binary running on ...", or what was wrong with its
 * registration. */
MUST_CHECK bool op_registry_look_up(OpRegistry *registry, const char *name, const Op **op, Status *status);
/* NULL when there is no such op; no message is made. */
const Op *op_registry_find(OpRegistry *registry, const char *name);
/* All OpDefs sorted by name, names starting with '_' only if include_internal; the list in `arena`, OpDefs
 * borrowed. */
MUST_CHECK bool op_registry_export(OpRegistry *registry, bool include_internal, Arena *arena, OpList **list,
                                   Status *status);
/* All OpDefs in the order of registration. */
MUST_CHECK bool op_registry_registered_ops(OpRegistry *registry, Arena *arena, OpList **list, Status *status);
/* TensorFlow's DebugString: the exported ops, op_def_summarize and a line feed each. */
MUST_CHECK bool op_registry_print(OpRegistry *registry, bool include_internal, StrBuf *out, Status *status);
/* Names in the order of registration, for walks over the registry. */
int op_registry_count(OpRegistry *registry);
const char *op_registry_name(OpRegistry *registry, int i);

/* True when the op has a kernel for the dtype (DT_INVALID: for any), be it in its table or registered at run
 * time (op/kernel_registry.h, where this is defined). */
bool op_has_kernel(const Op *op, DataType type);

#endif
