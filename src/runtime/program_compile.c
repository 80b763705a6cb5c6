#include "graph/node_class.h"
#include "graph/node_evaluate.h"
#include "op/fused_op.h"
#include "runtime/program_compiler.h"

static bool oom(Status *status) { return status_oom(status, "a program"); }

/* --- roles of nodes --- */

/* Whether an Identity is only another name for its input. It is more for a reference, which it reads when it
 * runs, and for the output of a NextIteration, which changes before the iteration ends. */
static bool is_same_value(const Node *node) {
  if (!node_is_identity(node)) return false;
  const Edge *edge = node_input_edge(node, 0);
  return !dtype_is_ref(edge->src->output_types[edge->src_output]) && !node_is_next_iteration(edge->src);
}

static bool role_of(const Node *node, NodeRole *role, Status *status) {
  bool alias = false;
  TRY(flow_is_alias(node, &alias, status));
  if (alias || is_same_value(node)) {
    *role = ALIAS;
  } else if (node_is_control_flow(node) || node_is_loop_cond(node) || node_is_control_trigger(node)) {
    *role = FLOW;
  } else if (node_is_const(node)) {
    *role = CONSTANT;
  } else {
    *role = node->node_class == NODE_NO_OP ? NOTHING : STEP;
  }
  return true;
}

static bool find_roles(Compiler *c, Status *status) {
  const FunctionBody *body = c->program->body;
  int64_t ids = graph_num_node_ids(body->graph);
  c->roles = arena_calloc(c->scratch, ids, sizeof *c->roles);
  c->places = arena_calloc(c->scratch, ids, sizeof *c->places);
  if (!c->roles || !c->places) return oom(status);
  for (int64_t i = 0; i < c->schedule.num_items; i++) {
    const Node *node = c->schedule.items[i].node;
    NodeRole role;
    if (!node) continue;
    TRY(role_of(node, &role, status));
    c->roles[node->id] = (uint8_t)role;
  }
  for (int i = 0; i < body->num_args; i++) c->roles[body->arg_nodes[i]->id] = ARGUMENT;
  for (int i = 0; i < body->num_rets; i++) c->roles[body->ret_nodes[i]->id] = RESULT;
  return true;
}

/* --- kernels --- */

/* Gives the nodes that a fused node stands for the names that they have in their function. */
static bool rename_fused(const Compiler *c, NodeDef *def, Status *status) {
  const AttrListValue *nodes;
  Str names[FUSED_MOST_NODES];
  TRY(node_attr_list(def, FUSED_NODES, ATTR_STRING, &nodes, status));
  if (!nodes || nodes->n_s > FUSED_MOST_NODES) return true; /* which the kernel refuses */
  for (size_t i = 0; i < nodes->n_s; i++) {
    const char *name = arena_strndup(c->scratch, (const char *)nodes->s[i].data, nodes->s[i].len);
    if (!name) return oom(status);
    const CallSite *site = call_sites_find(c->sites, name);
    names[i] = str_of(site ? site->node : name);
  }
  AttrValue *renamed = attr_value_string_list(c->program->arena, names, nodes->n_s);
  return renamed ? node_def_set_attr(def, c->program->arena, FUSED_NODES, renamed, status)
                 : status_oom(status, "a kernel");
}

/* Makes a kernel that the program owns. For an inlined node it has the node's name in its function. */
static bool make_own_kernel(Compiler *c, const Node *node, const char *name, const Tensor *const *constants,
                            OpKernel **kernel, Status *status) {
  const NodeDef *def = node->def;
  if (name != node->name) {
    NodeDef *named = node_def_share(c->program->arena, node->def);
    if (!named || !(named->name = arena_strdup(c->program->arena, name)))
      return status_oom(status, "a kernel");
    if (node->node_class == NODE_FUSED) TRY(rename_fused(c, named, status));
    def = named;
  }
  return op_kernel_new(node->op, def, constants, c->program->environment.functions, kernel, status);
}

/* The name that an inlined node has in its function. */
static const char *name_at(const CallSite *site, const Node *node) { return site ? site->node : node->name; }

static bool make_kernel(Compiler *c, const Node *node, const CallSite *site, const Tensor *const *constants,
                        const OpKernel **kernel, Status *status) {
  Program *program = c->program;
  if (kernel_table_holds(node))
    return kernel_table_get(c->table, node, name_at(site, node), program->environment.functions, kernel,
                            status);
  OpKernel *made;
  TRY(make_own_kernel(c, node, name_at(site, node), constants, &made, status));
  *kernel = program->kernels[program->num_kernels++] = made;
  return true;
}

/* --- constants --- */

/* The value of a Const. When programs share it, the value lies in the memory of its kernel. */
static bool read_const(Compiler *c, const Node *node, Tensor *value, Status *status) {
  KernelContext context = {.outputs = value};
  const OpKernel *shared;
  OpKernel *own;
  const char *name = name_at(call_sites_find(c->sites, node->name), node);
  if (kernel_table_holds(node)) {
    return kernel_table_get(c->table, node, name, NULL, &shared, status) &&
           op_kernel_run(shared, &context, status);
  }
  TRY(make_own_kernel(c, node, name, NULL, &own, status));
  bool ok = op_kernel_run(own, &context, status);
  op_kernel_free(own);
  return ok;
}

static bool read_constants(Compiler *c, Status *status) {
  Program *program = c->program;
  const Schedule *schedule = &c->schedule;
  int64_t count = 0;
  for (int64_t i = 0; i < schedule->num_items; i++)
    count += schedule->items[i].node && compiler_has_role(c, schedule->items[i].node, CONSTANT);
  program->constants = arena_calloc(program->arena, count, sizeof *program->constants);
  program->constant_nodes = arena_calloc(program->arena, count, sizeof *program->constant_nodes);
  if (!program->constants || !program->constant_nodes) return oom(status);
  for (int64_t i = 0; i < schedule->num_items; i++) {
    const Node *node = schedule->items[i].node;
    if (!node || !compiler_has_role(c, node, CONSTANT)) continue;
    c->places[node->id] = (Slot)~program->num_constants;
    program->constant_nodes[program->num_constants] = node;
    Tensor *value = &program->constants[program->num_constants++];
    if (!read_const(c, node, value, status)) return node_attach(node->name, status);
  }
  return true;
}

/* --- slots --- */

Slot compiler_slot_of(const Compiler *c, const Edge *edge) {
  Slot first = c->places[edge->src->id];
  if (slot_is_constant(first) || compiler_has_role(c, edge->src, ALIAS)) return first;
  return first + edge->src_output;
}

static bool takes_value(const Edge *edge) { return !dtype_is_ref(edge->dst->input_types[edge->dst_input]); }

/* Adds an input that takes the value of a reference, or a reference that must have a value. */
static bool is_read(const Edge *edge) {
  return dtype_is_ref(edge->src->output_types[edge->src_output]) &&
         (takes_value(edge) || !edge->dst->op->def->allows_uninitialized_input);
}

bool compiler_is_read(const Edge *edge) {
  return dtype_is_ref(edge->src->output_types[edge->src_output]) && takes_value(edge);
}

static int count_reads(const Node *node) {
  int count = 0;
  for (int i = 0; i < node->num_inputs; i++) count += is_read(node_input_edge(node, i));
  return count;
}

/* Assigns slots to the outputs of a node, starting at `slots`. */
static void place_node(Compiler *c, const ScheduleItem *item, int64_t *slots) {
  const Node *node = item->node;
  Program *program = c->program;
  if (compiler_has_role(c, node, ALIAS)) c->places[node->id] = compiler_slot_of(c, node_input_edge(node, 0));
  bool is_step = compiler_has_role(c, node, STEP);
  if (!is_step && !compiler_has_role(c, node, FLOW)) return;
  c->places[node->id] = (Slot)*slots;
  *slots += node->num_outputs;
  if (!is_step) return;
  program->num_inputs += node->num_inputs;
  program->num_steps++;
}

/* The order of slots: arguments, outputs, values read from references (some of these slots stay empty),
 * results of loops. */
static bool place_values(Compiler *c, Status *status) {
  Program *program = c->program;
  const FunctionBody *body = program->body;
  int64_t slots = body->num_args, reads = 0;
  for (int i = 0; i < body->num_args; i++) c->places[body->arg_nodes[i]->id] = i;
  for (int64_t i = 0; i < c->schedule.num_items && slots + reads < INT32_MAX; i++) {
    const ScheduleItem *item = &c->schedule.items[i];
    if (!item->node) continue;
    place_node(c, item, &slots);
    reads += count_reads(item->node);
  }
  if (slots + reads + body->num_rets >= INT32_MAX)
    return status_set(status, CODE_RESOURCE_EXHAUSTED, "A step has too many values");
  c->next_read = slots;
  c->next_result = slots + reads;
  program->num_slots = slots + reads + body->num_rets;
  program->steps = arena_calloc(program->arena, program->num_steps, sizeof *program->steps);
  program->kernels = arena_calloc(program->arena, program->num_steps, sizeof(OpKernel *));
  c->last_readers = arena_alloc(c->scratch, program->num_slots * (int64_t)sizeof *c->last_readers);
  if (!program->steps || !program->kernels || !c->last_readers) return oom(status);
  for (int64_t i = 0; i < program->num_slots; i++) c->last_readers[i] = NO_READER;
  return true;
}

void compiler_note_reader(Compiler *c, Slot slot, int32_t event) {
  if (!slot_is_constant(slot)) c->last_readers[slot] = event;
}

/* --- steps --- */

const char *compiler_reference_name(Compiler *c, const Edge *edge) {
  if (edge->src_output == 0) return arena_strdup(c->program->arena, edge->src->name);
  return arena_printf(c->program->arena, "%s:%d", edge->src->name, edge->src_output);
}

/* The slot of a step's input: of a value, of a constant, or of the value read from a reference. */
static bool place_input(Compiler *c, const Edge *edge, ReferenceRead *reads, ProgramStep *step, Slot *slot,
                        Status *status) {
  *slot = compiler_slot_of(c, edge);
  if (!is_read(edge)) return true;
  ReferenceRead *read = &reads[step->num_reads++];
  *read = (ReferenceRead){*slot, *slot, compiler_reference_name(c, edge)};
  if (takes_value(edge)) *slot = read->value = (Slot)c->next_read++;
  return read->name || oom(status);
}

static bool place_inputs(Compiler *c, const Node *node, int32_t event, ProgramStep *step,
                         const Tensor **constants, Status *status) {
  Arena *arena = c->program->arena;
  Slot *inputs = arena_alloc(arena, node->num_inputs * (int64_t)sizeof *inputs);
  ReferenceRead *reads = arena_alloc(arena, count_reads(node) * (int64_t)sizeof *reads);
  if (!inputs || !reads) return oom(status);
  for (int i = 0; i < node->num_inputs; i++) {
    TRY(place_input(c, node_input_edge(node, i), reads, step, &inputs[i], status));
    compiler_note_reader(c, inputs[i], event);
    constants[i] = slot_is_constant(inputs[i]) ? &c->program->constants[~inputs[i]] : NULL;
  }
  for (int i = 0; i < step->num_reads; i++) compiler_note_reader(c, reads[i].reference, event);
  step->inputs = inputs;
  step->reads = reads;
  return true;
}

static bool make_step(Compiler *c, const Node *node, const CallSite *site, int32_t event, Status *status) {
  ProgramStep *step = &c->program->steps[c->events[event].step];
  const Tensor **constants = arena_alloc(c->scratch, node->num_inputs * (int64_t)sizeof *constants);
  step->node = node;
  step->callers = site ? arena_strdup(c->program->arena, site->callers) : NULL;
  if (!constants || (site && !step->callers)) return oom(status);
  TRY(place_inputs(c, node, event, step, constants, status));
  TRY(make_kernel(c, node, site, constants, &step->kernel, status));
  step->first_output = c->places[node->id];
  const OpKernel *kernel = step->kernel;
  return node_compare_types(node, kernel->input_types, kernel->num_inputs, kernel->output_types,
                            kernel->num_outputs, status);
}

static Opcode opcode_of(const Node *node) {
  return node_is_send(node) ? DO_SEND : node_is_recv(node) ? DO_RECEIVE : DO_STEPS;
}

/* Adds the step to the last instruction if that runs steps of the same guard. */
static bool add_step(Compiler *c, const ScheduleItem *item, int32_t index, Status *status) {
  Program *program = c->program;
  Instruction *last = program->num_instructions > 0 ? &program->code[program->num_instructions - 1] : NULL;
  Opcode code = opcode_of(item->node);
  if (!last || last->code != DO_STEPS || code != DO_STEPS || last->guard != item->guard) {
    last = &program->code[program->num_instructions++];
    *last = (Instruction){.code = code, .guard = item->guard, .begin = index, .loop = item->loop};
    if (code == DO_RECEIVE) last->gives = c->schedule.of_node[item->node->id].gives;
    program->has_transfers |= code != DO_STEPS;
  }
  last->end = index + 1;
  c->events[c->num_events] =
      (Event){.step = index, .instruction = (int32_t)(last - program->code), .guard = item->guard};
  const CallSite *site = call_sites_find(c->sites, item->node->name);
  if (make_step(c, item->node, site, c->num_events++, status)) return true;
  node_attach(name_at(site, item->node), status);
  return site ? status_append(status, "%s", site->callers) : false;
}

static bool make_code(Compiler *c, Status *status) {
  Program *program = c->program;
  int64_t items = c->schedule.num_items;
  int32_t index = 0;
  program->num_guards = c->schedule.has_control_flow ? c->schedule.guards.count : 1;
  program->code = arena_calloc(program->arena, 2 * items + 1, sizeof *program->code);
  c->events = arena_alloc(c->scratch, (2 * items + 1) * (int64_t)sizeof *c->events);
  if (!program->code || !c->events) return oom(status);
  if (c->schedule.has_control_flow) TRY(flow_begin(c, status));
  for (int64_t i = 0; i < items; i++) {
    const ScheduleItem *item = &c->schedule.items[i];
    if (item->node && compiler_has_role(c, item->node, STEP)) {
      TRY(add_step(c, item, index++, status));
    } else if (c->schedule.has_control_flow) {
      TRY(flow_compile_item(c, item, status));
    }
  }
  return true;
}

/* --- arguments and results --- */

static bool find_results(Compiler *c, Status *status) {
  Program *program = c->program;
  const FunctionBody *body = program->body;
  Slot *results = arena_alloc(program->arena, body->num_rets * (int64_t)sizeof *results);
  Guard *guards = arena_calloc(program->arena, body->num_rets, sizeof *guards);
  program->result_references =
      arena_calloc(program->arena, body->num_rets, sizeof *program->result_references);
  if (!results || !guards || !program->result_references) return oom(status);
  program->results = results;
  program->result_guards = guards;
  for (int i = 0; i < body->num_rets; i++) {
    const Edge *edge = node_input_edge(body->ret_nodes[i], 0);
    if (c->schedule.has_control_flow && loop_of_value(&c->schedule.loops, edge) != 0) {
      results[i] = (Slot)(c->next_result + i);
      guards[i] = c->result_guards[i];
      compiler_note_reader(c, results[i], READ_AS_RESULT);
      continue;
    }
    results[i] = compiler_slot_of(c, edge);
    guards[i] = schedule_edge_guard(&c->schedule, edge);
    compiler_note_reader(c, results[i], READ_AS_RESULT);
    if (!dtype_is_ref(edge->src->output_types[edge->src_output])) continue;
    program->result_references[i] = compiler_reference_name(c, edge);
    if (!program->result_references[i]) return oom(status);
  }
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

/* The step may overwrite an input that it reads last and only once. */
static bool mark_last_uses(Compiler *c, int32_t event, Status *status) {
  ProgramStep *step = &c->program->steps[c->events[event].step];
  int num_inputs = step->kernel->num_inputs;
  bool *last_use = arena_alloc(c->program->arena, num_inputs);
  if (!last_use) return oom(status);
  for (int i = 0; i < num_inputs; i++) {
    Slot slot = step->inputs[i];
    last_use[i] = !slot_is_constant(slot) && c->last_readers[slot] == event;
    for (int k = 0; k < num_inputs && last_use[i]; k++) last_use[i] = k == i || step->inputs[k] != slot;
  }
  step->last_use = last_use;
  for (int i = 0; i < step->kernel->num_outputs; i++) { /* an output without readers is dropped at once */
    int32_t *last_reader = &c->last_readers[step->first_output + i];
    if (*last_reader == NO_READER) *last_reader = event;
  }
  return true;
}

/* The list of expiring values of the event's step or instruction. */
static int32_t *expiring_of(const Compiler *c, int32_t event, const Slot ***list) {
  const Event *at = &c->events[event];
  if (at->step == NO_STEP) {
    *list = &c->program->code[at->instruction].expiring;
    return &c->program->code[at->instruction].num_expiring;
  }
  *list = &c->program->steps[at->step].expiring;
  return &c->program->steps[at->step].num_expiring;
}

static bool list_expiring(Compiler *c, Status *status) {
  Program *program = c->program;
  const Slot **list;
  for (int32_t e = 0; e < c->num_events; e++) {
    if (c->events[e].step != NO_STEP) TRY(mark_last_uses(c, e, status));
  }
  for (int64_t v = 0; v < program->num_slots; v++) {
    int32_t last = c->last_readers[v];
    if (last != NO_READER && last != READ_AS_RESULT) ++*expiring_of(c, last, &list);
  }
  Slot *next = arena_alloc(program->arena, program->num_slots * (int64_t)sizeof *next);
  Slot **lists = arena_alloc(c->scratch, c->num_events * (int64_t)sizeof *lists);
  if (!next || !lists) return oom(status);
  for (int32_t e = 0; e < c->num_events; e++) {
    lists[e] = next;
    next += *expiring_of(c, e, &list);
    *list = lists[e];
  }
  for (int64_t v = 0; v < program->num_slots; v++) {
    int32_t last = c->last_readers[v];
    if (last != NO_READER && last != READ_AS_RESULT) *lists[last]++ = (Slot)v;
  }
  return true;
}

static bool compile(Compiler *c, Status *status) {
  TRY(schedule_make(c->program->body, c->scratch, &c->schedule, status));
  TRY(find_roles(c, status));
  TRY(read_constants(c, status));
  TRY(place_values(c, status));
  TRY(make_code(c, status));
  TRY(find_results(c, status));
  TRY(find_args(c, status));
  TRY(list_expiring(c, status));
  if (c->schedule.has_control_flow) TRY(flow_finish(c, status));
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
  schedule_free(&compiler.schedule);
  arena_free(scratch);
  if (!ok) {
    made->body = NULL; /* the caller keeps it */
    program_free(made);
    return false;
  }
  *program = made;
  return true;
}
