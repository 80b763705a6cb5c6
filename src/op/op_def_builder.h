/* From the spec language of REGISTER_OP to an OpDef, and the checks that every OpDef must pass.
 *
 *   attr    "T: {float, int32} = DT_FLOAT"   "N: int >= 1"   "shape: shape"   "Tin: list(type) >= 0"
 *   arg     "x: T"   "values: N * T"   "args: Tin"   "ref: Ref(T)"   "handle: resource"
 */
#ifndef TFCORE_OP_OP_DEF_BUILDER_H_
#define TFCORE_OP_OP_DEF_BUILDER_H_

#include "proto/proto.h"
#include "tensor/dtype.h"

typedef struct OpDefSpec {
  const char *name;
  const char *const *inputs, *const *outputs, *const *attrs, *const *control_outputs; /* each ends with NULL; or NULL */
  const char *doc; /* may be NULL */
  bool is_stateful, is_commutative, is_aggregate, allows_uninitialized_input;
  int deprecated_version;
  const char *deprecation_explanation;
  bool allow_attr_type_any; /* "any" as an attr type: only for functions */
} OpDefSpec;

/* Builds the OpDef in `arena`. All errors of all specs are collected, one a line, INVALID_ARGUMENT. */
MUST_CHECK bool op_def_build(const OpDefSpec *spec, Arena *arena, OpDef **op_def, Status *status);
/* One attr or arg spec alone, onto an OpDef under construction (function signatures are written in the same language). */
MUST_CHECK bool op_def_parse_attr(const char *spec, bool allow_any, OpDef *op_def, Arena *arena, Status *status);
MUST_CHECK bool op_def_parse_arg(const char *spec, bool is_output, OpDef *op_def, Arena *arena, Status *status);

/* TensorFlow's ValidateOpDef: names, duplicates, types, minima, defaults. */
MUST_CHECK bool op_def_validate(const OpDef *op_def, Status *status);
/* UNIMPLEMENTED "Op X is not available in GraphDef version V. It has been removed in version D. ..." */
MUST_CHECK bool op_def_check_deprecation(const OpDef *op_def, int graph_def_version, Status *status);
/* A value against an attr's type, minimum and allowed values: TensorFlow's ValidateAttrValue. */
MUST_CHECK bool attr_value_validate(const AttrValue *value, const AttrDef *attr, Status *status);
/* "Op<name=N; signature=a:int32 -> y:T; attr=T:type,default=DT_FLOAT>" */
void op_def_summarize(const OpDef *op_def, StrBuf *out);

/* NULL when there is no attr of that name. */
const AttrDef *op_def_attr(const OpDef *op_def, const char *name);

#endif
