#include "placement/partition_lines.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* --- reading --- */

static PartNode *add_part_node(PartNodes *parts, const char *device) {
  PartNode *node = &parts->nodes[parts->count];
  if (!CHECK(parts->count < PART_MOST_NODES - 1)) return node;
  parts->count++;
  *node = (PartNode){.device = device};
  return node;
}

/* On one host, TensorFlow's _HostSend and _HostRecv are the same. */
static const char *plain_op(const char *op) {
  return strcmp(op, "_HostSend") == 0 ? "_Send" : strcmp(op, "_HostRecv") == 0 ? "_Recv" : op;
}

static const char *maybe(const Json *node, const char *key) {
  const Json *value = json_get(node, key);
  return value ? value->string : NULL;
}

void add_json_part(PartNodes *parts, const char *device, const Json *nodes) {
  for (int i = 0; i < nodes->count; i++) {
    const Json *from = &nodes->items[i], *inputs = json_get(from, "inputs");
    PartNode *node = add_part_node(parts, device);
    node->name = json_get(from, "name")->string;
    node->op = plain_op(json_get(from, "op")->string);
    node->tensor_name = maybe(from, "tensor_name");
    node->recv_device = maybe(from, "recv_device");
    for (int k = 0; k < inputs->count && CHECK(k < PART_MOST_INPUTS); k++)
      node->inputs[node->num_inputs++] = inputs->items[k].string;
  }
}

static const char *text_attr(PartNodes *parts, const NodeDef *def, const char *attr) {
  Str value;
  Status ignored;
  status_init(&ignored);
  if (!node_def_attr(def, attr) || !node_attr_string(def, attr, &value, &ignored)) return NULL;
  return arena_strndup(parts->arena, value.data, value.length);
}

void add_graph_part(PartNodes *parts, const char *device, const Graph *graph, Status *status) {
  GraphDef *def;
  if (!CHECK_OK(graph_to_def(graph, parts->arena, &def, status), status)) return;
  for (size_t i = 0; i < def->n_node; i++) {
    const NodeDef *from = def->node[i];
    PartNode *node = add_part_node(parts, device);
    CHECK_STR_EQ(from->device, device);
    node->name = arena_strdup(parts->arena, from->name);
    node->op = arena_strdup(parts->arena, from->op);
    if (node->op[0] == '_') {
      node->tensor_name = text_attr(parts, from, "tensor_name");
      node->recv_device = text_attr(parts, from, "recv_device");
    }
    /* TensorFlow reads a reference where it is received. Here its _Send waits for what the reader waits for.
     */
    size_t num_inputs = strcmp(node->op, "_Send") == 0 ? 1 : from->n_input;
    for (size_t k = 0; k < num_inputs && CHECK(k < PART_MOST_INPUTS); k++)
      node->inputs[node->num_inputs++] = arena_strdup(parts->arena, from->input[k]);
  }
}

/* --- what nodes are called --- */

static bool is_new(const PartNodes *parts, const PartNode *node) {
  return !graph_find_node(parts->original, node->name) && strcmp(node->op, "_Arg") != 0 &&
         strcmp(node->op, "_Retval") != 0;
}

/* The node that an input names, on the same device. */
static const PartNode *node_named(const PartNodes *parts, const PartNode *reader, const char *input) {
  input += input[0] == '^';
  size_t length = strcspn(input, ":");
  for (int i = 0; i < parts->count; i++) {
    const PartNode *node = &parts->nodes[i];
    if (strcmp(node->device, reader->device) == 0 && strlen(node->name) == length &&
        strncmp(node->name, input, length) == 0)
      return node;
  }
  return NULL;
}

static void call(const PartNodes *parts, const PartNode *node, StrBuf *out);

static void call_input(const PartNodes *parts, const PartNode *reader, const char *input, StrBuf *out) {
  const PartNode *node = node_named(parts, reader, input);
  const char *output = strchr(input, ':');
  if (input[0] == '^') strbuf_append(out, "^");
  if (node) call(parts, node, out);
  if (!node) strbuf_printf(out, "NO NODE %s", input);
  if (output && strcmp(output, ":0") != 0) strbuf_append(out, output);
}

/* Another new node of the op, on the device, that reads this one first. */
static const PartNode *new_reader(const PartNodes *parts, const PartNode *node, const char *op) {
  for (int i = 0; i < parts->count; i++) {
    const PartNode *reader = &parts->nodes[i];
    if (strcmp(reader->device, node->device) == 0 && strcmp(reader->op, op) == 0 && is_new(parts, reader) &&
        reader->num_inputs > 0 && node_named(parts, reader, reader->inputs[0]) == node)
      return reader;
  }
  return NULL;
}

/* A control loop is known by its condition, which its Switch reads. */
static void call_loop(const PartNodes *parts, const PartNode *node, StrBuf *out) {
  const PartNode *merge = node;
  if (strcmp(node->op, "Enter") == 0) merge = new_reader(parts, node, "Merge");
  if (strcmp(node->op, "NextIteration") == 0) merge = NULL;
  if (strcmp(node->op, "Switch") == 0) merge = node_named(parts, node, node->inputs[0]);
  if (!merge)
    for (int i = 0; i < parts->count && !merge; i++) { /* a NextIteration is the Merge's second input */
      const PartNode *other = &parts->nodes[i];
      if (strcmp(other->op, "Merge") == 0 && is_new(parts, other) &&
          node_named(parts, other, other->inputs[1]) == node && strcmp(other->device, node->device) == 0)
        merge = other;
    }
  const PartNode *pivot = merge ? new_reader(parts, merge, "Switch") : NULL;
  if (pivot) call_input(parts, pivot, pivot->inputs[1], out);
}

static const PartNode *sender_of(const PartNodes *parts, const PartNode *recv) {
  for (int i = 0; i < parts->count; i++) {
    const PartNode *send = &parts->nodes[i];
    if (strcmp(send->op, "_Send") == 0 && strcmp(send->tensor_name, recv->tensor_name) == 0 &&
        strcmp(send->recv_device, recv->recv_device) == 0)
      return send;
  }
  return NULL;
}

static void call(const PartNodes *parts, const PartNode *node, StrBuf *out) {
  if (!is_new(parts, node)) {
    strbuf_append(out, node->name);
    return;
  }
  strbuf_printf(out, "%s<", node->op);
  const PartNode *send = strcmp(node->op, "_Recv") == 0 ? sender_of(parts, node) : NULL;
  if (send) {
    call_input(parts, send, send->inputs[0], out);
  } else if (strcmp(node->op, "Enter") == 0 || strcmp(node->op, "Merge") == 0 ||
             strcmp(node->op, "Switch") == 0 || strcmp(node->op, "NextIteration") == 0) {
    call_loop(parts, node, out);
  } else if (node->num_inputs > 0) {
    call_input(parts, node, node->inputs[0], out);
  }
  if (strcmp(node->op, "_Send") == 0) strbuf_printf(out, " to %s", node->recv_device);
  strbuf_append(out, ">");
}

/* --- lines --- */

static int compare_lines(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* TensorFlow lets some nodes wait for the Merge of a control loop whose _Recv waits for it already. */
static bool is_repeated(const PartNodes *parts, const PartNode *node, const char *input) {
  const PartNode *merge = input[0] == '^' ? node_named(parts, node, input) : NULL;
  return merge && is_new(parts, merge) && strcmp(merge->op, "Merge") == 0 && strcmp(node->op, "_Recv") != 0;
}

static const char *line_of(const PartNodes *parts, const PartNode *node) {
  StrBuf line = {0};
  const char *controls[PART_MOST_INPUTS];
  int num_controls = 0;
  strbuf_printf(&line, "%s: ", node->device + strlen(node->device) - 5);
  call(parts, node, &line);
  strbuf_printf(&line, " = %s(", node->op);
  for (int i = 0; i < node->num_inputs; i++) {
    StrBuf input = {0};
    if (is_repeated(parts, node, node->inputs[i])) continue;
    call_input(parts, node, node->inputs[i], &input);
    if (node->inputs[i][0] == '^') {
      controls[num_controls++] = arena_strdup(parts->arena, strbuf_text(&input));
    } else {
      strbuf_printf(&line, "%s, ", strbuf_text(&input));
    }
    strbuf_free(&input);
  }
  qsort(controls, (size_t)num_controls, sizeof *controls, compare_lines);
  for (int i = 0; i < num_controls; i++) strbuf_printf(&line, "%s, ", controls[i]);
  strbuf_append(&line, ")");
  const char *text = arena_strdup(parts->arena, strbuf_text(&line));
  strbuf_free(&line);
  return text;
}

void print_parts(const PartNodes *parts, StrBuf *out) {
  const char *lines[PART_MOST_NODES];
  for (int i = 0; i < parts->count; i++) lines[i] = line_of(parts, &parts->nodes[i]);
  qsort(lines, (size_t)parts->count, sizeof *lines, compare_lines);
  for (int i = 0; i < parts->count; i++) strbuf_printf(out, "%s\n", lines[i]);
}
