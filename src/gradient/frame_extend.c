#include "gradient/frame_extend.h"

#include <string.h>

#include "graph/node_class.h"

static bool oom(const FrameExtend *f) { return status_oom(f->work->status, "the gradient of a loop"); }

static NodeOutput input_of(const Node *node, int i) {
  return edge_value(i < node->num_inputs ? node->inputs[i] : NULL);
}

static NodeOutput behind_identities(NodeOutput value) {
  while (value.node && node_is_identity(value.node)) value = input_of(value.node, 0);
  return value;
}

static bool is_op(const Node *node, const char *op) { return node && strcmp(node->def->op, op) == 0; }

static bool same(NodeOutput a, NodeOutput b) { return a.node == b.node && a.index == b.index; }

/* --- nodes of a variable --- */

static bool add_unary(BodyWork *work, const char *op, NodeOutput input, NodeOutput *output) {
  return body_work_op(work, op, &input, 1, output);
}

static bool add_enter(const FrameExtend *f, NodeOutput start, NodeOutput *enter) {
  NodeBuilder b;
  const char *frame = f->loop->frame_name;
  body_work_node(&b, f->work, "Enter", "Enter");
  node_builder_type(&b, "T", node_output_type(start));
  node_builder_attr(&b, "frame_name", attr_value_string(node_builder_arena(&b), frame, strlen(frame)));
  node_builder_int(&b, "parallel_iterations", f->loop->parallel_iterations);
  node_builder_input(&b, start);
  return body_work_finish(f->work, &b, enter);
}

/* Enter, Merge and Switch. The Merge waits for its NextIteration (close_variable). */
static bool open_variable(const FrameExtend *f, NodeOutput start, Node **merge, Node **split) {
  NodeBuilder b;
  NodeOutput enter, merged, chosen;
  TRY(add_enter(f, start, &enter));
  body_work_node(&b, f->work, "Merge", "Merge");
  node_builder_type(&b, "T", node_output_type(start));
  node_builder_int(&b, "N", 2);
  node_builder_input(&b, enter);
  node_builder_input(&b, enter);
  TRY(body_work_finish(f->work, &b, &merged));
  body_work_node(&b, f->work, "Switch", "Switch");
  node_builder_type(&b, "T", node_output_type(start));
  node_builder_input(&b, merged);
  node_builder_input(&b, (NodeOutput){f->loop->condition, 0});
  TRY(body_work_finish(f->work, &b, &chosen));
  *merge = merged.node;
  *split = chosen.node;
  return true;
}

static bool close_variable(const FrameExtend *f, Node *merge, NodeOutput value) {
  NodeOutput next;
  TRY(add_unary(f->work, "NextIteration", value, &next));
  return graph_update_edge(f->work->graph, next.node, 0, merge, 1, f->work->status);
}

static bool add_exit(const FrameExtend *f, Node *split, NodeOutput *exit) {
  for (int32_t i = 0; i < split->num_out_edges; i++) {
    const Edge *edge = split->out_edges[i];
    if (edge->src_output != 0 || !node_is_exit(edge->dst)) continue;
    *exit = (NodeOutput){edge->dst, 0};
    return true;
  }
  return add_unary(f->work, "Exit", (NodeOutput){split, 0}, exit);
}

/* New names begin as that of the LoopCond does. */
static bool begin(const FrameExtend *f, BodyWork *work) {
  const char *name = f->loop->condition->name, *slash = strrchr(name, '/');
  *work = *f->work;
  work->scope = !slash ? NULL : arena_strndup(work->arena, name, (size_t)(slash - name));
  work->pivot = f->outside;
  return !slash || work->scope || oom(f);
}

bool frame_extend_exit(const FrameExtend *f, Node *split, NodeOutput *exit) {
  BodyWork work;
  int64_t first = graph_num_node_ids(f->work->graph);
  TRY(begin(f, &work));
  return add_exit(&(FrameExtend){&work, f->loop, f->outside}, split, exit) &&
         gradient_site_add_forward(work.site, first);
}

/* --- the counter --- */

static bool is_int32(const FrameExtend *f, NodeOutput value, int wanted, bool *is) {
  Tensor tensor = {0};
  bool known;
  *is = false;
  if (!value.node || !node_is_const(value.node)) return true;
  TRY(graph_constant_value(f->work->graph, value, &tensor, &known, f->work->status));
  *is = known && tensor.dtype == DT_INT32 && tensor_is_scalar(&tensor) && *tensor_i32(&tensor) == wanted;
  if (known) tensor_clear(&tensor);
  return true;
}

/* Begins with 0 and grows by 1. */
static bool is_counter(const FrameExtend *f, const FrameVariable *variable, bool *is) {
  NodeOutput sum = behind_identities(input_of(variable->next, 0));
  NodeOutput value = {variable->split, 1};
  *is = false;
  if (!is_op(sum.node, "AddV2") && !is_op(sum.node, "Add")) return true;
  TRY(is_int32(f, input_of(variable->enter, 0), 0, is));
  for (int i = 0; *is && i < 2; i++) {
    if (same(behind_identities(input_of(sum.node, i)), value))
      return is_int32(f, input_of(sum.node, 1 - i), 1, is);
  }
  *is = false;
  return true;
}

static bool add_count(const FrameExtend *f, NodeOutput *count, Node **pivot) {
  BodyWork inside = *f->work;
  Node *merge, *split;
  NodeOutput start, terms[2], sum;
  TRY(body_work_int32(f->work, "no_rounds", 0, &start));
  TRY(open_variable(f, start, &merge, &split));
  TRY(add_unary(f->work, "Identity", (NodeOutput){split, 1}, &terms[0]));
  inside.pivot = *pivot = terms[0].node;
  TRY(body_work_int32(&inside, "one", 1, &terms[1]));
  TRY(body_work_op(f->work, "AddV2", terms, 2, &sum));
  return close_variable(f, merge, sum) && add_exit(f, split, count);
}

static bool find_count(const FrameExtend *f, NodeOutput *count, Node **pivot) {
  bool found = false;
  const FrameVariable *variable = f->loop->variables;
  for (int i = 0; i < f->loop->num_variables && !found; i++, variable++) {
    TRY(is_counter(f, variable, &found));
    if (found) break;
  }
  if (!found) return add_count(f, count, pivot);
  NodeOutput inside;
  TRY(add_unary(f->work, "Identity", (NodeOutput){variable->split, 1}, &inside));
  *pivot = inside.node;
  return add_exit(f, variable->split, count);
}

bool frame_extend_count(const FrameExtend *f, NodeOutput *count, Node **pivot) {
  BodyWork work;
  int64_t first = graph_num_node_ids(f->work->graph);
  TRY(begin(f, &work));
  return find_count(&(FrameExtend){&work, f->loop, f->outside}, count, pivot) &&
         gradient_site_add_forward(work.site, first);
}

/* --- lists --- */

static bool is_list_of(const FrameVariable *variable, NodeOutput value) {
  const Node *push = input_of(variable->next, 0).node;
  return is_op(push, "TensorListPushBack") && same(input_of(push, 0), (NodeOutput){variable->split, 1}) &&
         same(input_of(push, 1), value) && is_op(input_of(variable->enter, 0).node, "EmptyTensorList");
}

static bool add_list(const FrameExtend *f, NodeOutput value, NodeOutput *list) {
  NodeOutput start, pushed;
  Node *merge, *split;
  for (int i = 0; i < f->loop->num_variables; i++) {
    if (is_list_of(&f->loop->variables[i], value)) return add_exit(f, f->loop->variables[i].split, list);
  }
  TRY(body_work_empty_list(f->work, (DataType)dtype_base(node_output_type(value)), &start));
  TRY(open_variable(f, start, &merge, &split));
  TRY(body_work_push(f->work, (NodeOutput){split, 1}, value, &pushed));
  return close_variable(f, merge, pushed) && add_exit(f, split, list);
}

bool frame_extend_list(const FrameExtend *f, NodeOutput value, NodeOutput *list) {
  BodyWork work;
  int64_t first = graph_num_node_ids(f->work->graph);
  TRY(begin(f, &work));
  return add_list(&(FrameExtend){&work, f->loop, f->outside}, value, list) &&
         gradient_site_add_forward(work.site, first);
}
