/* Builds OpDefs from the spec language of OpRegistrations, and checks them.
 *
 *   attr    "T: {float, int32} = DT_FLOAT"   "N: int >= 1"   "shape: shape"   "Tin: list(type) >= 0"
 *   arg     "x: T"   "values: N * T"   "args: Tin"   "ref: Ref(T)"   "handle: resource"
 */
#ifndef TFCORE_OP_OP_DEF_BUILDER_H_
#define TFCORE_OP_OP_DEF_BUILDER_H_

#include "op/shape_inference.h"
#include "proto/proto.h"
#include "tensor/dtype.h"

typedef struct OpDefSpec {
  const char *name;
  const char *const *inputs, *const *outputs,
                                 *const *attrs, *const *control_outputs; /* each ends with NULL, or is NULL */
  const char *doc;                                                       /* may be NULL */
  bool is_stateful, is_commutative, is_aggregate, allows_uninitialized_input, is_distributed_communication;
  int deprecated_version; /* if 0 and without an explanation: not deprecated */
  const char *deprecation_explanation;
  bool allow_attr_type_any; /* "any" is an attr type: only for functions */
} OpDefSpec;

/* Builds the OpDef in `arena`. Collects the errors of all specs, one per line, INVALID_ARGUMENT. */
MUST_CHECK bool op_def_build(const OpDefSpec *spec, Arena *arena, OpDef **op_def, Status *status);
/* Appends a single attr or arg spec to an OpDef under construction (function signatures use the same
 * language). */
MUST_CHECK bool op_def_parse_attr(const char *spec, bool allow_any, OpDef *op_def, Arena *arena,
                                  Status *status);
MUST_CHECK bool op_def_parse_arg(const char *spec, bool is_output, OpDef *op_def, Arena *arena,
                                 Status *status);

/* The same, one spec at a time, for ops that are described at run time. Texts are copied; everything is
 * allocated in `arena`. Errors are reported by finalize, which may be called once. */
typedef struct OpDefBuilder OpDefBuilder;
OpDefBuilder *op_def_builder_new(Arena *arena, const char *name); /* NULL when out of memory */
void op_def_builder_attr(OpDefBuilder *builder, const char *spec);
void op_def_builder_input(OpDefBuilder *builder, const char *spec);
void op_def_builder_output(OpDefBuilder *builder, const char *spec);
void op_def_builder_control_output(OpDefBuilder *builder, const char *spec);
/* Each of these three may be called once. */
void op_def_builder_doc(OpDefBuilder *builder, const char *text);
void op_def_builder_deprecated(OpDefBuilder *builder, int version, const char *explanation);
void op_def_builder_shape(OpDefBuilder *builder, ShapeFn shape);
void op_def_builder_is_stateful(OpDefBuilder *builder);
void op_def_builder_is_commutative(OpDefBuilder *builder);
void op_def_builder_is_aggregate(OpDefBuilder *builder);
void op_def_builder_allows_uninitialized_input(OpDefBuilder *builder);
void op_def_builder_allow_attr_type_any(OpDefBuilder *builder);
/* `shape` (may be NULL) receives the shape function, NULL when none was given. */
MUST_CHECK bool op_def_builder_finalize(OpDefBuilder *builder, OpDef **op_def, ShapeFn *shape,
                                        Status *status);

/* TensorFlow's ValidateOpDef: names, duplicates, types, minima, defaults. */
MUST_CHECK bool op_def_validate(const OpDef *op_def, Status *status);
/* UNIMPLEMENTED "Op X is not available in GraphDef version V. It has been removed in version D. ..." */
MUST_CHECK bool op_def_check_deprecation(const OpDef *op_def, int graph_def_version, Status *status);
/* A value against an attr's type, minimum and allowed values: TensorFlow's ValidateAttrValue. */
MUST_CHECK bool attr_value_validate(const AttrValue *value, const AttrDef *attr, Status *status);
/* Whether a value has an attr type: "int", "list(type)", ... INVALID_ARGUMENT "AttrValue had value with type
 * 'int' when 'string' expected". An empty list and an unset value have every list type. */
MUST_CHECK bool attr_value_has_type(const AttrValue *value, const char *type, Status *status);
/* "Op<name=N; signature=a:int32 -> y:T; attr=T:type,default=DT_FLOAT>" */
void op_def_summarize(const OpDef *op_def, StrBuf *out);

/* NULL if there is no attr of that name. */
const AttrDef *op_def_attr(const OpDef *op_def, const char *name);

/* TensorFlow's equality of the ops of a function library: default and allowed values are compared by meaning,
 * attrs in any order. */
bool attr_def_equal(const AttrDef *a, const AttrDef *b);
bool attr_defs_equal(AttrDef *const *a, size_t num_a, AttrDef *const *b, size_t num_b);
bool op_def_equal(const OpDef *a, const OpDef *b);

/* --- versions of an op (op_compatibility.c); all errors are INVALID_ARGUMENT in TensorFlow's words --- */

/* TensorFlow's OpDefCompatible: whether every node of `old_op` is also a valid node of `new_op`. Attrs may be
 * added with a default, may allow more values and may have a lower minimum. Args may be generalised by attrs
 * whose defaults give the old types. Inputs may be renamed, and need no longer be references; outputs may
 * become references. "Incompatible Op change: Attr 'n' removed; old: Op<...>; new: Op<...>" */
MUST_CHECK bool op_def_compatible(const OpDef *old_op, const OpDef *new_op, Status *status);
/* The part of op_def_compatible about an attr of both versions. */
MUST_CHECK bool attr_def_compatible(const AttrDef *from, const AttrDef *to, Status *status);
/* Whether the attrs that `penultimate_op` added to `old_op` have the same defaults in `new_op`: nodes of old
 * graphs were written without them. */
MUST_CHECK bool op_def_added_defaults_unchanged(const OpDef *old_op, const OpDef *penultimate_op,
                                                const OpDef *new_op, Status *status);
/* Whether an attr of both versions kept its default, or its lack of one, so that a graph without the attr
 * means the same: "Attr 'n' has added/removed it's default; from no default to "x"". */
MUST_CHECK bool op_def_defaults_unchanged(const OpDef *old_op, const OpDef *new_op, Status *status);

/* Clears descriptions and the summary; the second also clears the explanation of a deprecation. */
void op_def_remove_non_deprecation_descriptions(OpDef *op_def);
void op_def_remove_descriptions(OpDef *op_def);

#endif
