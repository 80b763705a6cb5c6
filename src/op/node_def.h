/* NodeDefs: reading attrs, the types of a node's inputs and outputs, validation, printing, and the builder
 * that infers attrs from inputs. */
#ifndef TFCORE_OP_NODE_DEF_H_
#define TFCORE_OP_NODE_DEF_H_

#include "proto/proto.h"
#include "tensor/tensor.h"

/* --- typed attrs (node_attrs.c) ---
 * NOT_FOUND "No attr named 'x' in NodeDef:" and INVALID_ARGUMENT "AttrValue had value with type 'int' when
 * 'string' expected", both with the node attached. Results are borrowed from the node. */
MUST_CHECK bool node_attr(const NodeDef *node, const char *name, const AttrValue **value, Status *status);
MUST_CHECK bool node_attr_string(const NodeDef *node, const char *name, Str *value, Status *status);
MUST_CHECK bool node_attr_int(const NodeDef *node, const char *name, int64_t *value, Status *status);
MUST_CHECK bool node_attr_int32(const NodeDef *node, const char *name, int32_t *value, Status *status);
MUST_CHECK bool node_attr_float(const NodeDef *node, const char *name, float *value, Status *status);
MUST_CHECK bool node_attr_bool(const NodeDef *node, const char *name, bool *value, Status *status);
MUST_CHECK bool node_attr_type(const NodeDef *node, const char *name, DataType *value, Status *status);
MUST_CHECK bool node_attr_shape(const NodeDef *node, const char *name, const TensorShapeProto **value,
                                Status *status);
MUST_CHECK bool node_attr_tensor(const NodeDef *node, const char *name, const TensorProto **value,
                                 Status *status);
MUST_CHECK bool node_attr_func(const NodeDef *node, const char *name, const NameAttrList **value,
                               Status *status);
/* The list value of an attr of type `list(kind)`; an empty list or an unset value is valid for every kind
 * (*value may then be NULL). */
MUST_CHECK bool node_attr_list(const NodeDef *node, const char *name, AttrKind kind,
                               const AttrListValue **value, Status *status);

/* Whether the node has the attr, and it is true. */
static inline bool node_def_is_true(const NodeDef *node, const char *name) {
  const AttrValue *value = node_def_attr(node, name);
  return value && value->value_case == (int)ATTR_BOOL && value->b;
}

/* --- types (node_types.c) --- */

/* The dtypes (references as dtype + 100) of a node's inputs and outputs, arrays in `arena`. Only reads the
 * attrs. */
MUST_CHECK bool node_def_types(const NodeDef *node, const OpDef *op_def, Arena *arena, DataType **input_types,
                               int *num_inputs, DataType **output_types, int *num_outputs, Status *status);
/* The number of data inputs alone, without allocating. */
MUST_CHECK bool node_def_num_inputs(const NodeDef *node, const OpDef *op_def, int *num_inputs,
                                    Status *status);
/* The position of each input_arg (or output_arg) in the flat list: starts[i]..starts[i+1]; an array of n_args
 * + 1 entries in `arena`. Of the attrs it reads only numbers and lists of types. */
MUST_CHECK bool node_def_arg_ranges(const NodeDef *node, const OpDef *op_def, bool outputs, Arena *arena,
                                    int **starts, Status *status);

/* --- names (node_names.c) --- */

bool node_name_is_valid(const char *name);          /* [A-Za-z0-9.][A-Za-z0-9_.\-/]*, with '>' segments */
bool node_name_is_valid_internal(const char *name); /* may also start with '_' */
/* Parses "n", "n:2", "^n": name borrowed from `input`, index 0 when absent and -1 for a control input. False
 * when malformed. */
bool node_parse_input(const char *input, Str *name, int *index);

/* Checks a NodeDef from outside: name, inputs ("a", "a:1", "^c"), control inputs last. "Illegal op name
 * '_n'", "Illegal op input name 'a:b'". */
MUST_CHECK bool node_def_validate_syntax(const NodeDef *node, Status *status);

/* --- renaming (node_renaming.c) --- */

/* Adds prefix and suffix to the node's name, and to the frame name of an Enter. */
MUST_CHECK bool node_def_add_prefix_and_suffix(NodeDef *node, Arena *arena, const char *prefix,
                                               const char *suffix, Status *status);
/* Returns the new name of a node, or NULL when it keeps its name. */
typedef const char *(*NodeRenameFn)(void *arg, Str name);
/* Renames the nodes in "loc:@name" entries of attr _class. Makes a new value, because the old one may be
 * shared. */
MUST_CHECK bool node_def_rename_colocation(NodeDef *node, Arena *arena, NodeRenameFn rename, void *arg,
                                           Status *status);

/* --- validation and defaults (node_validate.c) --- */

/* TensorFlow's ValidateNodeDef, except that attrs unknown to the op are only logged, as below, so that graphs
 * of newer producers load. */
MUST_CHECK bool node_def_validate(const NodeDef *node, const OpDef *op_def, Status *status);
/* Logs attrs that the op does not declare; they stay in the node and have no effect. Each is logged once per
 * process and op (base/log.h), up to a thousand of them. Names that begin with '_' are free for any use. The
 * node must have the op's attrs. */
void node_def_note_unknown_attrs(const NodeDef *node, const OpDef *op_def);
/* Adds missing attrs that have a default, and TArgs to a _FusedConv2D of an older producer. Values are shared
 * with the OpDef. */
MUST_CHECK bool node_def_add_defaults(NodeDef *node, const OpDef *op_def, Arena *arena, Status *status);
/* Removes the attrs that equal their default. */
void node_def_strip_defaults(NodeDef *node, const OpDef *op_def);

/* --- printing (node_summary.c) --- */

/* "{{node n}} = Op[a=1, b="x"](in0, in1, ^c)" */
void node_def_summarize(const NodeDef *node, StrBuf *out);
/* TensorFlow's SummarizeAttrValue. */
void attr_value_summarize(const AttrValue *value, StrBuf *out);
/* "{{node n}}", or the original nodes of a rewritten node: "{{function_node f}}{{node a}}, {{node b}}". */
void node_def_format_for_error(const NodeDef *node, StrBuf *out);
/* Appends "\n\t [[{{node NAME}}]]" unless the message already has a node. Returns false. */
bool node_attach(const char *node_name, Status *status);
/* The same for the node whose kernel failed. If the message already has a node, of a function that the kernel
 * called, it appends "\n\t [[NAME]]". */
bool node_attach_level(const char *node_name, Status *status);
/* The same with the text of node_def_format_for_error. `even_if_attached`: also if the message already has a
 * node (TensorFlow's allow_multiple_formatted_node). */
bool node_def_attach(const NodeDef *node, bool even_if_attached, Status *status);

/* --- comparing and substituting attr values --- */

/* Whether the values mean the same: tensors are compared by elements, whatever their encoding (a giant splat
 * is not expanded), attrs of functions in any order, floats by bits. (attr_value_equal.c) */
bool attr_value_equal(const AttrValue *a, const AttrValue *b);
/* Whether both nodes have the same attrs, with equal values, in any order. */
bool node_def_same_attrs(const NodeDef *a, const NodeDef *b);
/* Whether the value contains a placeholder such as `$T`, at any depth. (attr_value_substitute.c) */
bool attr_value_has_placeholder(const AttrValue *value);
/* Returns the value of a placeholder, or NULL when it is unknown. */
typedef const AttrValue *(*PlaceholderFn)(void *arg, const char *name);
/* The value with every placeholder replaced; a value without placeholders is shared. INVALID_ARGUMENT "Failed
 * to bind all placeholders in $T". */
MUST_CHECK bool attr_value_substitute(const AttrValue *value, PlaceholderFn find, void *arg, Arena *arena,
                                      const AttrValue **out, Status *status);

/* --- the builder (node_def_builder.c) ---
 * Collects inputs and attrs, infers type and number attrs from the inputs, adds defaults, and reports all
 * errors together at the end: "<msg> while building NodeDef 'n' using Op<...>". */
typedef struct NodeDefBuilder NodeDefBuilder;

/* Allocates everything in `arena`; NULL when out of memory. Finalize may be called once. */
NodeDefBuilder *node_def_builder_new(Arena *arena, const char *name, const OpDef *op_def);
void node_def_builder_input(NodeDefBuilder *builder, const char *node, int index, DataType type);
void node_def_builder_input_list(NodeDefBuilder *builder, const char *const *nodes, const int *indexes,
                                 const DataType *types, int count);
void node_def_builder_control_input(NodeDefBuilder *builder, const char *node);
void node_def_builder_device(NodeDefBuilder *builder, const char *device);
/* The value is copied. Setting an attr twice to different values is an error. */
void node_def_builder_attr(NodeDefBuilder *builder, const char *name, const AttrValue *value);
MUST_CHECK bool node_def_builder_finalize(NodeDefBuilder *builder, NodeDef **node, Status *status);

#endif
