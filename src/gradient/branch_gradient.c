/* The gradient of If and Case: an If or Case of the gradients of the branches. A RemoteCall is handled as
 * one branch with an extra first input, the device; a call of a function as one branch without extra
 * input.
 *
 * Intermediates that the gradient of a branch reads become additional outputs of the branch and of the op.
 * The other branches give some value of the same type there, which is not read. */
#include <string.h>

#include "gradient/intermediates.h"

typedef struct Branch {
  const NameAttrList *function;
  BodyWork work;
  SplicedFunction spliced;
  Intermediates kept;
  int *outputs;         /* per intermediate: the output that has it */
  NodeOutput *slots;    /* per additional output; a NULL node where only another branch has a value */
  const char *gradient; /* in the library */
  const char *forward;
} Branch;

typedef struct Branches {
  GradientLibrary *library;
  const NodeDef *node;
  Status *status;
  Arena *arena; /* freed when the gradient is made */
  Branch *branches;
  int count;
  int first;                   /* inputs before those of the branches */
  int num_inputs, num_outputs; /* of a branch */
  const DataType *input_types, *output_types;
  bool *arrives;        /* per output */
  DataType *types;      /* per input: the type of its gradient; DT_INVALID without one */
  bool *passed;         /* per input: the gradients of the branches read it */
  bool *read;           /* per output, including additional ones: the gradients read it */
  DataType *slot_types; /* of the additional outputs */
  int num_slots;
} Branches;

static bool oom(Branches *b) { return status_oom(b->status, "the gradient of a branch"); }

bool gradient_is_branch(const Op *op) {
  return op->node_class == NODE_IF || op->node_class == NODE_CASE || op->node_class == NODE_REMOTE_CALL;
}

static bool new_branches(Branches *b, int count) {
  b->branches = arena_calloc(b->arena, count, sizeof *b->branches);
  if (!b->branches) return oom(b);
  b->count = count;
  return true;
}

/* The op is the function itself. */
static bool find_callee(Branches *b) {
  NameAttrList *callee = arena_alloc(b->arena, (int64_t)sizeof *callee);
  if (!callee || !new_branches(b, 1)) return oom(b);
  *callee = (NameAttrList)TENSORFLOW__NAME_ATTR_LIST__INIT;
  callee->name = b->node->op;
  /* All map entries have the same layout: a key and a value. */
  callee->attr = (FuncAttrEntry **)b->node->attr;
  callee->n_attr = b->node->n_attr;
  b->branches[0].function = callee;
  return true;
}

static bool find_branches(Branches *b) {
  const AttrValue *list = node_def_attr(b->node, "branches");
  if (graph_find_function(b->library->functions, b->node->op)) return find_callee(b);
  if (node_def_attr(b->node, "f"))
    return new_branches(b, 1) && gradient_called(b->node, "f", &b->branches[0].function, b->status);
  if (!list) {
    return new_branches(b, 2) &&
           gradient_called(b->node, "then_branch", &b->branches[0].function, b->status) &&
           gradient_called(b->node, "else_branch", &b->branches[1].function, b->status);
  }
  if (list->value_case != (int)ATTR_LIST || list->list->n_func < 1 ||
      list->list->n_func > FUNCTION_MAX_EXPANDED)
    return status_invalid(b->status, "No functions in attr 'branches' of op %s", b->node->op);
  TRY(new_branches(b, (int)list->list->n_func));
  for (int i = 0; i < b->count; i++) b->branches[i].function = list->list->func[i];
  return true;
}

static bool differentiate(Branches *b, Branch *branch) {
  TRY(body_work_new(&branch->work, b->library, b->status));
  TRY(body_work_splice(&branch->work, branch->function, true, &branch->spliced));
  const FunctionBody *body = branch->spliced.body;
  if (body->num_args != b->num_inputs || body->num_rets != b->num_outputs) {
    return status_invalid(b->status, "Branch %s of op %s has %d arguments and %d results, not %d and %d",
                          body->name, b->node->op, body->num_args, body->num_rets, b->num_inputs,
                          b->num_outputs);
  }
  TRY(body_work_differentiate(&branch->work, &branch->spliced, b->arrives));
  for (int k = 0; k < b->num_inputs; k++) {
    NodeOutput dx = branch->spliced.dxs[k];
    if (!dx.node) continue;
    DataType type = (DataType)dtype_base(node_output_type(dx));
    if (b->types[k] != DT_INVALID && b->types[k] != type)
      return status_invalid(b->status, "Branches of op %s give gradients of types %s and %s", b->node->op,
                            dtype_name((int)b->types[k]), dtype_name((int)type));
    b->types[k] = type;
  }
  return true;
}

/* --- intermediates --- */

/* Adds zeros where another branch has a gradient, and then finds the intermediates. */
static bool find_kept(Branches *b, Branch *branch) {
  BodyWork *work = &branch->work;
  bool *given = arena_calloc(work->arena, b->num_inputs + 1, sizeof *given);
  if (!given) return oom(b);
  for (int k = 0; k < b->num_inputs; k++) {
    NodeOutput *dx = &branch->spliced.dxs[k];
    given[k] = true;
    if (b->types[k] != DT_INVALID && !dx->node)
      TRY(body_work_zeros(work, branch->spliced.args[k], b->types[k], dx));
  }
  TRY(intermediates_find(work, &branch->spliced, given, RECOMPUTE_CHEAP, &branch->kept));
  for (int k = 0; k < b->num_inputs; k++) b->passed[k] = b->passed[k] || branch->kept.used[k];
  return true;
}

static int find_result(const Branch *branch, NodeOutput value) {
  for (int i = 0; i < branch->spliced.body->num_rets; i++) {
    NodeOutput ret = branch->spliced.rets[i];
    if (ret.node == value.node && ret.index == value.index) return i;
  }
  return -1;
}

/* Values of the same type in different branches share an output. */
static bool assign_outputs(Branches *b, Branch *branch) {
  Arena *arena = branch->work.arena;
  const Intermediates *kept = &branch->kept;
  branch->outputs = arena_calloc(arena, kept->count + 1, sizeof *branch->outputs);
  branch->slots = arena_calloc(b->arena, b->num_slots + kept->count + 1, sizeof *branch->slots);
  DataType *types = arena_calloc(b->arena, b->num_slots + kept->count + 1, sizeof *types);
  if (!branch->outputs || !branch->slots || !types) return oom(b);
  if (b->num_slots > 0) memcpy(types, b->slot_types, (size_t)b->num_slots * sizeof *types);
  b->slot_types = types;
  for (int i = 0; i < kept->count; i++) {
    DataType type = (DataType)dtype_base(node_output_type(kept->values[i]));
    int slot = 0;
    branch->outputs[i] = find_result(branch, kept->values[i]);
    if (branch->outputs[i] >= 0) continue;
    while (slot < b->num_slots && (types[slot] != type || branch->slots[slot].node)) slot++;
    types[slot] = type;
    if (slot == b->num_slots) b->num_slots++;
    branch->slots[slot] = kept->values[i];
    branch->outputs[i] = b->num_outputs + slot;
  }
  return true;
}

static bool mark_read(Branches *b) {
  b->read = arena_calloc(b->arena, b->num_outputs + b->num_slots + 1, sizeof *b->read);
  if (!b->read) return oom(b);
  for (int i = 0; i < b->count; i++) {
    const Branch *branch = &b->branches[i];
    for (int k = 0; k < branch->kept.count; k++) b->read[branch->outputs[k]] = true;
  }
  return true;
}

static DataType output_type(const Branches *b, int i) {
  return (DataType)dtype_base(
      (int)(i < b->num_outputs ? b->output_types[i] : b->slot_types[i - b->num_outputs]));
}

/* --- the branches --- */

static bool add_fake(BodyWork *work, DataType type, NodeOutput *output) {
  NodeBuilder fake;
  body_work_node(&fake, work, "FakeParam", "other");
  node_builder_type(&fake, "dtype", type);
  node_builder_attr(&fake, "shape", attr_value_shape(node_builder_arena(&fake), -1, NULL));
  return body_work_finish(work, &fake, output);
}

static bool define_forward(Branches *b, Branch *branch, int num_slots) {
  BodyWork *work = &branch->work;
  int count = b->num_outputs + b->num_slots;
  NodeOutput *out = arena_calloc(work->arena, count + 1, sizeof *out);
  const char *name = body_work_name(work, branch->spliced.body->name, "_forward");
  if (!out || !name) return oom(b);
  for (int i = 0; i < count; i++) {
    int slot = i - b->num_outputs;
    if (slot < 0) {
      out[i] = branch->spliced.rets[i];
    } else if (slot < num_slots && branch->slots[slot].node) {
      out[i] = branch->slots[slot];
    } else {
      TRY(add_fake(work, b->slot_types[slot], &out[i]));
    }
  }
  return body_work_define(work, name, branch->spliced.args, b->num_inputs, out, count, &branch->spliced,
                          &branch->forward);
}

/* The gradient of a branch: its inputs are the inputs, outputs and incoming gradients that are read; its
 * results the gradients that any branch has. */
static bool define_gradient(Branches *b, Branch *branch) {
  BodyWork *work = &branch->work;
  int num_outputs = b->num_outputs + b->num_slots, num_in = 0, num_out = 0;
  NodeOutput *in = arena_calloc(work->arena, b->num_inputs + 2 * num_outputs + 1, sizeof *in);
  NodeOutput *out = arena_calloc(work->arena, b->num_inputs + 1, sizeof *out);
  NodeOutput *outputs = arena_calloc(work->arena, num_outputs + 1, sizeof *outputs);
  NodeOutput *items = arena_calloc(work->arena, branch->kept.count + 1, sizeof *items);
  const char *name = body_work_name(work, branch->spliced.body->name, "_grad");
  if (!in || !out || !outputs || !items || !name) return oom(b);
  for (int k = 0; k < b->num_inputs; k++) {
    if (b->passed[k]) in[num_in++] = branch->spliced.args[k];
  }
  for (int k = 0; k < num_outputs; k++) {
    if (!b->read[k]) continue;
    TRY(body_work_placeholder(work, "y", output_type(b, k), &outputs[k]));
    in[num_in++] = outputs[k];
  }
  for (int k = 0; k < b->num_outputs; k++) {
    if (b->arrives[k]) in[num_in++] = branch->spliced.dys[k];
  }
  for (int k = 0; k < branch->kept.count; k++) items[k] = outputs[branch->outputs[k]];
  TRY(intermediates_replace(&branch->kept, work, &branch->spliced, items));
  for (int k = 0; k < b->num_inputs; k++) {
    if (b->types[k] != DT_INVALID) out[num_out++] = branch->spliced.dxs[k];
  }
  return body_work_define(work, name, in, num_in, out, num_out, NULL, &branch->gradient);
}

/* --- the op --- */

/* Sets the attrs that name the branches or their gradients (at most two), in the library's arena. */
typedef struct BranchAttrs {
  const char *names[2];
  AttrValue *values[2];
  int count;
} BranchAttrs;

static AttrValue *branch_list(Branches *b, bool gradients) {
  Arena *arena = b->library->arena;
  AttrListValue *list = arena_alloc(arena, (int64_t)sizeof *list);
  AttrValue *value = proto_new(kAttrValue, arena);
  if (!list || !value) return NULL;
  tensorflow__attr_value__list_value__init(list);
  for (int i = 0; i < b->count; i++) {
    const Branch *branch = &b->branches[i];
    AttrValue *function = attr_value_func(arena, gradients ? branch->gradient : branch->forward, NULL);
    if (!function || !proto_append(arena, (void ***)&list->func, &list->n_func, function->func, b->status))
      return NULL;
  }
  value->value_case = TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  value->list = list;
  return value;
}

static bool branch_attrs(Branches *b, bool gradients, BranchAttrs *attrs) {
  bool in_list = node_def_attr(b->node, "branches") != NULL;
  attrs->count = in_list ? 1 : b->count;
  for (int i = 0; i < attrs->count; i++) {
    const Branch *branch = &b->branches[i];
    const char *function = gradients ? branch->gradient : branch->forward;
    attrs->names[i] = in_list ? "branches" : b->count == 1 ? "f" : i == 0 ? "then_branch" : "else_branch";
    attrs->values[i] =
        in_list ? branch_list(b, gradients) : attr_value_func(b->library->arena, function, NULL);
    if (!attrs->values[i]) return oom(b);
  }
  return true;
}

static bool is_direct_call(const Branches *b) { return b->first == 0 && !node_def_attr(b->node, "Tout"); }

/* The op after the change. */
static bool change_forward(Branches *b, BodyWork *work, GradientEntry *entry) {
  Arena *arena = b->library->arena;
  ForwardChange *change = arena_calloc(arena, 1, (int64_t)sizeof *change);
  int count = b->num_outputs + b->num_slots;
  int *types = arena_calloc(arena, count + 1, sizeof *types);
  BranchAttrs branches;
  NodeDef *def;
  if (!change || !types) return oom(b);
  if (is_direct_call(b)) {
    def = node_def_new(arena, b->node->name, b->branches[0].forward);
    if (!def) return oom(b);
  } else {
    for (int i = 0; i < count; i++) types[i] = (int)output_type(b, i);
    AttrValue *outputs = attr_value_type_list(arena, types, (size_t)count);
    if (!outputs) return oom(b);
    TRY(body_work_copy_def(work, b->node, &def));
    TRY(node_def_set_attr(def, arena, "Tout", outputs, b->status));
    TRY(body_work_widen_shapes(work, def, (size_t)count));
    TRY(branch_attrs(b, false, &branches));
    for (int i = 0; i < branches.count; i++)
      TRY(node_def_set_attr(def, arena, branches.names[i], branches.values[i], b->status));
  }
  change->def = def;
  entry->forward = change;
  return true;
}

static const char *gradient_op(const Branches *b) {
  return b->first == 0 ? "StatefulPartitionedCall" : b->node->op;
}

static bool add_branching(Branches *b, BodyWork *work, const NodeOutput *in, int num_in, Node **node) {
  DataType *in_types = arena_calloc(work->arena, num_in + 1, sizeof *in_types);
  DataType *out_types = arena_calloc(work->arena, b->num_inputs + 1, sizeof *out_types);
  const AttrValue *condition = node_def_attr(b->node, "Tcond");
  BranchAttrs branches;
  NodeBuilder call;
  int num_out = 0;
  if (!in_types || !out_types) return oom(b);
  for (int i = b->first; i < num_in; i++)
    in_types[i - b->first] = (DataType)dtype_base(node_output_type(in[i]));
  for (int i = 0; i < b->num_inputs; i++) {
    if (b->types[i] != DT_INVALID) out_types[num_out++] = b->types[i];
  }
  TRY(branch_attrs(b, true, &branches));
  body_work_node(&call, work, gradient_op(b), gradient_op(b));
  if (condition) node_builder_type(&call, "Tcond", (DataType)condition->type);
  node_builder_types(&call, "Tin", in_types, num_in - b->first);
  node_builder_types(&call, "Tout", out_types, num_out);
  for (int i = 0; i < branches.count; i++) node_builder_attr(&call, branches.names[i], branches.values[i]);
  node_builder_inputs(&call, in, num_in);
  return node_builder_finish(&call, node, b->status);
}

static bool build(Branches *b, BodyWork *work, GradientEntry *entry) {
  int num_x = b->first + b->num_inputs, num_y = b->num_outputs + b->num_slots, num_in = 0, num_out = 0;
  int total = num_x + num_y + b->num_outputs;
  NodeOutput *args = arena_calloc(work->arena, total + 1, sizeof *args);
  NodeOutput *rets = arena_calloc(work->arena, num_x + 1, sizeof *rets);
  NodeOutput *in = arena_calloc(work->arena, total + 1, sizeof *in);
  bool *no_flow = arena_calloc(b->library->arena, num_x + 1, sizeof *no_flow);
  if (!args || !rets || !in || !no_flow) return oom(b);
  NodeOutput *ys = args + num_x, *dys = ys + num_y;
  for (int i = 0; i < num_x; i++) {
    TRY(body_work_placeholder(work, i < b->first ? "cond" : "x", b->input_types[i], &args[i]));
    if (i < b->first || b->passed[i - b->first]) in[num_in++] = args[i];
  }
  for (int i = 0; i < num_y; i++) {
    TRY(body_work_placeholder(work, "y", output_type(b, i), &ys[i]));
    if (b->read[i]) in[num_in++] = ys[i];
  }
  for (int i = 0; i < b->num_outputs; i++) {
    TRY(body_work_placeholder(work, "dy", b->output_types[i], &dys[i]));
    if (b->arrives[i]) in[num_in++] = dys[i];
  }
  Node *branch;
  TRY(add_branching(b, work, in, num_in, &branch));
  for (int i = 0; i < num_x; i++) {
    no_flow[i] = i < b->first || b->types[i - b->first] == DT_INVALID;
    if (no_flow[i]) {
      TRY(body_work_no_gradient(work, args[i], &rets[i]));
    } else {
      rets[i] = (NodeOutput){branch, num_out++};
    }
  }
  FunctionDef *function;
  const char *name = arena_printf(work->arena, "%sGradient", b->node->op);
  if (!name) return oom(b);
  TRY(body_work_function(work, name, args, total, rets, num_x, b->library->arena, &function));
  *entry = (GradientEntry){.function = function, .no_flow = no_flow, .keeps = true};
  return b->num_slots == 0 || change_forward(b, work, entry);
}

static bool differentiate_all(Branches *b, const GradientQuery *query, GradientEntry *entry) {
  DataType *input_types, *output_types;
  int num_inputs, num_outputs;
  bool any = false;
  TRY(node_def_types(query->node, query->op->def, b->arena, &input_types, &num_inputs, &output_types,
                     &num_outputs, b->status));
  b->first = gradient_is_branch(query->op) ? 1 : 0;
  b->num_inputs = num_inputs - b->first;
  b->num_outputs = num_outputs;
  b->input_types = input_types;
  b->output_types = output_types;
  TRY(find_branches(b));
  b->arrives = arena_calloc(b->arena, num_outputs + 1, sizeof *b->arrives);
  b->types = arena_calloc(b->arena, num_inputs + 1, sizeof *b->types);
  b->passed = arena_calloc(b->arena, num_inputs + 1, sizeof *b->passed);
  if (!b->arrives || !b->types || !b->passed) return oom(b);
  for (int i = 0; i < num_outputs; i++) {
    b->arrives[i] = gradient_flows_through(output_types[i]) && dtype_base(output_types[i]) != DT_RESOURCE &&
                    (!query->flows || query->flows[i]);
  }
  for (int i = 0; i < b->count; i++) TRY(differentiate(b, &b->branches[i]));
  for (int k = 0; k < b->num_inputs; k++) any = any || b->types[k] != DT_INVALID;
  *entry = (GradientEntry){0};
  if (!any) return true;
  int *num_slots = arena_calloc(b->arena, b->count, sizeof *num_slots);
  if (!num_slots) return oom(b);
  for (int i = 0; i < b->count; i++) {
    TRY(find_kept(b, &b->branches[i]));
    TRY(assign_outputs(b, &b->branches[i]));
    num_slots[i] = b->num_slots;
  }
  TRY(mark_read(b));
  for (int i = 0; i < b->count; i++) {
    if (b->num_slots > 0) TRY(define_forward(b, &b->branches[i], num_slots[i]));
  }
  for (int i = 0; i < b->count; i++) TRY(define_gradient(b, &b->branches[i]));
  BodyWork work;
  bool ok = body_work_new(&work, b->library, b->status) && build(b, &work, entry);
  body_work_free(&work);
  return ok;
}

bool branch_gradient(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                     Status *status) {
  Branches b = {.library = library, .node = query->node, .status = status, .arena = arena_new()};
  bool ok = b.arena ? differentiate_all(&b, query, entry) : oom(&b);
  for (int i = 0; i < b.count; i++) body_work_free(&b.branches[i].work);
  arena_free(b.arena);
  return ok;
}
