/* The protocol buffers of the graph core: TensorFlow's messages under short names, and everything that is
 * done with messages in general: binary and text format, both ways, deep copies, and the AttrValue helpers.
 *
 * The messages are plain C structs made by protoc-c from proto/. They are never freed one by one: each lives
 * in the Arena of its owner (a graph, a function, an op registry). Strings are NUL-terminated and never NULL
 * (unset = ""), map fields are arrays of entries in insertion order.
 */
#ifndef TFCORE_PROTO_PROTO_H_
#define TFCORE_PROTO_PROTO_H_

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "tensorflow/core/framework/attr_value.pb-c.h"
#include "tensorflow/core/framework/function.pb-c.h"
#include "tensorflow/core/framework/graph.pb-c.h"
#include "tensorflow/core/framework/kernel_def.pb-c.h"
#include "tensorflow/core/framework/node_def.pb-c.h"
#include "tensorflow/core/framework/op_def.pb-c.h"
#include "tensorflow/core/framework/resource_handle.pb-c.h"
#include "tensorflow/core/framework/tensor.pb-c.h"
#include "tensorflow/core/framework/tensor_shape.pb-c.h"
#include "tensorflow/core/framework/types.pb-c.h"
#include "tensorflow/core/framework/versions.pb-c.h"
#include "tensorflow/core/protobuf/config.pb-c.h"

typedef Tensorflow__AttrValue AttrValue;
typedef Tensorflow__AttrValue__ListValue AttrListValue;
typedef Tensorflow__NameAttrList NameAttrList;
typedef Tensorflow__NameAttrList__AttrEntry FuncAttrEntry;
typedef Tensorflow__NodeDef NodeDef;
typedef Tensorflow__NodeDef__AttrEntry AttrEntry;
typedef Tensorflow__OpDef OpDef;
typedef Tensorflow__OpDef__ArgDef ArgDef;
typedef Tensorflow__OpDef__AttrDef AttrDef;
typedef Tensorflow__OpDeprecation OpDeprecation;
typedef Tensorflow__OpList OpList;
typedef Tensorflow__KernelDef KernelDef;
typedef Tensorflow__KernelDef__AttrConstraint KernelConstraint;
typedef Tensorflow__KernelList KernelList;
typedef Tensorflow__FunctionDef FunctionDef;
typedef Tensorflow__FunctionDefLibrary FunctionDefLibrary;
typedef Tensorflow__GradientDef GradientDef;
typedef Tensorflow__GraphDef GraphDef;
typedef Tensorflow__VersionDef VersionDef;
typedef Tensorflow__TensorProto TensorProto;
typedef Tensorflow__TensorShapeProto TensorShapeProto;
typedef Tensorflow__TensorShapeProto__Dim TensorShapeDim;
typedef Tensorflow__ResourceHandleProto ResourceHandleProto;
typedef Tensorflow__ConfigProto ConfigProto;

/* What `value_case` of an AttrValue says. Numbers are those of the oneof's fields. */
typedef enum AttrKind {
  ATTR_NOT_SET = TENSORFLOW__ATTR_VALUE__VALUE__NOT_SET,
  ATTR_LIST = TENSORFLOW__ATTR_VALUE__VALUE_LIST,
  ATTR_STRING = TENSORFLOW__ATTR_VALUE__VALUE_S,
  ATTR_INT = TENSORFLOW__ATTR_VALUE__VALUE_I,
  ATTR_FLOAT = TENSORFLOW__ATTR_VALUE__VALUE_F,
  ATTR_BOOL = TENSORFLOW__ATTR_VALUE__VALUE_B,
  ATTR_TYPE = TENSORFLOW__ATTR_VALUE__VALUE_TYPE,
  ATTR_SHAPE = TENSORFLOW__ATTR_VALUE__VALUE_SHAPE,
  ATTR_TENSOR = TENSORFLOW__ATTR_VALUE__VALUE_TENSOR,
  ATTR_PLACEHOLDER = TENSORFLOW__ATTR_VALUE__VALUE_PLACEHOLDER,
  ATTR_FUNC = TENSORFLOW__ATTR_VALUE__VALUE_FUNC,
} AttrKind;

/* Messages may nest this deep in any encoding; deeper ones are refused with INVALID_ARGUMENT, so that
 * recursion over a message is bounded everywhere. */
enum { PROTO_MAX_DEPTH = 100 };
/* Messages built in memory may wrap parsed ones (a node inside a function inside a library), so walks over
 * memory go deeper before they give up. */
enum { PROTO_MAX_WALK_DEPTH = 2 * PROTO_MAX_DEPTH };

typedef ProtobufCMessageDescriptor ProtoDescriptor;
typedef ProtobufCMessage ProtoMessage;

extern const ProtoDescriptor *const kGraphDef,
    *const kNodeDef, *const kOpDef, *const kOpList,
                                        *const kAttrValue,
                                            *const kKernelDef,
                                                *const kKernelConstraint,
                                                    *const kKernelList,
                                                        *const kFunctionDef,
                                                            *const kFunctionDefLibrary,
                                                                *const kTensorProto,
                                                                    *const kTensorShapeProto,
                                                                        *const kVersionDef,
                                                                            *const kConfigProto,
                                                                                *const kRunOptions;

/* --- messages in general (message.c) --- */

/* A new message with every field at its default, in `arena`; NULL when out of memory. */
void *proto_new(const ProtoDescriptor *descriptor, Arena *arena);
/* A deep copy in `arena`, unknown fields included; NULL when out of memory (or nested beyond
 * PROTO_MAX_WALK_DEPTH). */
void *proto_copy(const void *message, Arena *arena);
/* Appends `element` (a message, or a char* for a string field) to the repeated field whose array and count
 * are given: proto_append(arena, (void ***)&def->input, &def->n_input, name, status). The array grows by
 * doubling inside `arena`, and its capacity is inferred from the count: a field that is appended to must have
 * been filled by the functions of this header only. */
MUST_CHECK bool proto_append(Arena *arena, void ***array, size_t *count, void *element, Status *status);
/* Equal field by field; maps compare as sets, floats by bits, unknown fields are ignored. */
bool proto_equal(const void *a, const void *b);

/* --- binary format (binary_parse.c, binary_serialize.c) --- */

/* Parses bytes into a message in `arena`. Malformed or too deeply nested bytes give INVALID_ARGUMENT naming
 * the message type and the byte offset. Lengths are checked against the bytes before memory is taken; what an
 * error leaves behind goes with the arena. Strings must be UTF-8 without NUL. Fields that our messages do not
 * know are kept as bytes, copied and serialised (text format does not show them). Of map entries with the
 * same key the last one counts. Texts and map entries that are alike may be one in memory: replace them,
 * never write into them. */
MUST_CHECK bool proto_parse(const ProtoDescriptor *descriptor, const void *bytes, size_t length, Arena *arena,
                            void **message, Status *status);
/* Appends the serialised message to `out`. Deterministic: fields by number, map entries in their order in
 * memory. More than 2 GiB give INVALID_ARGUMENT. */
MUST_CHECK bool proto_serialize(const void *message, StrBuf *out, Status *status);

/* --- text format (text_print.c; text_parse.c over text_lexer.c; proto_scalar.c) --- */

typedef enum ProtoTextStyle {
  PROTO_TEXT_MULTI_LINE, /* protobuf's DebugString: one field a line, two blanks of indent a level */
  PROTO_TEXT_SHORT,      /* protobuf's ShortDebugString: one line, fields separated by one blank */
} ProtoTextStyle;

/* Appends the text. Map entries are sorted by key; numbers are printed so that they read back equal. Running
 * out of memory shows in `strbuf_ok`. */
void proto_print_text(const void *message, ProtoTextStyle style, StrBuf *out);
/* Parses text format: comments, both string quotes and all escapes, adjacent strings joined, `[a, b]` lists
 * of scalars and messages, `<>` and `{}`, optional `:` before messages and `,` or `;` between fields, inf and
 * nan, enum names and numbers. Errors name line and column: "1:5: Message type \"tensorflow.NodeDef\" has no
 * field named \"x\".". */
MUST_CHECK bool proto_parse_text(const ProtoDescriptor *descriptor, Str text, Arena *arena, void **message,
                                 Status *status);
/* The numbers of text format, TensorFlow's StrCat and our messages: the first of %.6g and %.9g, or of %.15g
 * and %.17g, that reads back equal; "inf", "-inf", "nan". Return `text`. */
enum { NUMBER_TEXT_CAPACITY = 32 };
const char *proto_float_text(float value, char text[NUMBER_TEXT_CAPACITY]);
const char *proto_double_text(double value, char text[NUMBER_TEXT_CAPACITY]);
/* Parses the text of one field's value, such as an attr's default in an op spec: `field` of AttrValue ("s",
 * "i", "list", "tensor", ...) is set from `text`. False without touching `status` when the text is no such
 * value. */
bool proto_parse_field_text(const char *field, Str text, Arena *arena, AttrValue *value);

/* --- AttrValue helpers (attr_value.c) --- */

/* New values in `arena`; NULL when out of memory. Strings and lists are copied. */
AttrValue *attr_value_string(Arena *arena, const void *bytes, size_t length);
AttrValue *attr_value_int(Arena *arena, int64_t i);
AttrValue *attr_value_float(Arena *arena, float f);
AttrValue *attr_value_bool(Arena *arena, bool b);
AttrValue *attr_value_type(Arena *arena, int type);
AttrValue *attr_value_shape(Arena *arena, int num_dims /* -1: unknown rank */,
                            const int64_t *dims /* -1: unknown */);
AttrValue *attr_value_tensor(Arena *arena, TensorProto *tensor /* taken as it is */);
AttrValue *attr_value_placeholder(Arena *arena, const char *name);
AttrValue *attr_value_func(Arena *arena, const char *name, const NameAttrList *attrs_from /* may be NULL */);
AttrValue *attr_value_int_list(Arena *arena, const int64_t *values, size_t count);
AttrValue *attr_value_float_list(Arena *arena, const float *values, size_t count);
AttrValue *attr_value_bool_list(Arena *arena, const bool *values, size_t count);
AttrValue *attr_value_type_list(Arena *arena, const int *types, size_t count);
AttrValue *attr_value_string_list(Arena *arena, const Str *values, size_t count);
AttrValue *attr_value_shape_list(Arena *arena, const TensorShapeProto *const *shapes, size_t count);
AttrValue *attr_value_tensor_list(Arena *arena, TensorProto *const *tensors, size_t count);

/* "int", "list(int)", "string", ...: what TensorFlow's messages call the value's kind; "any" when nothing is
 * set. */
const char *attr_value_kind_name(const AttrValue *value);

/* What a proto3 string may hold, and what a NUL-terminated text may: UTF-8 without NUL. */
bool text_is_valid(const char *text, size_t length);
/* The attrs of a NodeDef by name; NULL when absent. */
const AttrValue *node_def_attr(const NodeDef *node, const char *name);
/* Sets or replaces an attr; `value` and the copied name live in `arena`, the arena of the node. */
MUST_CHECK bool node_def_set_attr(NodeDef *node, Arena *arena, const char *name, AttrValue *value,
                                  Status *status);
/* Appends an input ("a", "a:1", "^c"), copied. */
MUST_CHECK bool node_def_add_input(NodeDef *node, Arena *arena, const char *input, Status *status);
/* A new NodeDef with name and op set; NULL when out of memory. */
NodeDef *node_def_new(Arena *arena, const char *name, const char *op);
/* A copy without inputs that shares texts and attr values with `node`, which must live as long; its attrs can
 * be set without changing those of `node`. NULL when out of memory. */
NodeDef *node_def_share(Arena *arena, const NodeDef *node);

#endif
