#include "placement/placer.h"

#include <string.h>

#include "base/log.h"
#include "graph/node_class.h"
#include "placement/colocation.h"

enum { NOT_PLACED = -1 };

typedef struct Placer {
  const Graph *graph;
  const PlacerOptions *options;
  Colocation colocation;
  int32_t *device_of;
  Status *status;
} Placer;

/* --- errors --- */

static bool is_of_type(const DeviceName *name, const char *type) {
  return name->type.data && str_equal_text(name->type, type);
}

/* No device has what the node itself asks for. */
static void describe_missing(const Placer *p, const Node *node, const DeviceName *requested, StrBuf *out) {
  strbuf_printf(out, "{{node %s}} was explicitly assigned to %s but available devices are [ ", node->name,
                node->def->device);
  device_set_print(p->options->devices, out);
  strbuf_append(out, " ]. Make sure the device specification refers to a valid device.");
  if (is_of_type(requested, "GPU"))
    strbuf_append(out, " The requested device appears to be a GPU, but CUDA is not enabled.");
}

/* It is the group that asks for too much. */
static void describe_group(const Placer *p, const Node *node, const Member *root, StrBuf *out) {
  strbuf_printf(out,
                "Could not satisfy explicit device specification '%s' because the node {{colocation_node "
                "%s}} "
                "was colocated with a group of nodes that required incompatible device '",
                node->def->device, node->name);
  device_name_print(&root->requested, out);
  strbuf_append(out, "'. All available devices [");
  device_set_print(p->options->devices, out);
  strbuf_append(out, "]. ");
  colocation_describe(&p->colocation, node, out);
}

static bool no_device(const Placer *p, const Node *node, const Member *root) {
  StrBuf text = {0};
  DeviceName requested;
  bool known = device_name_parse(str_of(node->def->device), &requested);
  if (known && !device_set_match(p->options->devices, &requested)) {
    describe_missing(p, node, &requested, &text);
  } else {
    describe_group(p, node, root, &text);
  }
  if (strbuf_ok(&text, p->status)) {
    status_invalid(p->status, "Cannot assign a device for operation %s: %s", node->name, strbuf_text(&text));
    node_attach_level(node->name, p->status);
  }
  strbuf_free(&text);
  return false;
}

/* --- choosing --- */

/* What devices of the group must match: what it asks for or, where there is no such device and placement is
 * soft, any device of the same process. False when there is none. */
static bool find_pattern(const Placer *p, const Node *node, DeviceName *pattern) {
  const Member *root = colocation_root(&p->colocation, node);
  *pattern = root->requested;
  if (device_set_match(p->options->devices, pattern)) return true;
  pattern->type = (Str){0};
  pattern->id = DEVICE_PART_OPEN;
  return (p->options->allow_soft_placement && device_set_match(p->options->devices, pattern)) ||
         no_device(p, node, root);
}

/* `preferred` if the group may be there, else the first device where it may. */
static bool choose(Placer *p, const Node *node, int32_t preferred) {
  DeviceName pattern;
  TRY(find_pattern(p, node, &pattern));
  const Device *devices = p->options->devices->devices;
  bool fits = preferred != NOT_PLACED && device_name_matches(&devices[preferred].parsed, &pattern);
  p->device_of[node->id] =
      fits ? preferred : (int32_t)(device_set_match(p->options->devices, &pattern) - devices);
  return true;
}

/* A node that makes one value out of nothing, and no reference. */
static bool is_generator(const Node *node) {
  return node->num_inputs == 0 && node->num_outputs == 1 && !dtype_is_ref(node->output_types[0]);
}

/* Where all consumers are; NOT_PLACED when they are not in one place, or there are none. */
static int32_t place_of_consumers(const Placer *p, const Node *node) {
  int32_t place = NOT_PLACED;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    int32_t other = p->device_of[node->out_edges[i]->dst->id];
    if (other == NOT_PLACED || (place != NOT_PLACED && place != other)) return NOT_PLACED;
    place = other;
  }
  return place;
}

/* A node that needs no more than the shape of its input is best there where the input is. */
static int32_t place_of_input(const Placer *p, const Node *node) {
  const Edge *edge = node_is_shape_query(node) ? node_input_edge(node, 0) : NULL;
  return edge ? p->device_of[edge->src->id] : NOT_PLACED;
}

/* Generators come second: they go where their consumers are. */
static bool place_nodes(Placer *p, bool generators) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(p->graph); id++) {
    const Node *node = graph_node(p->graph, id);
    if (!node || is_generator(node) != generators) continue;
    TRY(choose(p, node, generators ? place_of_consumers(p, node) : place_of_input(p, node)));
  }
  return true;
}

/* Whether every node asks for the first device, or for less than a certain one: with one device there is
 * nothing to choose then. */
static bool first_suffices(const Placer *p) {
  const char *last = "";
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(p->graph); id++) {
    const Node *node = graph_node(p->graph, id);
    if (!node || !node->def->device[0] || strcmp(node->def->device, last) == 0) continue;
    DeviceName requested;
    if (!device_name_parse(str_of(node->def->device), &requested) ||
        !device_name_matches(&p->options->devices->devices[0].parsed, &requested))
      return false;
    last = node->def->device;
  }
  return true;
}

static bool log_places(const Placer *p) {
  StrBuf line = {0};
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(p->graph); id++) {
    const Node *node = graph_node(p->graph, id);
    if (!node) continue;
    strbuf_clear(&line);
    strbuf_printf(&line, "%s: (%s): %s", node->name, node->def->op,
                  p->options->devices->devices[p->device_of[id]].name);
    if (!line.failed) log_line(strbuf_text(&line));
  }
  bool ok = strbuf_ok(&line, p->status);
  strbuf_free(&line);
  return ok;
}

bool place_graph(const Graph *graph, const PlacerOptions *options, Arena *arena, Placement *placement,
                 Status *status) {
  Placer p = {.graph = graph, .options = options, .status = status};
  placement->size = graph_num_node_ids(graph);
  p.device_of = placement->device_of = arena_calloc(arena, placement->size, sizeof *p.device_of);
  if (!p.device_of) return status_oom(status, "the placement of a graph");
  if (options->devices->count > 1 || !first_suffices(&p)) {
    for (int64_t id = 0; id < placement->size; id++) p.device_of[id] = NOT_PLACED;
    TRY(colocate(graph, options, arena, &p.colocation, status));
    TRY(place_nodes(&p, false) && place_nodes(&p, true));
  }
  return !options->log_device_placement || log_places(&p);
}

bool placement_assign(const Placement *placement, const Graph *placed, const DeviceSet *devices,
                      Graph *client, Status *status) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(client); id++) {
    Node *node = graph_node(client, id);
    if (!node) continue;
    const Node *twin = graph_find_node(placed, node->name);
    int32_t device = twin && twin->id < placement->size ? placement->device_of[twin->id] : 0;
    TRY(graph_set_assigned_device(client, node, devices->devices[device].name, status));
  }
  return true;
}
