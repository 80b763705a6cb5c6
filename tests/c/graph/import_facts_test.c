/* Recorded facts about importing GraphDefs (tests/data/facts/import.jsonl): every record. Sessions for two of
 * them are in tests/c/c_api/run_facts_test.c. */
#include "graph_test_ops.h"
#include "json.h"

/* References by name to nodes of another graph. */
typedef struct World {
  Graph *graph, *elsewhere;
  Arena *arena;
  StrBuf *why;
} World;

static bool differs(World *world, const char *what, const char *got, const char *want) {
  strbuf_printf(world->why, "%s: got '%s', want '%s'", what, got, want);
  return false;
}

static bool differs_int(World *world, const char *what, int64_t got, int64_t want) {
  if (got == want) return true;
  strbuf_printf(world->why, "%s: got %lld, want %lld", what, (long long)got, (long long)want);
  return false;
}

static Node *node_named(World *world, const char *name) {
  Node *node = graph_find_node(world->graph, name);
  if (node || strcmp(name, "_SOURCE") == 0) return node ? node : graph_node(world->graph, SOURCE_ID);
  if (strcmp(name, "_SINK") == 0) return graph_node(world->graph, SINK_ID);
  node = graph_find_node(world->elsewhere, name);
  if (node) return node;
  Status status;
  status_init(&status);
  NodeDef *def =
      node_def_new(graph_arena(world->elsewhere), arena_strdup(graph_arena(world->elsewhere), name), "ABC");
  CHECK_OK(graph_add_node(world->elsewhere, def, &node, &status), status);
  return node;
}

static const char **strings(World *world, const Json *list, int *count) {
  *count = list ? list->count : 0;
  const char **result = arena_calloc(world->arena, *count + 1, sizeof *result);
  for (int i = 0; i < *count; i++) result[i] = list->items[i].string;
  return result;
}

static NodeOutput value_named(World *world, const char *text) {
  Str name;
  int index;
  CHECK(node_parse_input(text, &name, &index));
  return (NodeOutput){node_named(world, arena_strndup(world->arena, name.data, name.length)), index};
}

static ImportOptions options_of(World *world, const Json *json) {
  ImportOptions options = {0};
  const Json *prefix = json_get(json, "prefix"), *device = json_get(json, "default_device");
  const Json *colocation = json_get(json, "validate_colocation_constraints");
  options.prefix = prefix ? prefix->string : NULL;
  options.default_device = device ? device->string : NULL;
  options.uniquify_names = json_get(json, "uniquify_names") && json_get(json, "uniquify_names")->boolean;
  options.uniquify_prefix = json_get(json, "uniquify_prefix") && json_get(json, "uniquify_prefix")->boolean;
  options.skip_mapped_nodes =
      json_get(json, "skip_mapped_nodes") && json_get(json, "skip_mapped_nodes")->boolean;
  options.skip_colocation_check = colocation && !colocation->boolean;
  options.return_outputs = strings(world, json_get(json, "return_tensors"), &options.num_return_outputs);
  options.return_nodes = strings(world, json_get(json, "return_nodes"), &options.num_return_nodes);
  const Json *controls = json_get(json, "control_dependencies"), *map = json_get(json, "input_map");
  Node **nodes = arena_calloc(world->arena, (controls ? controls->count : 0) + 1, sizeof *nodes);
  for (int i = 0; controls && i < controls->count; i++)
    nodes[i] = node_named(world, controls->items[i].string);
  options.control_dependencies = nodes;
  options.num_control_dependencies = controls ? controls->count : 0;
  options.num_input_map = map ? map->count : 0;
  const char **keys = arena_calloc(world->arena, options.num_input_map + 1, sizeof *keys);
  NodeOutput *values = arena_calloc(world->arena, options.num_input_map + 1, sizeof *values);
  for (int i = 0; i < options.num_input_map; i++) {
    keys[i] = map->items[i].items[0].string;
    values[i] = value_named(world, map->items[i].items[1].string);
  }
  options.input_map_keys = keys;
  options.input_map_values = values;
  return options;
}

/* --- expected results --- */

static bool check_nodes(World *world, const Json *names, bool there) {
  for (int i = 0; names && i < names->count; i++) {
    bool found = graph_find_node(world->graph, names->items[i].string) != NULL;
    if (found != there) return differs(world, "a node", found ? "there" : "missing", names->items[i].string);
  }
  return true;
}

static bool check_edges(World *world, const Json *edges, bool there) {
  for (int i = 0; edges && i < edges->count; i++) {
    const Json *edge = &edges->items[i];
    const Node *src = node_named(world, edge->items[0].string),
               *dst = node_named(world, edge->items[2].string);
    bool found =
        ops_has_edge(world->graph, src, (int)edge->items[1].integer, dst, (int)edge->items[3].integer);
    if (found != there) return differs(world, "an edge", edge->items[0].string, edge->items[2].string);
  }
  return true;
}

static bool same_input(const char *a, const char *b) {
  Str x, y;
  int i, j;
  return node_parse_input(a, &x, &i) && node_parse_input(b, &y, &j) && i == j && str_equal(x, y);
}

/* Data inputs in order, control inputs as a set. */
static bool check_inputs(World *world, const Json *nodes) {
  for (int i = 0; nodes && i < nodes->count; i++) {
    const Json *want = &nodes->items[i];
    const Node *node = node_named(world, nodes->keys[i]);
    if (!differs_int(world, nodes->keys[i], (int64_t)node->def->n_input, want->count)) return false;
    for (int k = 0; k < want->count; k++) {
      bool found = false;
      for (int m = 0; m < want->count; m++) {
        found |= (want->items[k].string[0] == '^' || m == k) &&
                 same_input(node->def->input[m], want->items[k].string);
      }
      if (!found) return differs(world, nodes->keys[i], node->def->input[k], want->items[k].string);
    }
  }
  return true;
}

static bool check_results(World *world, const Json *expect, const ImportResults *results) {
  const Json *nodes = json_get(expect, "return_nodes"), *tensors = json_get(expect, "return_tensors");
  const Json *inputs = json_get(expect, "node_def_input"),
             *missing = json_get(expect, "missing_unused_input_map_keys");
  for (int i = 0; nodes && i < nodes->count; i++) {
    const char *got = results->return_nodes[i]->name, *want = nodes->items[i].string;
    if (strcmp(got, want) != 0) return differs(world, "a returned node", got, want);
  }
  for (int i = 0; tensors && i < tensors->count; i++) {
    const Json *want = &tensors->items[i];
    NodeOutput got = results->return_outputs[i];
    if (strcmp(got.node->name, want->items[0].string) != 0 || got.index != want->items[1].integer) {
      return differs(world, "a returned tensor", got.node->name, want->items[0].string);
    }
  }
  for (int i = 0; inputs && i < inputs->count; i++) {
    const Json *want = &inputs->items[i];
    const char *got = results->return_nodes[want->items[0].integer]->def->input[want->items[1].integer];
    if (strcmp(got, want->items[2].string) != 0)
      return differs(world, "an input", got, want->items[2].string);
  }
  if (!missing) return true;
  if (!differs_int(world, "missing keys", results->num_missing_unused_input_map_keys, missing->count))
    return false;
  for (int i = 0; i < missing->count; i++) {
    bool found = false;
    for (int k = 0; k < missing->count; k++) {
      found |= strcmp(results->missing_unused_input_map_keys[k], missing->items[i].string) == 0;
    }
    if (!found)
      return differs(world, "a missing key", results->missing_unused_input_map_keys[i],
                     missing->items[i].string);
  }
  return true;
}

static bool check_versions(World *world, const Json *want) {
  if (!want) return true;
  const VersionDef *got = graph_versions(world->graph);
  const Json *bad = json_get(want, "bad_consumers");
  if (!differs_int(world, "producer", got->producer, json_get(want, "producer")->integer)) return false;
  if (!differs_int(world, "min_consumer", got->min_consumer, json_get(want, "min_consumer")->integer))
    return false;
  if (!differs_int(world, "bad_consumers", (int64_t)got->n_bad_consumers, bad ? bad->count : 0)) return false;
  for (int i = 0; bad && i < bad->count; i++) {
    if (!differs_int(world, "a bad consumer", got->bad_consumers[i], bad->items[i].integer)) return false;
  }
  return true;
}

static bool check_library(World *world, const Json *library) {
  if (!library) return true;
  const Json *functions = json_get(library, "functions"), *gradients = json_get(library, "gradients");
  if (!differs_int(world, "functions", graph_num_functions(world->graph), functions->count)) return false;
  for (int i = 0; i < functions->count; i++) {
    const char *name = functions->items[i].string;
    if (!graph_find_function(world->graph, name)) return differs(world, "a function", "nothing", name);
  }
  for (int i = 0; gradients && i < gradients->count; i++) {
    const Json *want = &gradients->items[i];
    const char *got = graph_find_gradient_def(world->graph, want->items[0].string);
    if (!got || strcmp(got, want->items[1].string) != 0)
      return differs(world, "a gradient", got, want->items[1].string);
  }
  return true;
}

static bool check_attributes(World *world, const Json *expect) {
  const Json *devices = json_get(expect, "requested_device"), *colocation = json_get(expect, "colocation");
  for (int i = 0; devices && i < devices->count; i++) {
    const char *got = node_named(world, devices->keys[i])->def->device, *want = devices->items[i].string;
    if (strcmp(got, want) != 0) return differs(world, "a device", got, want);
  }
  for (int i = 0; colocation && i < colocation->count; i++) {
    const AttrValue *attr = node_def_attr(node_named(world, colocation->keys[i])->def, "_class");
    char want[64];
    snprintf(want, sizeof want, "loc:@%s", colocation->items[i].string);
    if (!attr || attr->list->n_s != 1) return differs(world, "colocation", "nothing", want);
    Str got = {(const char *)attr->list->s[0].data, attr->list->s[0].len};
    if (!str_equal_text(got, want))
      return differs(world, "colocation", arena_strndup(world->arena, got.data, got.length), want);
  }
  return true;
}

static bool check_counts(World *world, const Json *expect) {
  const Json *nodes = json_get(expect, "num_nodes"), *edges = json_get(expect, "num_edges");
  if (nodes && !differs_int(world, "nodes", graph_num_nodes(world->graph), nodes->integer)) return false;
  return !edges || differs_int(world, "edges", graph_num_edges(world->graph), edges->integer);
}

static bool check_success(World *world, const Json *expect, const ImportResults *results) {
  return check_nodes(world, json_get(expect, "has_nodes"), true) &&
         check_nodes(world, json_get(expect, "no_nodes"), false) &&
         check_edges(world, json_get(expect, "has_edges"), true) &&
         check_edges(world, json_get(expect, "no_edges"), false) && check_counts(world, expect) &&
         check_inputs(world, json_get(expect, "inputs")) && check_results(world, expect, results) &&
         check_versions(world, json_get(expect, "versions")) &&
         check_library(world, json_get(expect, "library")) && check_attributes(world, expect);
}

/* --- steps --- */

/* Whether the message contains every part, of the fact or of the newest TensorFlow's answer. */
static bool holds_parts(const Status *status, const Json *expect) {
  const Json *parts = json_get(expect, "error");
  for (int i = 0; parts && i < parts->count; i++) {
    if (!strstr(status->message, parts->items[i].string)) return false;
  }
  return true;
}

/* Nodes that are added without checks. */
static bool add_nodes(World *world, const Json *nodes) {
  Status status;
  status_init(&status);
  for (int i = 0; i < nodes->count; i++) {
    void *def;
    Node *node;
    if (!proto_parse_text(kNodeDef, str_of(nodes->items[i].string), graph_arena(world->graph), &def,
                          &status) ||
        !graph_add_node(world->graph, def, &node, &status)) {
      return differs(world, "a node", status.message, "OK");
    }
  }
  return true;
}

static bool run_step(World *world, const Json *step, const Json *newer) {
  if (strcmp(json_get(step, "entry")->string, "add_nodes") == 0)
    return add_nodes(world, json_get(step, "nodes"));
  Status status;
  status_init(&status);
  const Json *expect = json_get(step, "expect");
  ImportOptions options = options_of(world, json_get(step, "options"));
  ImportResults results;
  char *before = ops_export_text(world->graph, world->arena);
  int64_t bytes = arena_bytes(graph_arena(world->graph));
  bool ok =
      ops_import(world->graph, json_get(step, "graphdef")->string, &options, world->arena, &results, &status);
  ops_check_whole(world->graph);
  const Json *code = json_get(expect, "code");
  if (!code)
    return ok ? check_success(world, expect, &results) : differs(world, "the import", status.message, "OK");
  if (ok) return differs(world, "the import", "OK", "an error");
  if (!differs_int(world, "the code", status.code, code->integer))
    return differs(world, "the message", status.message, "");
  if (!holds_parts(&status, expect) && !(newer && holds_parts(&status, newer))) {
    const Json *parts = json_get(expect, "error");
    return differs(world, "the message", status.message, parts->items[0].string);
  }
  if (strcmp(ops_export_text(world->graph, world->arena), before) != 0)
    return differs(world, "the graph", "changed", before);
  return differs_int(world, "memory", arena_bytes(graph_arena(world->graph)), bytes);
}

static bool run_fact(const Json *fact, Arena *arena, StrBuf *why) {
  World world = {graph_new(), graph_new(), arena, why};
  const Json *steps = json_get(fact, "steps"), *ops = json_get(fact, "ops"),
             *std_ops = json_get(fact, "std_ops");
  bool ok = true;
  for (int i = 0; ops && i < ops->count; i++)
    CHECK(op_registry_find(op_registry_global(), json_get(&ops->items[i], "name")->string));
  for (int i = 0; std_ops && i < std_ops->count; i++)
    CHECK(op_registry_find(op_registry_global(), std_ops->items[i].string));
  for (int i = 0; ok && i < steps->count; i++) {
    ok = run_step(&world, &steps->items[i], json_get(fact, "new"));
    if (!ok) strbuf_printf(why, " (step %d)", i);
  }
  graph_free(world.graph);
  graph_free(world.elsewhere);
  return ok;
}

static char *replace_all(char *text, const char *from, const char *to, Arena *arena) {
  StrBuf out = {0};
  for (char *at; (at = strstr(text, from)); text = at + strlen(from)) {
    strbuf_append_bytes(&out, text, (size_t)(at - text));
    strbuf_append(&out, to);
  }
  strbuf_append(&out, text);
  char *result = arena_strdup(arena, strbuf_text(&out));
  strbuf_free(&out);
  return result;
}

TEST(import_facts_hold) {
  FILE *file = fopen("tests/data/facts/import.jsonl", "rb");
  REQUIRE(file);
  StrBuf all = {0};
  char chunk[4096];
  for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;) strbuf_append_bytes(&all, chunk, got);
  fclose(file);
  int number = 0;
  for (const char *line = strbuf_text(&all); *line;) {
    size_t length = strcspn(line, "\n");
    Arena *arena = arena_new();
    StrBuf why = {0};
    char *text = arena_strndup(arena, line, length);
    text = replace_all(text, "{{V+1}}", "2315", arena);
    text = replace_all(text, "{{V}}", "2314", arena);
    text = replace_all(text, "{{MIN_PRODUCER-1}}", "-1", arena);
    text = replace_all(text, "{{TF_VERSION}}", TENSORFLOW_VERSION, arena);
    CHECK_CONTEXT("import.jsonl, line %d", ++number);
    const Json *fact = json_parse(arena, text, strlen(text));
    if (CHECK(fact) && !CHECK(run_fact(fact, arena, &why)))
      printf("  import.jsonl:%d: %s\n", number, strbuf_text(&why));
    strbuf_free(&why);
    arena_free(arena);
    line += length + (line[length] == '\n');
  }
  CHECK_CONTEXT("%s", "");
  CHECK_INT_EQ(number, 53);
  strbuf_free(&all);
}
