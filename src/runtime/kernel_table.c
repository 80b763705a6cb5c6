#include "runtime/kernel_table.h"

#include "base/alloc.h"
#include "base/string_map.h"
#include "graph/node_class.h"

typedef struct Entry {
  const NodeDef *def;
  OpKernel *kernel;
} Entry;

struct KernelTable {
  Arena *arena;      /* entries, NodeDefs and keys */
  StringMap entries; /* by node name */
  OpKernel **all;    /* with the replaced ones, which programs may still use */
  int64_t count, capacity;
};

static bool oom(Status *status) { return status_oom(status, "a kernel"); }

KernelTable *kernel_table_new(void) {
  KernelTable *table = mem_calloc(1, sizeof *table);
  if (table) table->arena = arena_new();
  if (table && table->arena) return table;
  mem_free(table);
  return NULL;
}

void kernel_table_free(KernelTable *table) {
  if (!table) return;
  for (int64_t i = 0; i < table->count; i++) op_kernel_free(table->all[i]);
  mem_free(table->all);
  string_map_free(&table->entries);
  arena_free(table->arena);
  mem_free(table);
}

static bool lives_in_graph(const Node *node, const AttrValue *value) {
  return arena_owns(graph_arena(node->graph), value);
}

bool kernel_table_holds(const Node *node) {
  if (node_is_send(node) || node_is_recv(node)) return false;
  if (node->op->def->is_stateful) return true;
  if (!node_is_const(node)) return false;
  const AttrValue *value = node_def_attr(node->def, "value");
  return !value || !lives_in_graph(node, value);
}

/* In the next graph, the name may belong to a different node (graph_extend_node). */
static bool is_made_of(const Entry *entry, const Node *node) {
  const NodeDef *def = node->def;
  if (entry->kernel->op != node->op || entry->def->n_attr != def->n_attr) return false;
  for (size_t i = 0; i < def->n_attr; i++) {
    const AttrValue *other = node_def_attr(entry->def, def->attr[i]->key), *value = def->attr[i]->value;
    if (other != value && (!other || !attr_value_equal(value, other))) return false;
  }
  return true;
}

/* A copy of the NodeDef that lives as long as the table. */
static NodeDef *keep_def(KernelTable *table, const Node *node, const char *name) {
  NodeDef *def = node_def_share(table->arena, node->def);
  if (!def) return NULL;
  def->name = arena_strdup(table->arena, name);
  def->op = arena_strdup(table->arena, node->def->op);
  def->device = arena_strdup(table->arena, node->def->device);
  for (size_t i = 0; i < def->n_attr; i++) {
    def->attr[i]->key = arena_strdup(table->arena, def->attr[i]->key);
    if (lives_in_graph(node, def->attr[i]->value))
      def->attr[i]->value = proto_copy(def->attr[i]->value, table->arena);
    if (!def->attr[i]->key || !def->attr[i]->value) return NULL;
  }
  return def->name && def->op && def->device ? def : NULL;
}

static bool make(KernelTable *table, const Node *node, const char *name, const FunctionCaller *functions,
                 OpKernel **kernel, Status *status) {
  NodeDef *def = keep_def(table, node, name);
  Entry *entry = def ? arena_alloc(table->arena, sizeof *entry) : NULL;
  const char *key = entry ? arena_strdup(table->arena, node->name) : NULL;
  if (!key || !mem_grow((void **)&table->all, &table->capacity, table->count + 1, sizeof *table->all))
    return oom(status);
  TRY(op_kernel_new(node->op, def, NULL, functions, kernel, status));
  *entry = (Entry){def, *kernel};
  if (string_map_set(&table->entries, key, entry, status)) return true;
  op_kernel_free(*kernel);
  return false;
}

bool kernel_table_get(KernelTable *table, const Node *node, const char *name, const FunctionCaller *functions,
                      const OpKernel **kernel, Status *status) {
  const Entry *entry = string_map_find(&table->entries, node->name);
  if (entry && is_made_of(entry, node)) {
    *kernel = entry->kernel;
    return true;
  }
  OpKernel *made;
  ArenaMark mark = arena_mark(table->arena);
  if (!make(table, node, name, functions, &made, status)) {
    arena_rollback(table->arena, mark);
    return false;
  }
  *kernel = table->all[table->count++] = made;
  return true;
}
