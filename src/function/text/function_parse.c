/* Parses texts into FunctionDefs. */
#include <stdio.h>
#include <string.h>

#include "function/text/function_text_internal.h"
#include "op/op_def_builder.h"
#include "op/op_registry.h"

typedef struct FunctionParser {
  Cursor c;
  FunctionDef *function;
  int stateful; /* -1: not given in the text */
  Str rest;     /* of "@def <...>" */
  bool has_rest;
  Cursor rest_at;
} FunctionParser;

static bool oom(Cursor *c) { return status_oom(c->status, "function text"); }

/* --- signature --- */

/* The text up to a ',' or one of `closers` that is not inside brackets or quotes. */
static bool take_spec(Cursor *c, const char *closers, char **spec) {
  cursor_skip(c);
  const char *begin = c->at;
  int depth = 0;
  char quote = 0;
  for (; c->at < c->end; c->at++) {
    char ch = *c->at;
    if (quote != 0) {
      if (ch == '\\' && c->at + 1 < c->end) {
        c->at++;
      } else if (ch == quote) {
        quote = 0;
      }
    } else if (ch == '"' || ch == '\'') {
      quote = ch;
    } else if (depth == 0 && (ch == ',' || strchr(closers, ch))) {
      break;
    } else if (ch == '[' || ch == '{' || ch == '(') {
      depth++;
    } else if (ch == ']' || ch == '}' || ch == ')') {
      depth--;
    }
  }
  *spec = arena_strndup(c->arena, begin, (size_t)(c->at - begin));
  return *spec || oom(c);
}

/* Errors in the spec language come from op/; this adds the position in the text. */
static bool spec_error(const Cursor *begin, const Status *inner) {
  Cursor at = *begin;
  if (inner->code == CODE_INVALID_ARGUMENT) return cursor_error(&at, "%s", inner->message);
  *at.status = *inner;
  return false;
}

static bool parse_attr_spec(Cursor *c, OpDef *signature) {
  static const char unknown[] = "<Unknown AttrValue type>";
  cursor_skip(c);
  Cursor begin = *c;
  char *spec;
  TRY(take_spec(c, "]", &spec));
  /* How TensorFlow prints a type attr without a list of allowed types. */
  char *mark = strstr(spec, unknown);
  if (mark) {
    *mark = 0;
    spec = arena_printf(c->arena, "%stype%s", spec, mark + sizeof unknown - 1);
    if (!spec) return oom(c);
  }
  Status inner;
  status_init(&inner);
  return op_def_parse_attr(spec, true, signature, c->arena, &inner) || spec_error(&begin, &inner);
}

static bool parse_args(Cursor *c, bool outputs, OpDef *signature) {
  TRY(cursor_expect(c, "(", outputs ? "'->'" : "the name of the function"));
  if (cursor_take(c, ")")) return true;
  do {
    cursor_skip(c);
    Cursor begin = *c;
    char *spec;
    TRY(take_spec(c, ")", &spec));
    Status inner;
    status_init(&inner);
    if (!op_def_parse_arg(spec, outputs, signature, c->arena, &inner)) return spec_error(&begin, &inner);
  } while (cursor_take(c, ","));
  return cursor_expect(c, ")", "the arguments");
}

static bool parse_header(Cursor *c, OpDef *signature) {
  TRY(cursor_name(c, NODE_NAME_CHARS, "the name of a function", &signature->name));
  if (cursor_take(c, "[") && !cursor_take(c, "]")) {
    do {
      TRY(parse_attr_spec(c, signature));
    } while (cursor_take(c, ","));
    TRY(cursor_expect(c, "]", "the attrs of the function"));
  }
  TRY(parse_args(c, false, signature));
  TRY(cursor_expect(c, "->", "the arguments"));
  return parse_args(c, true, signature);
}

/* --- nodes --- */

/* A number as the value of a Const becomes a tensor: of the node's dtype when that is given, else of the
 * widest dtype of its kind until the function is instantiated. */
static bool constant_value(Cursor *begin, const Literal *literal, const AttrValue *dtype, AttrValue **value) {
  Cursor *c = begin;
  int type = dtype && dtype->value_case == (int)ATTR_TYPE ? (int)dtype->type : (int)literal->kind;
  Status inner;
  status_init(&inner);
  TensorProto *tensor;
  if (!number_tensor(type, literal->shape, literal->numbers, literal->count, c->arena, &tensor, &inner)) {
    if (inner.code == CODE_INVALID_ARGUMENT) return cursor_error(c, "%s", inner.message);
    *c->status = inner;
    return false;
  }
  *value = attr_value_tensor(c->arena, tensor);
  return *value || oom(c);
}

/* ", device=/device:CPU:0]": a device is the text up to the bracket, without quotes. */
static bool take_device(Cursor *c, NodeDef *node, bool *taken) {
  *taken = false;
  char ch = cursor_peek(c);
  if (ch == '"' || ch == '$' || ch == '[' || ch == '{') return true;
  size_t length = 0, left = (size_t)(c->end - c->at);
  while (length < left && !strchr(",]\n", c->at[length])) length++;
  if (length == left || c->at[length] != ']') return true;
  if (!memchr(c->at, ':', length) && !memchr(c->at, '/', length)) return true;
  node->device = arena_strndup(c->arena, c->at, length);
  c->at += length;
  *taken = true;
  return node->device || oom(c);
}

static bool parse_attr(Cursor *c, NodeDef *node, Literal *literal, Cursor *literal_at) {
  cursor_skip(c);
  Cursor begin = *c;
  char *name;
  TRY(cursor_name(c, NODE_NAME_CHARS, "the name of an attr", &name));
  TRY(cursor_expect(c, "=", "the name of an attr"));
  bool taken = false;
  if (strcmp(name, "device") == 0) TRY(take_device(c, node, &taken));
  if (taken) return true;
  if (node_def_attr(node, name)) return cursor_error(&begin, "attr '%s' is given twice", name);
  if (node_class_of_op(node->op) == NODE_CONSTANT && strcmp(name, "value") == 0 && literal_starts(c)) {
    *literal_at = *c;
    return literal_parse(c, literal);
  }
  AttrValue *value;
  TRY(value_parse(c, &value));
  return node_def_set_attr(node, c->arena, name, value, c->status);
}

static bool parse_node_attrs(Cursor *c, NodeDef *node) {
  if (!cursor_take(c, "[") || cursor_take(c, "]")) return true;
  Literal literal = {0};
  Cursor literal_at = *c;
  do {
    TRY(parse_attr(c, node, &literal, &literal_at));
  } while (cursor_take(c, ","));
  TRY(cursor_expect(c, "]", "the attrs of a node"));
  if (!literal.shape) return true;
  AttrValue *value;
  TRY(constant_value(&literal_at, &literal, node_def_attr(node, "dtype"), &value));
  return node_def_set_attr(node, c->arena, "value", value, c->status);
}

static bool parse_inputs(Cursor *c, NodeDef *node) {
  char after[96];
  snprintf(after, sizeof after, "the op '%.64s'", node->op);
  TRY(cursor_expect(c, "(", after));
  if (cursor_take(c, ")")) return true;
  do {
    char *input;
    TRY(cursor_name(c, INPUT_NAME_CHARS, "an input", &input));
    TRY(proto_append(c->arena, (void ***)&node->input, &node->n_input, input, c->status));
  } while (cursor_take(c, ","));
  return cursor_expect(c, ")", "the inputs of a node");
}

/* "@ a, b". "@return", "@attr" and the like begin the next statement instead. */
static bool control_inputs_follow(Cursor *c) {
  return cursor_peek(c) == '@' && c->at + 1 < c->end &&
         (c->at[1] == ' ' || c->at[1] == '\t' || c->at[1] == '`');
}

static bool parse_node(Cursor *c, char *name, FunctionDef *function) {
  NodeDef *node = node_def_new(c->arena, name, "");
  if (!node) return oom(c);
  TRY(cursor_expect(c, "=", "the name of a node"));
  TRY(cursor_name(c, NODE_NAME_CHARS, "an op", &node->op));
  TRY(parse_node_attrs(c, node));
  TRY(parse_inputs(c, node));
  if (control_inputs_follow(c)) {
    c->at++;
    do {
      char *control;
      TRY(cursor_name(c, NODE_NAME_CHARS, "the name of a node after '@'", &control));
      char *input = arena_printf(c->arena, "^%s", control);
      if (!input) return oom(c);
      TRY(proto_append(c->arena, (void ***)&node->input, &node->n_input, input, c->status));
    } while (cursor_take(c, ","));
  }
  return proto_append(c->arena, (void ***)&function->node_def, &function->n_node_def, node, c->status);
}

/* --- the other statements --- */

/* The common beginning of all map entries. */
typedef Tensorflow__FunctionDef__RetEntry MapEntry;

static bool check_new_key(Cursor *c, void *entries, size_t count, const MapEntry *entry) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(((MapEntry **)entries)[i]->key, entry->key) == 0)
      return cursor_error(c, "'%s' is given twice", entry->key);
  }
  return true;
}

/* "y = mul:z:0" */
static bool parse_return(Cursor *c, FunctionDef *function) {
  Tensorflow__FunctionDef__RetEntry *entry =
      proto_new(&tensorflow__function_def__ret_entry__descriptor, c->arena);
  if (!entry) return oom(c);
  TRY(cursor_name(c, NODE_NAME_CHARS, "the name of a result", &entry->key));
  TRY(check_new_key(c, function->ret, function->n_ret, entry));
  TRY(cursor_expect(c, "=", "the name of a result"));
  TRY(cursor_name(c, INPUT_NAME_CHARS, "the value of a result", &entry->value));
  return proto_append(c->arena, (void ***)&function->ret, &function->n_ret, entry, c->status);
}

static bool parse_control_return(Cursor *c, FunctionDef *function) {
  Tensorflow__FunctionDef__ControlRetEntry *entry =
      proto_new(&tensorflow__function_def__control_ret_entry__descriptor, c->arena);
  if (!entry) return oom(c);
  TRY(cursor_name(c, NODE_NAME_CHARS, "the name of a control result", &entry->key));
  TRY(check_new_key(c, function->control_ret, function->n_control_ret, (const MapEntry *)entry));
  TRY(cursor_expect(c, "=", "the name of a control result"));
  TRY(cursor_name(c, NODE_NAME_CHARS, "the node of a control result", &entry->value));
  OpDef *signature = function->signature;
  TRY(proto_append(c->arena, (void ***)&signature->control_output, &signature->n_control_output, entry->key,
                   c->status));
  return proto_append(c->arena, (void ***)&function->control_ret, &function->n_control_ret, entry, c->status);
}

static bool parse_function_attr(Cursor *c, FunctionDef *function) {
  Tensorflow__FunctionDef__AttrEntry *entry =
      proto_new(&tensorflow__function_def__attr_entry__descriptor, c->arena);
  if (!entry) return oom(c);
  TRY(cursor_name(c, NODE_NAME_CHARS, "the name of an attr", &entry->key));
  TRY(check_new_key(c, function->attr, function->n_attr, (const MapEntry *)entry));
  TRY(cursor_expect(c, "=", "the name of an attr"));
  TRY(value_parse(c, &entry->value));
  return proto_append(c->arena, (void ***)&function->attr, &function->n_attr, entry, c->status);
}

static bool parse_directive(FunctionParser *p) {
  Cursor *c = &p->c;
  Cursor begin = *c;
  c->at++;
  char *word;
  TRY(cursor_name(c, "", "a word after '@'", &word));
  if (strcmp(word, "return") == 0) return parse_control_return(c, p->function);
  if (strcmp(word, "attr") == 0) return parse_function_attr(c, p->function);
  if (strcmp(word, "stateful") == 0) {
    p->stateful = cursor_take(c, "true") ? 1 : 0;
    return p->stateful || cursor_expect(c, "false", "@stateful");
  }
  if (strcmp(word, "node") == 0) {
    void *node;
    TRY(cursor_message(c, kNodeDef, &node));
    return proto_append(c->arena, (void ***)&p->function->node_def, &p->function->n_node_def, node,
                        c->status);
  }
  if (strcmp(word, "def") == 0) {
    cursor_skip(c);
    p->has_rest = true;
    p->rest_at = *c;
    return cursor_angle(c, &p->rest);
  }
  return cursor_error(&begin, "'@%s' is nothing that a function can say", word);
}

static bool parse_statement(FunctionParser *p) {
  Cursor *c = &p->c;
  if (cursor_peek(c) == '@') return parse_directive(p);
  bool plain = cursor_peek(c) != '`';
  char *name;
  TRY(cursor_name(c, NODE_NAME_CHARS, "a node, 'return' or '}'", &name));
  if (plain && strcmp(name, "return") == 0 && cursor_peek(c) != '=') {
    do {
      TRY(parse_return(c, p->function));
    } while (cursor_take(c, ","));
    return true;
  }
  return parse_node(c, name, p->function);
}

/* --- whole functions --- */

/* "@def <...>" gives everything but the function's attrs and nodes. */
static bool apply_rest(FunctionParser *p) {
  void *message;
  TRY(cursor_message(&p->rest_at, kFunctionDef, &message));
  FunctionDef *rest = message;
  FunctionDef *function = p->function;
  function->signature = rest->signature;
  function->arg_attr = rest->arg_attr, function->n_arg_attr = rest->n_arg_attr;
  function->resource_arg_unique_id = rest->resource_arg_unique_id;
  function->n_resource_arg_unique_id = rest->n_resource_arg_unique_id;
  function->ret = rest->ret, function->n_ret = rest->n_ret;
  function->control_ret = rest->control_ret, function->n_control_ret = rest->n_control_ret;
  return true;
}

static bool has_stateful_op(const FunctionDef *function) {
  for (size_t i = 0; i < function->n_node_def; i++) {
    const Op *op = op_registry_find(op_registry_global(), function->node_def[i]->op);
    if (op && op->def->is_stateful) return true;
  }
  return false;
}

static bool parse_one(FunctionParser *p) {
  Cursor *c = &p->c;
  p->stateful = -1;
  p->has_rest = false;
  p->function = proto_new(kFunctionDef, c->arena);
  if (!p->function) return oom(c);
  p->function->signature = proto_new(kOpDef, c->arena);
  if (!p->function->signature) return oom(c);
  TRY(parse_header(c, p->function->signature));
  TRY(cursor_expect(c, "{", "the results"));
  while (!cursor_take(c, "}")) TRY(parse_statement(p));
  p->function->signature->is_stateful = p->stateful >= 0 ? p->stateful == 1 : has_stateful_op(p->function);
  return !p->has_rest || apply_rest(p);
}

static bool begin(FunctionParser *p, Str text, Arena *arena, Status *status) {
  const char *at = text.data ? text.data : "";
  *p = (FunctionParser){.c = {at, at, at + text.length, arena, status, 0}};
  if (text.length > FUNCTION_TEXT_MAX_BYTES) {
    return status_invalid(status, "function text of %lld bytes is longer than %d", (long long)text.length,
                          FUNCTION_TEXT_MAX_BYTES);
  }
  const char *nul = text.length > 0 ? memchr(text.data, 0, text.length) : NULL;
  if (!nul) return true;
  p->c.at = nul;
  return cursor_error(&p->c, "a zero byte");
}

bool function_parse(Str text, Arena *arena, FunctionDef **function, Status *status) {
  FunctionParser p;
  TRY(begin(&p, text, arena, status));
  TRY(parse_one(&p));
  if (cursor_peek(&p.c) != 0) return cursor_error(&p.c, "more text behind the function");
  *function = p.function;
  return true;
}

bool function_parse_library(Str text, Arena *arena, FunctionDefLibrary **library, Status *status) {
  FunctionParser p;
  TRY(begin(&p, text, arena, status));
  FunctionDefLibrary *result = proto_new(kFunctionDefLibrary, arena);
  if (!result) return status_oom(status, "function text");
  while (cursor_peek(&p.c) != 0) {
    TRY(parse_one(&p));
    TRY(proto_append(arena, (void ***)&result->function, &result->n_function, p.function, status));
  }
  *library = result;
  return true;
}
