#include "wasm/wasm_graph_parts.h"

#include "base/string_map.h"
#include "c_api/c_api_internal.h"
#include "op/engine_parts.h"
#include "ops/parsing/wire.h"

/* The fields that lead to the ops. */
enum {
  GRAPH_NODE = 1,
  GRAPH_LIBRARY = 2,
  LIBRARY_FUNCTION = 1,
  FUNCTION_SIGNATURE = 1,
  FUNCTION_NODE = 3,
  SIGNATURE_NAME = 1,
  NODE_OP = 2
};

typedef struct Search {
  Str graph_def;
  StringMap functions; /* with the names in graph_def; filled for the first op that is not registered */
  bool has_functions;
  int parts;
} Search;

/* Takes what is before the next field of that number, and the field, which is a message or a text. */
static bool next_field(Str *message, int number, Str *field) {
  while (message->length > 0) {
    if (wire_take_tag(message, WIRE_BYTES(number))) return wire_take_section(message, field);
    if (!wire_skip_field(message)) return false;
  }
  return false;
}

/* Of several fields the last one counts. */
static Str last_field(Str message, int number) {
  Str last = {"", 0}, field;
  while (next_field(&message, number, &field)) last = field;
  return last;
}

/* Without memory the functions count as unknown ops, which the bindings look up themselves. */
static void index_functions(Search *search) {
  Status ignored;
  status_init(&ignored);
  Str graph_def = search->graph_def, library, function;
  while (next_field(&graph_def, GRAPH_LIBRARY, &library)) {
    while (next_field(&library, LIBRARY_FUNCTION, &function)) {
      Str name = last_field(last_field(function, FUNCTION_SIGNATURE), SIGNATURE_NAME);
      if (!string_map_set_bytes(&search->functions, name.data, name.length, search, &ignored)) return;
    }
  }
}

static bool is_function(Search *search, Str name) {
  if (!search->has_functions) index_functions(search);
  search->has_functions = true;
  return string_map_find_bytes(&search->functions, name.data, name.length);
}

static void add_nodes(Search *search, Str message, int number) {
  Str node;
  while (next_field(&message, number, &node)) {
    Str op = last_field(node, NODE_OP);
    EnginePart part;
    if (op_registry_find_part(op_registry_global(), op, &part)) {
      if (part != PART_MAIN) search->parts |= 1 << part;
    } else if (!is_function(search, op)) {
      search->parts |= 1 << PART_MAIN;
    }
  }
}

int TF_WasmPartsOfGraphDef(const void *graph_def, size_t length) {
  Status ignored;
  status_init(&ignored);
  if (!register_ops(&ignored)) return 0; /* the import reports it */
  Search search = {.graph_def = {graph_def, length}};
  add_nodes(&search, search.graph_def, GRAPH_NODE);
  Str message = search.graph_def, library, function;
  while (next_field(&message, GRAPH_LIBRARY, &library))
    while (next_field(&library, LIBRARY_FUNCTION, &function)) add_nodes(&search, function, FUNCTION_NODE);
  string_map_free(&search.functions);
  return search.parts;
}
