/* The gradient of If and Case: an If or Case of the gradients of the branches. A RemoteCall is like them: it
 * has one branch, and an input in front that says nothing but where. */
#include <string.h>

#include "gradient/body_work.h"

typedef struct Branches {
  GradientLibrary *library;
  const NodeDef *node;
  Status *status;
  Arena *arena; /* until the gradient is made */
  const NameAttrList **functions;
  BodyWork *works;
  InlinedFunction *inlined;
  int count;
  int num_inputs, num_outputs; /* of a branch */
  bool *arrives;               /* per output */
  DataType *types;             /* per input that of its gradient; DT_INVALID: none leaves */
  const char **gradients;      /* names of the branches' gradients in the library */
} Branches;

static bool oom(Branches *b) { return status_oom(b->status, "the gradient of a branch"); }

bool gradient_is_branch(const NodeDef *node) {
  return strcmp(node->op, "If") == 0 || strcmp(node->op, "StatelessIf") == 0 ||
         strcmp(node->op, "Case") == 0 || strcmp(node->op, "StatelessCase") == 0 ||
         strcmp(node->op, "RemoteCall") == 0;
}

static bool find_branches(Branches *b) {
  const AttrValue *list = node_def_attr(b->node, "branches");
  if (node_def_attr(b->node, "f") != NULL) {
    b->count = 1;
    b->functions = arena_calloc(b->arena, 1, sizeof *b->functions);
    if (b->functions == NULL) return oom(b);
    return gradient_called(b->node, "f", &b->functions[0], b->status);
  }
  if (list == NULL) {
    b->count = 2;
    b->functions = arena_calloc(b->arena, 2, sizeof *b->functions);
    if (b->functions == NULL) return oom(b);
    return gradient_called(b->node, "then_branch", &b->functions[0], b->status) &&
           gradient_called(b->node, "else_branch", &b->functions[1], b->status);
  }
  if (list->value_case != (int)ATTR_LIST || list->list->n_func < 1 ||
      list->list->n_func > FUNCTION_MAX_EXPANDED)
    return status_invalid(b->status, "No functions in attr 'branches' of op %s", b->node->op);
  b->count = (int)list->list->n_func;
  b->functions = arena_calloc(b->arena, b->count, sizeof *b->functions);
  if (b->functions == NULL) return oom(b);
  for (int i = 0; i < b->count; i++) b->functions[i] = list->list->func[i];
  return true;
}

static bool differentiate(Branches *b, int i) {
  TRY(body_work_new(&b->works[i], b->library, b->status));
  TRY(body_work_inline(&b->works[i], b->functions[i], false, &b->inlined[i]));
  const InstantiationResult *body = b->inlined[i].body;
  if (body->num_args != b->num_inputs || body->num_rets != b->num_outputs) {
    return status_invalid(b->status, "Branch %s of op %s has %d arguments and %d results, not %d and %d",
                          body->name, b->node->op, body->num_args, body->num_rets, b->num_inputs,
                          b->num_outputs);
  }
  TRY(body_work_differentiate(&b->works[i], &b->inlined[i], b->arrives));
  for (int k = 0; k < b->num_inputs; k++) {
    NodeOutput dx = b->inlined[i].dxs[k];
    if (dx.node == NULL) continue;
    DataType type = (DataType)dtype_base(node_output_type(dx));
    if (b->types[k] != DT_INVALID && b->types[k] != type)
      return status_invalid(b->status, "Branches of op %s give gradients of types %s and %s", b->node->op,
                            dtype_name((int)b->types[k]), dtype_name((int)type));
    b->types[k] = type;
  }
  return true;
}

/* The branches' inputs and the gradients that arrive in, the gradients that leave any of the branches out. */
static bool define(Branches *b, int i) {
  BodyWork *work = &b->works[i];
  InlinedFunction *branch = &b->inlined[i];
  int num_in = 0, num_out = 0;
  NodeOutput *in = arena_calloc(work->arena, b->num_inputs + b->num_outputs + 1, sizeof *in);
  NodeOutput *out = arena_calloc(work->arena, b->num_inputs + 1, sizeof *out);
  char *name = arena_printf(b->library->arena, "%s_grad", branch->body->name);
  if (in == NULL || out == NULL || name == NULL) return oom(b);
  for (int k = 0; k < b->num_inputs; k++) in[num_in++] = branch->args[k];
  for (int k = 0; k < b->num_outputs; k++) {
    if (b->arrives[k]) in[num_in++] = branch->dys[k];
  }
  for (int k = 0; k < b->num_inputs; k++) {
    if (b->types[k] == DT_INVALID) continue;
    out[num_out] = branch->dxs[k];
    if (out[num_out].node == NULL) TRY(body_work_zeros(work, branch->args[k], b->types[k], &out[num_out]));
    num_out++;
  }
  return body_work_define(work, name, in, num_in, out, num_out, &b->gradients[i]);
}

/* --- the op's gradient --- */

static bool set_branches(Branches *b, BodyWork *work, NodeDef *def) {
  if (node_def_attr(b->node, "f") != NULL)
    return body_work_attr(work, def, "f", attr_value_func(work->arena, b->gradients[0], NULL));
  if (node_def_attr(b->node, "branches") == NULL) {
    return body_work_attr(work, def, "then_branch", attr_value_func(work->arena, b->gradients[0], NULL)) &&
           body_work_attr(work, def, "else_branch", attr_value_func(work->arena, b->gradients[1], NULL));
  }
  AttrValue *value = proto_new(kAttrValue, work->arena);
  AttrListValue *list = arena_alloc(work->arena, (int64_t)sizeof *list);
  if (value == NULL || list == NULL) return oom(b);
  tensorflow__attr_value__list_value__init(list);
  for (int i = 0; i < b->count; i++) {
    AttrValue *function = attr_value_func(work->arena, b->gradients[i], NULL);
    if (function == NULL) return oom(b);
    TRY(proto_append(work->arena, (void ***)&list->func, &list->n_func, function->func, b->status));
  }
  value->value_case = TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  value->list = list;
  return body_work_attr(work, def, "branches", value);
}

static bool build(Branches *b, BodyWork *work, const DataType *input_types, const DataType *output_types,
                  GradientEntry *entry) {
  int total = 1 + b->num_inputs + b->num_outputs, num_in = 0, num_out = 0;
  NodeOutput *args = arena_calloc(work->arena, total, sizeof *args);
  NodeOutput *rets = arena_calloc(work->arena, 1 + b->num_inputs, sizeof *rets);
  NodeOutput *in = arena_calloc(work->arena, total, sizeof *in);
  DataType *in_types = arena_calloc(work->arena, total, sizeof *in_types);
  DataType *out_types = arena_calloc(work->arena, total, sizeof *out_types);
  bool *no_flow = arena_calloc(b->library->arena, 1 + b->num_inputs, sizeof *no_flow);
  if (!args || !rets || !in || !in_types || !out_types || !no_flow) return oom(b);
  for (int i = 0; i < 1 + b->num_inputs; i++)
    TRY(body_work_placeholder(work, i == 0 ? "cond" : "x", input_types[i], &args[i]));
  for (int i = 0; i < b->num_outputs; i++)
    TRY(body_work_placeholder(work, "dy", output_types[i], &args[1 + b->num_inputs + i]));
  in[num_in++] = args[0];
  for (int i = 1; i < total; i++) {
    if (i > b->num_inputs && !b->arrives[i - 1 - b->num_inputs]) continue;
    in_types[num_in - 1] = (DataType)dtype_base(node_output_type(args[i]));
    in[num_in++] = args[i];
  }
  for (int i = 0; i < b->num_inputs; i++) {
    if (b->types[i] != DT_INVALID) out_types[num_out++] = b->types[i];
  }
  Node *branch = NULL;
  NodeDef *def = body_work_def(work, b->node->op, b->node->op);
  if (def == NULL) return false;
  const AttrValue *condition = node_def_attr(b->node, "Tcond");
  if (condition != NULL) TRY(body_work_type(work, def, "Tcond", (DataType)condition->type));
  TRY(body_work_types(work, def, "Tin", in_types, num_in - 1));
  TRY(body_work_types(work, def, "Tout", out_types, num_out));
  TRY(set_branches(b, work, def));
  TRY(body_work_add(work, def, in, num_in, &branch));
  num_out = 0;
  for (int i = 0; i < 1 + b->num_inputs; i++) {
    no_flow[i] = i == 0 || b->types[i - 1] == DT_INVALID;
    if (!no_flow[i]) {
      rets[i] = (NodeOutput){branch, num_out++};
    } else {
      bool resource = dtype_base(input_types[i]) == DT_RESOURCE;
      TRY(resource ? body_work_float_zero(work, &rets[i])
                   : body_work_zeros(work, args[i], DT_INVALID, &rets[i]));
    }
  }
  FunctionDef *function;
  const char *name = arena_printf(work->arena, "%sGradient", b->node->op);
  if (name == NULL) return oom(b);
  TRY(body_work_function(work, name, args, total, rets, 1 + b->num_inputs, b->library->arena, &function));
  *entry = (GradientEntry){.function = function, .no_flow = no_flow};
  return true;
}

static bool differentiate_all(Branches *b, const GradientQuery *query, GradientEntry *entry) {
  DataType *input_types, *output_types;
  int num_inputs, num_outputs;
  bool any = false;
  TRY(node_def_types(query->node, query->op->def, b->arena, &input_types, &num_inputs, &output_types,
                     &num_outputs, b->status));
  b->num_inputs = num_inputs - 1;
  b->num_outputs = num_outputs;
  TRY(find_branches(b));
  b->works = arena_calloc(b->arena, b->count, sizeof *b->works);
  b->inlined = arena_calloc(b->arena, b->count, sizeof *b->inlined);
  b->gradients = arena_calloc(b->arena, b->count, sizeof *b->gradients);
  b->arrives = arena_calloc(b->arena, num_outputs + 1, sizeof *b->arrives);
  b->types = arena_calloc(b->arena, num_inputs, sizeof *b->types);
  if (!b->works || !b->inlined || !b->gradients || !b->arrives || !b->types) {
    b->count = b->works == NULL ? 0 : b->count;
    return oom(b);
  }
  for (int i = 0; i < num_outputs; i++) {
    b->arrives[i] = gradient_flows_through(output_types[i]) && dtype_base(output_types[i]) != DT_RESOURCE &&
                    (query->flows == NULL || query->flows[i]);
  }
  for (int i = 0; i < b->count; i++) TRY(differentiate(b, i));
  for (int k = 0; k < b->num_inputs; k++) any = any || b->types[k] != DT_INVALID;
  *entry = (GradientEntry){0};
  if (!any) return true;
  for (int i = 0; i < b->count; i++) TRY(define(b, i));
  BodyWork work;
  bool ok = body_work_new(&work, b->library, b->status) && build(b, &work, input_types, output_types, entry);
  body_work_free(&work);
  return ok;
}

bool branch_gradient(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                     Status *status) {
  Branches b = {.library = library, .node = query->node, .status = status, .arena = arena_new()};
  bool ok = b.arena != NULL ? differentiate_all(&b, query, entry) : oom(&b);
  for (int i = 0; b.works != NULL && i < b.count; i++) body_work_free(&b.works[i]);
  arena_free(b.arena);
  return ok;
}
