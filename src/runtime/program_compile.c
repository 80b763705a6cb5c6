#include "graph/node_class.h"
#include "graph/node_evaluate.h"
#include "runtime/program.h"
#include "runtime/program_internal.h"

enum { NO_READER = -1, READ_AS_RESULT = INT32_MAX };

/* What becomes of a node. */
typedef enum NodeRole { STEP, ARGUMENT, RESULT, CONSTANT, NOTHING } NodeRole;

typedef struct Compiler {
  Program *program;
  KernelTable *table;
  const CallSites *sites;
  Arena *scratch; /* goes when the program is made */
  Node **order;
  int64_t num_ordered;
  uint8_t *roles;        /* per node id: NodeRole */
  Slot *places;          /* per node id: the slot of its first output */
  int32_t *last_readers; /* per slot: the step that reads it last, NO_READER or READ_AS_RESULT */
  int64_t next_read;     /* the slot that the next value of a reference gets */
} Compiler;

static bool oom(Status *status) { return status_oom(status, "a program"); }

static bool has_role(const Compiler *c, const Node *node, NodeRole role) {
  return c->roles[node->id] == role;
}

/* --- the nodes in order --- */

static bool order_nodes(Compiler *c, Status *status) {
  const FunctionBody *body = c->program->body;
  int64_t count = 0;
  NodeSet needed;
  Node **roots =
      arena_alloc(c->scratch, ((int64_t)body->num_rets + body->num_control_rets) * (int64_t)sizeof *roots);
  if (!roots) return oom(status);
  for (int i = 0; i < body->num_rets; i++) roots[count++] = body->ret_nodes[i];
  for (int i = 0; i < body->num_control_rets; i++) roots[count++] = body->control_ret_nodes[i];
  TRY(graph_reverse_reachable(body->graph, roots, count, NULL, 0, c->scratch, &needed, status));
  TRY(graph_topological_order(body->graph, &needed, NULL, 0, c->scratch, &c->order, &c->num_ordered, status));
  for (int64_t i = 0; i < c->num_ordered; i++) TRY(node_check_connected(c->order[i], status));
  return true;
}

/* What waits for a NoOp comes behind what that waits for: it needs no step. */
static NodeRole role_of(const Node *node) {
  if (node_is_const(node)) return CONSTANT;
  return node->node_class == NODE_NO_OP ? NOTHING : STEP;
}

static bool find_roles(Compiler *c, Status *status) {
  const FunctionBody *body = c->program->body;
  int64_t ids = graph_num_node_ids(body->graph);
  c->roles = arena_calloc(c->scratch, ids, sizeof *c->roles);
  c->places = arena_calloc(c->scratch, ids, sizeof *c->places);
  if (!c->roles || !c->places) return oom(status);
  for (int64_t i = 0; i < c->num_ordered; i++) c->roles[c->order[i]->id] = role_of(c->order[i]);
  for (int i = 0; i < body->num_args; i++) c->roles[body->arg_nodes[i]->id] = ARGUMENT;
  for (int i = 0; i < body->num_rets; i++) c->roles[body->ret_nodes[i]->id] = RESULT;
  return true;
}

/* --- kernels --- */

/* A kernel of the program's own. Of a node of an inlined function it has the name that the node has there. */
static bool make_own_kernel(Compiler *c, const Node *node, const char *name, const Tensor *const *constants,
                            OpKernel **kernel, Status *status) {
  const NodeDef *def = node->def;
  if (name != node->name) {
    NodeDef *named = node_def_share(c->program->arena, node->def);
    if (!named || !(named->name = arena_strdup(c->program->arena, name)))
      return status_oom(status, "a kernel");
    def = named;
  }
  return op_kernel_new(node->op, def, constants, c->program->environment.functions, kernel, status);
}

static const char *name_of(const Compiler *c, const Node *node) {
  const CallSite *site = call_sites_find(c->sites, node->name);
  return site ? site->node : node->name;
}

static bool make_kernel(Compiler *c, const Node *node, const Tensor *const *constants,
                        const OpKernel **kernel, Status *status) {
  Program *program = c->program;
  if (kernel_table_holds(node))
    return kernel_table_get(c->table, node, name_of(c, node), program->environment.functions, kernel, status);
  OpKernel *made;
  TRY(make_own_kernel(c, node, name_of(c, node), constants, &made, status));
  *kernel = program->kernels[program->num_kernels++] = made;
  return true;
}

/* --- constants --- */

/* The value of a Const: in the memory that its kernel holds when programs share it. */
static bool read_const(Compiler *c, const Node *node, Tensor *value, Status *status) {
  KernelContext context = {.outputs = value};
  const OpKernel *shared;
  OpKernel *own;
  if (kernel_table_holds(node)) {
    return kernel_table_get(c->table, node, name_of(c, node), NULL, &shared, status) &&
           op_kernel_run(shared, &context, status);
  }
  TRY(make_own_kernel(c, node, name_of(c, node), NULL, &own, status));
  bool ok = op_kernel_run(own, &context, status);
  op_kernel_free(own);
  return ok;
}

static bool read_constants(Compiler *c, Status *status) {
  Program *program = c->program;
  int64_t count = 0;
  for (int64_t i = 0; i < c->num_ordered; i++) count += has_role(c, c->order[i], CONSTANT);
  program->constants = arena_calloc(program->arena, count, sizeof *program->constants);
  if (!program->constants) return oom(status);
  for (int64_t i = 0; i < c->num_ordered; i++) {
    const Node *node = c->order[i];
    if (!has_role(c, node, CONSTANT)) continue;
    c->places[node->id] = (Slot)~program->num_constants;
    Tensor *value = &program->constants[program->num_constants++];
    if (!read_const(c, node, value, status)) return node_attach(node->name, status);
  }
  return true;
}

/* --- slots --- */

static Slot slot_of(const Compiler *c, const Edge *edge) {
  Slot first = c->places[edge->src->id];
  return slot_is_constant(first) ? first : first + edge->src_output;
}

static bool takes_value(const Edge *edge) { return !dtype_is_ref(edge->dst->input_types[edge->dst_input]); }

/* An input that takes the value of a reference, or a reference that must have one. */
static bool is_read(const Edge *edge) {
  return dtype_is_ref(edge->src->output_types[edge->src_output]) &&
         (takes_value(edge) || !edge->dst->op->def->allows_uninitialized_input);
}

static int count_reads(const Node *node) {
  int count = 0;
  for (int i = 0; i < node->num_inputs; i++) count += is_read(node_input_edge(node, i));
  return count;
}

/* Arguments come first, then the steps' outputs, then what is read of references (some of these slots stay
 * empty). */
static bool place_values(Compiler *c, Status *status) {
  Program *program = c->program;
  const FunctionBody *body = program->body;
  int64_t slots = body->num_args, reads = 0;
  for (int i = 0; i < body->num_args; i++) c->places[body->arg_nodes[i]->id] = i;
  for (int64_t i = 0; i < c->num_ordered && slots + reads < INT32_MAX; i++) {
    const Node *node = c->order[i];
    if (!has_role(c, node, STEP)) continue;
    c->places[node->id] = (Slot)slots;
    slots += node->num_outputs;
    reads += count_reads(node);
    program->num_inputs += node->num_inputs;
    program->num_steps++;
  }
  if (slots + reads >= INT32_MAX)
    return status_set(status, CODE_RESOURCE_EXHAUSTED, "A step has too many values");
  c->next_read = slots;
  program->num_slots = slots + reads;
  program->steps = arena_calloc(program->arena, program->num_steps, sizeof *program->steps);
  program->kernels = arena_calloc(program->arena, program->num_steps, sizeof(OpKernel *));
  c->last_readers = arena_alloc(c->scratch, program->num_slots * (int64_t)sizeof *c->last_readers);
  if (!program->steps || !program->kernels || !c->last_readers) return oom(status);
  for (int64_t i = 0; i < program->num_slots; i++) c->last_readers[i] = NO_READER;
  return true;
}

static void note_reader(Compiler *c, Slot slot, int32_t step) {
  if (!slot_is_constant(slot)) c->last_readers[slot] = step;
}

/* --- steps --- */

/* "v" or "v:1", as a NodeDef names its inputs. */
static const char *reference_name(Compiler *c, const Edge *edge) {
  if (edge->src_output == 0) return arena_strdup(c->program->arena, edge->src->name);
  return arena_printf(c->program->arena, "%s:%d", edge->src->name, edge->src_output);
}

/* The slot of a step's input: a value's or constant's, or that of the value that is read of a reference. */
static bool place_input(Compiler *c, const Edge *edge, ReferenceRead *reads, ProgramStep *step, Slot *slot,
                        Status *status) {
  *slot = slot_of(c, edge);
  if (!is_read(edge)) return true;
  ReferenceRead *read = &reads[step->num_reads++];
  *read = (ReferenceRead){*slot, *slot, reference_name(c, edge)};
  if (takes_value(edge)) *slot = read->value = (Slot)c->next_read++;
  return read->name || oom(status);
}

static bool place_inputs(Compiler *c, const Node *node, int32_t index, ProgramStep *step,
                         const Tensor **constants, Status *status) {
  Arena *arena = c->program->arena;
  Slot *inputs = arena_alloc(arena, node->num_inputs * (int64_t)sizeof *inputs);
  ReferenceRead *reads = arena_alloc(arena, count_reads(node) * (int64_t)sizeof *reads);
  if (!inputs || !reads) return oom(status);
  for (int i = 0; i < node->num_inputs; i++) {
    TRY(place_input(c, node_input_edge(node, i), reads, step, &inputs[i], status));
    note_reader(c, inputs[i], index);
    constants[i] = slot_is_constant(inputs[i]) ? &c->program->constants[~inputs[i]] : NULL;
  }
  for (int i = 0; i < step->num_reads; i++) note_reader(c, reads[i].reference, index);
  step->inputs = inputs;
  step->reads = reads;
  return true;
}

static bool find_callers(Compiler *c, const Node *node, ProgramStep *step, Status *status) {
  const CallSite *site = call_sites_find(c->sites, node->name);
  step->callers = site ? arena_strdup(c->program->arena, site->callers) : NULL;
  return !site || step->callers || oom(status);
}

static bool make_step(Compiler *c, const Node *node, int32_t index, Status *status) {
  ProgramStep *step = &c->program->steps[index];
  const Tensor **constants = arena_alloc(c->scratch, node->num_inputs * (int64_t)sizeof *constants);
  if (!constants) return oom(status);
  TRY(find_callers(c, node, step, status));
  TRY(place_inputs(c, node, index, step, constants, status));
  TRY(make_kernel(c, node, constants, &step->kernel, status));
  step->first_output = c->places[node->id];
  const OpKernel *kernel = step->kernel;
  return node_compare_types(node, kernel->input_types, kernel->num_inputs, kernel->output_types,
                            kernel->num_outputs, status);
}

static bool make_steps(Compiler *c, Status *status) {
  int32_t index = 0;
  for (int64_t i = 0; i < c->num_ordered; i++) {
    const Node *node = c->order[i];
    if (!has_role(c, node, STEP) || make_step(c, node, index++, status)) continue;
    const CallSite *site = call_sites_find(c->sites, node->name);
    node_attach(name_of(c, node), status);
    return site ? status_append(status, "%s", site->callers) : false;
  }
  return true;
}

/* --- arguments and results --- */

static bool find_results(Compiler *c, Status *status) {
  Program *program = c->program;
  const FunctionBody *body = program->body;
  Slot *results = arena_alloc(program->arena, body->num_rets * (int64_t)sizeof *results);
  program->result_references =
      arena_calloc(program->arena, body->num_rets, sizeof *program->result_references);
  if (!results || !program->result_references) return oom(status);
  for (int i = 0; i < body->num_rets; i++) {
    const Edge *edge = node_input_edge(body->ret_nodes[i], 0);
    results[i] = slot_of(c, edge);
    note_reader(c, results[i], READ_AS_RESULT);
    if (!dtype_is_ref(edge->src->output_types[edge->src_output])) continue;
    program->result_references[i] = reference_name(c, edge);
    if (!program->result_references[i]) return oom(status);
  }
  program->results = results;
  program->num_results = body->num_rets;
  return true;
}

static bool find_args(Compiler *c, Status *status) {
  Program *program = c->program;
  program->num_args = program->body->num_args;
  bool *reads_arg = arena_calloc(program->arena, program->num_args, sizeof *reads_arg);
  if (!reads_arg) return oom(status);
  for (int i = 0; i < program->num_args; i++) reads_arg[i] = c->last_readers[i] != NO_READER;
  program->reads_arg = reads_arg;
  return true;
}

/* --- last uses --- */

/* An input may be overwritten when this step reads it last, and only once. */
static bool mark_last_uses(Compiler *c, int32_t index, Status *status) {
  ProgramStep *step = &c->program->steps[index];
  int num_inputs = step->kernel->num_inputs;
  bool *last_use = arena_alloc(c->program->arena, num_inputs);
  if (!last_use) return oom(status);
  for (int i = 0; i < num_inputs; i++) {
    Slot slot = step->inputs[i];
    last_use[i] = !slot_is_constant(slot) && c->last_readers[slot] == index;
    for (int k = 0; k < num_inputs && last_use[i]; k++) last_use[i] = k == i || step->inputs[k] != slot;
  }
  step->last_use = last_use;
  for (int i = 0; i < step->kernel->num_outputs; i++) { /* an output that nobody reads is dropped at once */
    int32_t *last_reader = &c->last_readers[step->first_output + i];
    if (*last_reader == NO_READER) *last_reader = index;
  }
  return true;
}

static bool list_expiring(Compiler *c, Status *status) {
  Program *program = c->program;
  for (int64_t s = 0; s < program->num_steps; s++) TRY(mark_last_uses(c, (int32_t)s, status));
  for (int64_t v = 0; v < program->num_slots; v++) {
    int32_t last = c->last_readers[v];
    if (last != NO_READER && last != READ_AS_RESULT) program->steps[last].num_expiring++;
  }
  Slot *next = arena_alloc(program->arena, program->num_slots * (int64_t)sizeof *next);
  Slot **lists = arena_alloc(c->scratch, program->num_steps * (int64_t)sizeof *lists);
  if (!next || !lists) return oom(status);
  for (int64_t s = 0; s < program->num_steps; s++) {
    program->steps[s].expiring = lists[s] = next;
    next += program->steps[s].num_expiring;
  }
  for (int64_t v = 0; v < program->num_slots; v++) {
    int32_t last = c->last_readers[v];
    if (last != NO_READER && last != READ_AS_RESULT) *lists[last]++ = (Slot)v;
  }
  return true;
}

static bool compile(Compiler *c, Status *status) {
  TRY(order_nodes(c, status));
  TRY(find_roles(c, status));
  TRY(read_constants(c, status));
  TRY(place_values(c, status));
  TRY(make_steps(c, status));
  TRY(find_results(c, status));
  TRY(find_args(c, status));
  TRY(list_expiring(c, status));
  return program_add_run(c->program, status);
}

bool program_compile(FunctionBody *body, KernelTable *kernels, const ProgramEnvironment *environment,
                     const CallSites *sites, Program **program, Status *status) {
  Arena *arena = arena_new();
  Arena *scratch = arena_new();
  Program *made = arena ? arena_calloc(arena, 1, sizeof *made) : NULL;
  if (!made || !scratch) {
    arena_free(arena);
    arena_free(scratch);
    return oom(status);
  }
  made->arena = arena;
  made->body = body;
  made->environment = *environment;
  Compiler compiler = {.program = made, .table = kernels, .sites = sites, .scratch = scratch};
  bool ok = compile(&compiler, status);
  arena_free(scratch);
  if (!ok) {
    made->body = NULL; /* still the caller's */
    program_free(made);
    return false;
  }
  *program = made;
  return true;
}
