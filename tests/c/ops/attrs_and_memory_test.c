/* Every op's kernel constructor, shape function and gradient function for a node. Missing attrs and attrs of
 * another kind are refused, although callers validate nodes; and memory may run out. */
#include "base/alloc.h"
#include "op/kernel_registry.h"
#include "op/shape_language.h"
#include "op_runner.h"
#include "ops/sample_node.h"
#include "shortage.h"

/* One node, and the arguments for calling its op's functions. */
typedef struct Sample {
  const Op *op;
  NodeDef *node;
  Arena *arena;
  KernelFunctions functions;
  DataType *input_types, *output_types;
  int num_inputs, num_outputs;
} Sample;

typedef bool Call(const Sample *sample, const NodeDef *node, Arena *arena, Status *status);

static bool construct(const Sample *s, const NodeDef *node, Arena *arena, Status *status) {
  if (!s->functions.construct) return true;
  void *state = arena_calloc(arena, 1, s->functions.state_size + 1);
  if (!state) return status_oom(status, "a kernel");
  KernelConstruction construction = {.node = node,
                                     .op_def = s->op->def,
                                     .input_types = s->input_types,
                                     .output_types = s->output_types,
                                     .num_inputs = s->num_inputs,
                                     .num_outputs = s->num_outputs,
                                     .arena = arena,
                                     .data = s->functions.data};
  bool ok = s->functions.construct(&construction, state, status);
  if (s->functions.destroy) s->functions.destroy(state);
  return ok;
}

/* Inputs without any known shape. */
static bool infer(const Sample *s, const NodeDef *node, Arena *arena, Status *status) {
  InferenceContext context;
  StrBuf shapes = {0};
  if (!s->op->registration->shape) return true;
  for (int i = 0; i < s->num_inputs; i++) strbuf_append(&shapes, i == 0 ? "?" : ";?");
  bool ok = strbuf_ok(&shapes, status) &&
            shape_trial_begin(&context, s->op, s->node, 134, strbuf_text(&shapes), arena, status);
  strbuf_free(&shapes);
  if (!ok) return false;
  context.node = node;
  return shape_trial_run(&context, s->op, status);
}

static bool write_gradient(const Sample *s, const NodeDef *node, Arena *arena, Status *status) {
  StrBuf text = {0};
  (void)arena;
  if (!s->op->registration->gradient_fn) return true;
  bool ok = s->op->registration->gradient_fn(&(GradientRequest){node, NULL}, &text, status) &&
            strbuf_ok(&text, status);
  strbuf_free(&text);
  return ok;
}

static Call *const kCalls[] = {construct, infer, write_gradient};
enum { NUM_CALLS = sizeof kCalls / sizeof kCalls[0] };

/* For the first type with a kernel. False if there is none, or no node can be generated. */
static bool make_sample(Sample *s, const Op *op) {
  static const DataType kTypes[] = {DT_FLOAT, DT_INT32,  DT_INT64, DT_COMPLEX64,
                                    DT_BOOL,  DT_STRING, DT_HALF,  DT_DOUBLE};
  Status status;
  *s = (Sample){.op = op, .arena = arena_new()};
  for (size_t i = 0; i < sizeof kTypes / sizeof kTypes[0]; i++) {
    const AttrDef *chooser = kernel_type_attr(op);
    if (chooser && !attr_allows(chooser, kTypes[i])) continue;
    status_init(&status);
    s->node = sample_node(op, 0, kTypes[i], s->arena);
    if (!s->node) return false;
    if (kernel_registry_select(op, s->node, &s->functions, &status))
      return CHECK_OK(node_def_types(s->node, op->def, s->arena, &s->input_types, &s->num_inputs,
                                     &s->output_types, &s->num_outputs, &status),
                      status);
  }
  return false;
}

/* --- attrs --- */

static NodeDef *without(const Sample *s, size_t attr, AttrValue *instead, Arena *arena) {
  NodeDef *node = proto_copy(s->node, arena);
  if (!CHECK(node)) return NULL;
  if (instead) node->attr[attr]->value = instead;
  else node->attr[attr] = node->attr[--node->n_attr];
  return node;
}

/* The number of calls that found an error. */
static int damage(const Sample *s, size_t attr, AttrValue *instead) {
  int refused = 0;
  for (int i = 0; i < NUM_CALLS; i++) {
    Arena *arena = arena_new();
    Status status;
    status_init(&status);
    CHECK_CONTEXT("call %d of %s, attr %s", i, s->op->def->name, s->node->attr[attr]->key);
    const NodeDef *node = without(s, attr, instead, arena);
    if (node && !kCalls[i](s, node, arena, &status)) {
      refused++;
      CHECK(status.code == CODE_INVALID_ARGUMENT || status.code == CODE_NOT_FOUND ||
            status.code == CODE_UNIMPLEMENTED);
      CHECK(status.message[0] != 0);
    }
    arena_free(arena);
  }
  return refused;
}

TEST(attrs_that_are_missing_or_of_another_kind_are_refused) {
  int refused = 0;
  for (int i = 0; i < op_registry_count(op_registry_global()); i++) {
    Sample s;
    const Op *op = op_registry_find(op_registry_global(), op_registry_name(op_registry_global(), i));
    if (op && make_sample(&s, op)) {
      AttrValue *other = attr_value_placeholder(s.arena, "another_kind");
      for (size_t k = 0; k < s.node->n_attr; k++) refused += damage(&s, k, NULL) + damage(&s, k, other);
    }
    if (op) arena_free(s.arena);
  }
  CHECK_CONTEXT("%s", "");
  CHECK(refused > 500);
}

/* --- memory --- */

TEST(every_op_says_that_memory_ran_out) {
  for (int i = 0; i < op_registry_count(op_registry_global()); i++) {
    Sample s;
    const Op *op = op_registry_find(op_registry_global(), op_registry_name(op_registry_global(), i));
    bool made = op && make_sample(&s, op);
    for (int k = 0; made && k < NUM_CALLS; k++) {
      Shortage shortage = {.what = op->def->name};
      do {
        Arena *arena = arena_new();
        Status status;
        status_init(&status);
        shortage_begin(&shortage);
        bool ok = kCalls[k](&s, s.node, arena, &status);
        shortage_end(&shortage, ok, status.code);
        arena_free(arena);
      } while (shortage_next(&shortage));
    }
    if (op) arena_free(s.arena);
  }
}
