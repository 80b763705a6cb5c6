/* What must hold for every op of the registry. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "function/function_text.h"
#include "function/instantiate.h"
#include "harness.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "op_runner.h"

/* TensorFlow's OpDefs, by name. */
typedef struct Reference {
  Arena *arena;
  StringMap ops;
} Reference;

static bool read_reference(Reference *reference) {
  Status status;
  status_init(&status);
  *reference = (Reference){.arena = arena_new()};
  FILE *file = fopen(TFCORE_SOURCE_DIR "/tests/data/ops.pbtxt", "rb");
  if (!CHECK(file != NULL)) return false;
  StrBuf text = {0};
  char piece[65536];
  for (size_t n; (n = fread(piece, 1, sizeof piece, file)) > 0;) strbuf_append_bytes(&text, piece, n);
  fclose(file);
  void *message = NULL;
  bool ok = CHECK_OK(proto_parse_text(kOpList, str_of(strbuf_text(&text)), reference->arena, &message, &status), status);
  strbuf_free(&text);
  const OpList *list = message;
  for (size_t i = 0; ok && i < list->n_op; i++) {
    ok = CHECK_OK(string_map_set(&reference->ops, list->op[i]->name, list->op[i], &status), status);
  }
  return ok && CHECK(list->n_op > 1000);
}

static void drop_reference(Reference *reference) {
  string_map_free(&reference->ops);
  arena_free(reference->arena);
}

static const char *text_of(const void *message, StrBuf *text) {
  strbuf_clear(text);
  if (message != NULL) proto_print_text(message, PROTO_TEXT_MULTI_LINE, text);
  return strbuf_text(text);
}

TEST(op_defs_equal_tensorflows) {
  Reference reference;
  StrBuf ours = {0}, theirs = {0};
  if (read_reference(&reference)) {
    int compared = 0;
    for (int i = 0; i < op_registry_count(op_registry_global()); i++) {
      Status status;
      status_init(&status);
      const Op *op;
      CHECK_CONTEXT("%s", op_registry_name(op_registry_global(), i));
      if (!CHECK_OK(op_registry_look_up(op_registry_global(), op_registry_name(op_registry_global(), i), &op, &status), status)) continue;
      const OpDef *want = string_map_find(&reference.ops, op_registry_name(op_registry_global(), i));
      if (want == NULL) continue;
      compared++;
      if (!proto_equal(op->def, want)) CHECK_STR_EQ(text_of(op->def, &ours), text_of(want, &theirs));
    }
    CHECK_CONTEXT("%s", "");
    CHECK(compared > 50);
  }
  strbuf_free(&ours);
  strbuf_free(&theirs);
  drop_reference(&reference);
}

/* May an output be a floating number? */
static bool has_floating_output(const OpDef *def) {
  for (size_t i = 0; i < def->n_output_arg; i++) {
    const ArgDef *arg = def->output_arg[i];
    if (arg->type != 0) {
      if (dtype_is_floating(dtype_base((int)arg->type))) return true;
      continue;
    }
    const char *name = arg->type_attr[0] != '\0' ? arg->type_attr : arg->type_list_attr;
    for (size_t k = 0; k < def->n_attr; k++) {
      if (strcmp(def->attr[k]->name, name) != 0) continue;
      const AttrValue *allowed = def->attr[k]->allowed_values;
      if (allowed == NULL || allowed->list == NULL) return true;
      for (size_t v = 0; v < allowed->list->n_type; v++) {
        if (dtype_is_floating((int)allowed->list->type[v])) return true;
      }
    }
  }
  return false;
}

TEST(every_op_has_shape_kernel_and_gradient) {
  for (int i = 0; i < op_registry_count(op_registry_global()); i++) {
    const Op *op = op_registry_find(op_registry_global(), op_registry_name(op_registry_global(), i));
    CHECK_CONTEXT("%s", op_registry_name(op_registry_global(), i));
    if (!CHECK(op != NULL)) continue;
    const OpRegistration *r = op->registration;
    CHECK(r->shape != NULL);
    CHECK(op_has_kernel(op, DT_INVALID));
    if (has_floating_output(op->def)) CHECK(r->gradient != NULL || r->gradient_fn != NULL);
    CHECK(r->gradient == NULL || r->gradient_fn == NULL);
  }
  CHECK_CONTEXT("%s", "");
}

/* A node of the op with some legal value for each attr, for gradients that are written from them. Bit k of `variant` flips the
 * k-th bool attr. NULL when the op takes attrs that cannot be made up. */
static NodeDef *make_node(const Op *op, unsigned variant, Arena *arena) {
  Status status;
  status_init(&status);
  NodeDef *node = node_def_new(arena, "n", op->def->name);
  int bools = 0;
  for (size_t i = 0; i < op->def->n_attr; i++) {
    const AttrDef *attr = op->def->attr[i];
    AttrValue *value = NULL;
    if (strcmp(attr->type, "bool") == 0) {
      value = attr_value_bool(arena, variant >> bools++ & 1);
    } else if (attr->default_value == NULL && strcmp(attr->type, "type") == 0) {
      bool has_float = attr->allowed_values == NULL || attr->allowed_values->list == NULL;
      for (size_t k = 0; !has_float && k < attr->allowed_values->list->n_type; k++) {
        has_float = (int)attr->allowed_values->list->type[k] == DT_FLOAT;
      }
      value = attr_value_type(arena, has_float ? DT_FLOAT : (int)attr->allowed_values->list->type[0]);
    } else if (attr->default_value == NULL && strcmp(attr->type, "int") == 0) {
      value = attr_value_int(arena, attr->minimum > 3 ? attr->minimum : 3);
    } else if (attr->default_value == NULL && strcmp(attr->type, "list(type)") == 0) {
      value = attr_value_type_list(arena, (int[]){DT_FLOAT, DT_INT32}, 2);
    } else if (attr->default_value == NULL) {
      return NULL;
    } else {
      continue;
    }
    CHECK_OK(node_def_set_attr(node, arena, attr->name, value, &status), status);
  }
  return CHECK_OK(node_def_add_defaults(node, op->def, arena, &status), status) ? node : NULL;
}

/* Parses, binds the node's attrs, and compares types: inputs and one gradient per output in, one gradient per input out. */
static void check_gradient_text(const Op *op, const NodeDef *node, const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  FunctionDef *function;
  InstantiationResult *body;
  DataType *inputs, *outputs;
  int num_inputs, num_outputs;
  if (!CHECK_OK(function_parse(str_of(text), arena, &function, &status), status)) return;
  for (size_t i = 0; i < function->n_node_def; i++) {
    const Op *used;
    if (!CHECK_OK(op_registry_look_up(op_registry_global(), function->node_def[i]->op, &used, &status), status)) return;
    CHECK(op_has_kernel(used, DT_INVALID));
  }
  if (!CHECK_OK(node_def_types(node, op->def, arena, &inputs, &num_inputs, &outputs, &num_outputs, &status), status)) return;
  if (!CHECK_OK(function_instantiate(NULL, function, (const AttrEntry *const *)node->attr, (int)node->n_attr, arena, &body, &status), status)) return;
  if (!CHECK_INT_EQ(body->num_args, num_inputs + num_outputs) || !CHECK_INT_EQ(body->num_rets, num_inputs)) return;
  for (int i = 0; i < num_inputs; i++) {
    CHECK_STR_EQ(dtype_name((int)body->arg_types[i]), dtype_name((int)inputs[i]));
    /* What a resource gets is the gradient of its value. */
    if (inputs[i] != DT_RESOURCE) CHECK_STR_EQ(dtype_name((int)body->ret_types[i]), dtype_name((int)inputs[i]));
  }
  for (int i = 0; i < num_outputs; i++) CHECK_STR_EQ(dtype_name((int)body->arg_types[num_inputs + i]), dtype_name((int)outputs[i]));
}

TEST(gradient_texts_can_be_instantiated) {
  int checked = 0;
  for (int i = 0; i < op_registry_count(op_registry_global()); i++) {
    const Op *op = op_registry_find(op_registry_global(), op_registry_name(op_registry_global(), i));
    if (op == NULL || op->registration->gradient == NO_GRADIENT || op->registration->gradient == FUNCTIONAL_GRADIENT) continue;
    if (strcmp(op->def->name, "PreventGradient") == 0) continue; /* its text is an error */
    for (unsigned variant = 0; variant < 4; variant++) {
      CHECK_CONTEXT("%s, variant %u", op_registry_name(op_registry_global(), i), variant);
      Arena *arena = arena_new();
      Status status;
      status_init(&status);
      NodeDef *node = make_node(op, variant, arena);
      StrBuf text = {0};
      if (node != NULL && op->registration->gradient != NULL) strbuf_append(&text, op->registration->gradient);
      if (node != NULL && op->registration->gradient_fn != NULL) CHECK_OK(op->registration->gradient_fn(&(GradientRequest){node, NULL}, &text, &status), status);
      if (text.length > 0) {
        check_gradient_text(op, node, strbuf_text(&text), arena);
        checked++;
      }
      strbuf_free(&text);
      arena_free(arena);
    }
  }
  CHECK_CONTEXT("%s", "");
  CHECK(checked > 100);
}
