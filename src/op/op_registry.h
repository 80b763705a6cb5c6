/* Ops: the OpRegistrations in the family files under ops/, and the registry that finds an op by name.
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
 * Specs are in the language of TensorFlow's REGISTER_OP (op/op_def_builder.h). They are parsed when an op is
 * first looked up, so a table of hundreds of ops costs nothing at start-up. op/shape_inference.h explains
 * shape functions, op/kernel.h kernels, and function/text/function_text.h the language of gradients. The
 * build finds `const OpRegistration kOpName` at the beginning of lines and generates the table of all ops.
 * Ops and kernels can also be registered at run time (op_registry_register, op/kernel_registry.h).
 */
#ifndef TFCORE_OP_OP_REGISTRY_H_
#define TFCORE_OP_OP_REGISTRY_H_

#include "op/engine_parts.h"
#include "op/kernel.h"
#include "op/op_class.h"
#include "op/shape_inference.h"
#include "proto/proto.h"

enum { OP_MAX_ARGS = 24, OP_MAX_ATTRS = 32, OP_MAX_KERNELS = 24 };

/* The request for a gradient: a node, and the outputs at which a gradient arrives (`flows[i]`; NULL: at all).
 * At the other outputs the gradient argument is zero, and the text may ignore it. */
typedef struct GradientRequest {
  const NodeDef *node;
  const bool *flows;
} GradientRequest;

/* Writes the gradient function of one node as function text (function/text/function_text.h): a complete
 * function whose arguments are the node's inputs followed by one gradient per output, and whose results are
 * one gradient per input. Placeholders such as `$T` are bound to the node's attrs. Used when the text depends
 * on attr values, input counts, or the outputs at which gradients arrive. */
typedef bool (*GradientFn)(const GradientRequest *request, StrBuf *text, Status *status);

/* `.gradient = NO_GRADIENT`: no gradient flows through the op (integer results, comparisons, state). */
extern const char NO_GRADIENT[];
/* `.gradient = FUNCTIONAL_GRADIENT`: it is derived from the gradients of the functions that the op calls
 * (gradient/branch_gradient.c, gradient/loop_gradient.c, gradient/map_gradient.c). */
extern const char FUNCTIONAL_GRADIENT[];

/* A kernel for one element type. Kernels that differ only in a constant or an inner loop share `compute` and
 * differ in `data`, which `compute` finds in its context. */
typedef struct KernelEntry {
  DataType type; /* value of the op's first attr of kind `type`; DT_INVALID: any type, or no such attr */
  KernelComputeFn compute;
  const void *data; /* a constant or a function, as `compute` expects it; may be NULL */
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
  /* InferenceContext.shape_data; for ops registered at run time */
  const void *shape_data;
  const char *gradient; /* function text, or NO_GRADIENT; NULL: none, or gradient_fn writes it */
  GradientFn gradient_fn;
  int64_t state_size;          /* bytes of kernel state, zeroed before construct */
  KernelConstructFn construct; /* may be NULL */
  KernelDestroyFn destroy;     /* may be NULL */
  KernelEntry kernels[OP_MAX_KERNELS];
} OpRegistration;

/* A row of a table of ops. */
typedef struct OpTableRow {
  const char *name; /* that of the registration, which may be in a part that is not loaded */
  const OpRegistration *registration;
  EnginePart part;
  bool integers_aside; /* the kernels for int32, int64 and bool are in PART_SIDE */
} OpTableRow;

/* A registered op: its definition and its registration. Immutable, and lives as long as its registry. */
typedef struct Op {
  const OpDef *def;
  const OpRegistration
      *registration;    /* never NULL; for an op described at run time, without specs and kernels */
  NodeClass node_class; /* the class of the nodes with this op */
  bool integers_aside;  /* as in OpTableRow */
} Op;

/* Ops by name. All functions are thread-safe. Like TensorFlow's OpRegistry, a new registry defers
 * registrations: factories wait until an op is looked up, and from then on run at once. Where TensorFlow
 * would abort because one fails, the registry continues without that op and remembers the error: the look-up
 * of that name and op_registry_process_registrations report it until op_registry_clear_deferred.
 *
 * Ops of tables are known by name from the start and parsed one by one when they are looked up. They count as
 * registrations only for a watcher and for op_registry_process_registrations.
 */
typedef struct OpRegistry OpRegistry;

/* The registry of the process, the default for graphs. Never NULL. */
OpRegistry *op_registry_global(void);
OpRegistry *op_registry_new(void); /* NULL when out of memory */
/* Frees the registry with all its ops; graphs that use it must have been freed. NULL is fine. For the global
 * registry use op_registry_clear. */
void op_registry_free(OpRegistry *registry);
/* Frees all ops, factories and remembered errors, and removes watcher and validator, so that the registry is
 * like new. */
void op_registry_clear(OpRegistry *registry);

/* --- registering --- */

/* Adds all registrations of a table (in any order), or none. Specs are not parsed yet, and parts that are
 * missing are not loaded; the table must stay alive. Adding the same table again does nothing. */
MUST_CHECK bool op_registry_add_table(OpRegistry *registry, const OpTableRow *table, int count,
                                      Status *status);
/* Parses, validates (op_def_validate) and adds one op immediately. ALREADY_EXISTS "Op with name Foo". */
MUST_CHECK bool op_registry_add(OpRegistry *registry, const OpRegistration *registration, Status *status);

/* An op described at run time; a factory fills it in. */
typedef struct OpRegistrationData {
  OpDef *op_def;    /* allocated in the factory's arena */
  const char *name; /* for a factory that fails before it has an OpDef: the look-up of this name reports the
                     * error; may be NULL */
  ShapeFn shape;    /* may be NULL */
  const void *shape_data; /* InferenceContext.shape_data; must live as long as the registry, for example in
                           * the arena */
  const char *gradient;   /* function text, which is copied; or NO_GRADIENT; or NULL */
} OpRegistrationData;

/* Fills in `data`, which was zeroed. `arena` lives as long as the op. The registry is locked meanwhile, so
 * the factory must not call it. */
typedef bool (*OpFactory)(void *arg, Arena *arena, OpRegistrationData *data, Status *status);

/* TensorFlow's Register: runs the factory, validates the OpDef and adds the op, immediately or when deferred
 * registrations are processed. `free_arg` (may be NULL) is called once with `arg` when the factory is not
 * needed any more, also after an error. */
MUST_CHECK bool op_registry_register(OpRegistry *registry, OpFactory factory, void *arg,
                                     void (*free_arg)(void *arg), Status *status);

/* Runs deferred registrations, and from now on every registration immediately. Errors are reported as
 * described at OpRegistry. Every function below that looks at ops does this first. */
void op_registry_end_deferral(OpRegistry *registry);
/* The same, and parses the tables. Returns the first error of all failed registrations; TensorFlow instead
 * stops at the first one and omits those after it. */
MUST_CHECK bool op_registry_process_registrations(OpRegistry *registry, Status *status);
/* Defers registrations again, from now on. */
void op_registry_defer_registrations(OpRegistry *registry);
/* Drops deferred registrations, and the remembered errors of failed ones. */
void op_registry_clear_deferred(OpRegistry *registry);

/* Called for every registration: `outcome` is its status and `op_def` its definition as far as it exists (may
 * be NULL). Its result, with `status`, becomes the outcome, so it can ignore an error (the op is still not
 * added). The registry is locked meanwhile: the watcher must not call it. */
typedef bool (*OpWatcher)(void *arg, const Status *outcome, const OpDef *op_def, Status *status);
/* NULL removes the watcher. ALREADY_EXISTS "Cannot over-write a valid watcher with another." */
MUST_CHECK bool op_registry_set_watcher(OpRegistry *registry, OpWatcher watcher, void *arg, Status *status);

/* Called by the first look-up that finds deferred registrations, after they were processed; it may use the
 * registry. Its error becomes the look-up's error, and op_registry_process_registrations reports it from then
 * on. */
typedef bool (*OpValidator)(void *arg, OpRegistry *registry, Status *status);
void op_registry_set_validator(OpRegistry *registry, OpValidator validator, void *arg); /* NULL removes it */

/* --- lookup --- */

/* NOT_FOUND "Op type not registered 'X' in binary running on ...", or the error of its registration. Looking
 * at an op loads the part that it is in: UNAVAILABLE if that fails. */
MUST_CHECK bool op_registry_look_up(OpRegistry *registry, const char *name, const Op **op, Status *status);
/* NULL if there is no such op, without a message. */
const Op *op_registry_find(OpRegistry *registry, const char *name);
/* All OpDefs sorted by name, names starting with '_' only if include_internal; the list is in `arena`, the
 * OpDefs are borrowed. */
MUST_CHECK bool op_registry_export(OpRegistry *registry, bool include_internal, Arena *arena, OpList **list,
                                   Status *status);
/* All OpDefs in order of registration. */
MUST_CHECK bool op_registry_registered_ops(OpRegistry *registry, Arena *arena, OpList **list, Status *status);
/* TensorFlow's DebugString: op_def_summarize and a newline for each exported op. */
MUST_CHECK bool op_registry_print(OpRegistry *registry, bool include_internal, StrBuf *out, Status *status);
/* The part of the engine that an op is in, which need not be there. False if no such op is registered. */
bool op_registry_find_part(OpRegistry *registry, Str name, EnginePart *part);
/* Names in order of registration, for iterating over the registry. */
int op_registry_count(OpRegistry *registry);
const char *op_registry_name(OpRegistry *registry, int i);

/* Whether the op has a kernel for the dtype (DT_INVALID: for any), in its table or registered at run time
 * (defined in op/kernel_registry.c). */
bool op_has_kernel(const Op *op, DataType type);
/* Whether the kernel that is registered for the type (DT_INVALID: for any) is in PART_SIDE, and that is not
 * loaded. */
bool op_kernel_missing(const Op *op, DataType type);

#endif
