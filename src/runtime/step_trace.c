#include "runtime/step_trace.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sync.h"
#include "device/device.h"
#include "graph/node_class.h"
#include "op/fused_op.h"
#include "tensor/tensor.h"

struct StepTrace {
  Mutex mutex; /* the parts of a step on several devices run at the same time */
  Arena *arena;
  StepStats *stats;
  int64_t num_records;
  int64_t since_1970; /* what a moment of base/clock.h lacks; nanoseconds */
  bool failed;
};

static int64_t nanoseconds_since_1970(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

StepTrace *step_trace_new(void) {
  Arena *arena = arena_new();
  StepTrace *trace = arena ? arena_calloc(arena, 1, sizeof *trace) : NULL;
  if (trace) {
    trace->arena = arena;
    trace->stats = proto_new(kStepStats, arena);
    trace->since_1970 = nanoseconds_since_1970() - clock_nanoseconds();
    if (trace->stats && mutex_init(&trace->mutex)) return trace;
  }
  arena_free(arena);
  return NULL;
}

void step_trace_free(StepTrace *trace) {
  if (!trace) return;
  mutex_destroy(&trace->mutex);
  arena_free(trace->arena);
}

bool step_trace_stats(StepTrace *trace, const StepStats **stats, Status *status) {
  *stats = trace->stats;
  return !trace->failed || status_oom(status, "a trace");
}

void step_trace_lock(StepTrace *trace) { mutex_lock(&trace->mutex); }

void step_trace_unlock(StepTrace *trace) { mutex_unlock(&trace->mutex); }

Arena *step_trace_arena(const StepTrace *trace) { return trace->arena; }

int64_t step_trace_micros(const StepTrace *trace, int64_t nanoseconds) {
  return (nanoseconds + trace->since_1970) / 1000;
}

void step_trace_fail(StepTrace *trace) { trace->failed = true; }

/* --- records --- */

static bool append(StepTrace *trace, void ***array, size_t *count, void *element) {
  Status status;
  status_init(&status);
  bool ok = element && proto_append(trace->arena, array, count, element, &status);
  if (!ok) trace->failed = true;
  return ok;
}

static DeviceStepStats *device_stats(StepTrace *trace, const char *name) {
  StepStats *stats = trace->stats;
  for (size_t i = 0; i < stats->n_dev_stats; i++) {
    if (strcmp(stats->dev_stats[i]->device, name) == 0) return stats->dev_stats[i];
  }
  DeviceStepStats *made = proto_new(kDeviceStepStats, trace->arena);
  if (!append(trace, (void ***)&stats->dev_stats, &stats->n_dev_stats, made)) return NULL;
  made->device = arena_strdup(trace->arena, name);
  return made->device ? made : NULL;
}

/* As in TensorFlow, the control inputs of a constant are left out. */
static void print_inputs(const Node *node, StrBuf *text) {
  const char *separator = "";
  if (node_is_const(node)) return;
  for (int i = 0; i < node->num_inputs; i++, separator = ", ") {
    const Edge *edge = node->inputs[i];
    strbuf_printf(text, "%s%s", separator, edge->src->name);
    if (edge->src_output > 0) strbuf_printf(text, ":%d", edge->src_output);
  }
  for (int64_t i = 0; i < node->num_control_inputs; i++) {
    const Node *src = node->control_inputs[i]->src;
    if (src->id <= SINK_ID) continue;
    strbuf_printf(text, "%s^%s", separator, src->name);
    separator = ", ";
  }
}

/* "_FusedElementwise[Mul,Erf]", "_FusedConv2D[BiasAdd,Relu]", "_FusedRecurrence[MatMul,...]": the op, and
 * those that it stands for. */
static void print_op(const char *op, const AttrEntry *const *attrs, size_t num_attrs, StrBuf *text) {
  const char *name = strcmp(op, FUSED_OP) == 0           ? "ops"
                     : strcmp(op, FUSED_RECURRENCE) == 0 ? "stages"
                                                         : "fused_ops";
  size_t at = 0;
  strbuf_append(text, op);
  while (at < num_attrs && strcmp(attrs[at]->key, name) != 0) at++;
  const AttrValue *ops = at < num_attrs ? attrs[at]->value : NULL;
  if (!ops || (AttrKind)ops->value_case != ATTR_LIST || ops->list->n_s + ops->list->n_func == 0) return;
  for (size_t i = 0; i < ops->list->n_s; i++) {
    strbuf_printf(text, "%s%.*s", i == 0 ? "[" : ",", (int)ops->list->s[i].len,
                  (const char *)ops->list->s[i].data);
  }
  for (size_t i = 0; i < ops->list->n_func; i++) {
    const NameAttrList *stage = ops->list->func[i];
    strbuf_append(text, i == 0 ? "[" : ",");
    /* All map entries have the same layout: a key and a value. */
    print_op(stage->name, (const AttrEntry *const *)stage->attr, stage->n_attr, text);
  }
  strbuf_append(text, "]");
}

static char *label_of(StepTrace *trace, const Node *node, const char *memory) {
  StrBuf text = {0};
  if (!node) return arena_strdup(trace->arena, "_SOURCE = NoOp()");
  strbuf_printf(&text, "%s%s = ", memory, node->name);
  print_op(node->op->def->name, (const AttrEntry *const *)node->def->attr, node->def->n_attr, &text);
  strbuf_append(&text, "(");
  print_inputs(node, &text);
  strbuf_append(&text, ")");
  Status status;
  status_init(&status);
  char *label = strbuf_ok(&text, &status) ? arena_strdup(trace->arena, strbuf_text(&text)) : NULL;
  strbuf_free(&text);
  return label;
}

static void set_times(const StepTrace *trace, const TraceTimes *times, NodeExecStats *record) {
  int64_t ended = clock_nanoseconds();
  record->scheduled_nanos = times->scheduled + trace->since_1970;
  record->all_start_nanos = times->began + trace->since_1970;
  record->op_start_rel_nanos = times->op_began - times->began;
  record->op_end_rel_nanos = times->op_ended - times->began;
  record->all_end_rel_nanos = ended - times->began;
  record->scheduled_micros = record->scheduled_nanos / 1000;
  record->all_start_micros = record->all_start_nanos / 1000;
  record->op_start_rel_micros = record->op_start_rel_nanos / 1000;
  record->op_end_rel_micros = record->op_end_rel_nanos / 1000;
  record->all_end_rel_micros = record->all_end_rel_nanos / 1000;
}

/* Nodes of functions run on the device of their caller. */
static const char *device_of(const Step *step, const Node *node) {
  const char *assigned = node ? node_assigned_device(node) : "";
  if (assigned[0]) return assigned;
  return step->device ? step->device : DEFAULT_DEVICE_NAME;
}

NodeExecStats *step_trace_add(const Step *step, const Node *node, const TraceTimes *times,
                              const char *memory) {
  StepTrace *trace = step->trace;
  if (trace->num_records >= TRACE_MOST_RECORDS) return NULL;
  trace->num_records++;
  DeviceStepStats *device = device_stats(trace, device_of(step, node));
  NodeExecStats *record = device ? proto_new(kNodeExecStats, trace->arena) : NULL;
  if (!record || !append(trace, (void ***)&device->node_stats, &device->n_node_stats, record)) {
    trace->failed = true;
    return NULL;
  }
  char *name = arena_strdup(trace->arena, node ? node->name : "_SOURCE"),
       *label = label_of(trace, node, memory);
  trace->failed |= !name || !label;
  if (name) record->node_name = name;
  if (label) record->timeline_label = label;
  set_times(trace, times, record);
  if (node && node->node_class != NODE_NO_OP) record->memory_stats = proto_new(kMemoryStats, trace->arena);
  return record;
}

static TensorShapeProto *shape_to_proto(StepTrace *trace, const Shape *shape) {
  TensorShapeProto *proto = proto_new(kTensorShapeProto, trace->arena);
  for (int d = 0; proto && d < shape->rank; d++) {
    TensorShapeDim *dim = proto_new(&tensorflow__tensor_shape_proto__dim__descriptor, trace->arena);
    if (!append(trace, (void ***)&proto->dim, &proto->n_dim, dim)) return NULL;
    dim->size = shape_dim(shape, d);
  }
  return proto;
}

OutputStats *step_trace_add_output(StepTrace *trace, NodeExecStats *record, int slot, const Tensor *value) {
  OutputStats *output = proto_new(kOutputStats, trace->arena);
  TensorDescription *tensor = proto_new(kTensorDescription, trace->arena);
  AllocationDescription *memory = proto_new(kAllocationDescription, trace->arena);
  if (!tensor || !memory || !append(trace, (void ***)&record->output, &record->n_output, output)) {
    trace->failed = true;
    return NULL;
  }
  output->slot = slot;
  output->tensor_description = tensor;
  tensor->dtype = (Tensorflow__DataType)value->dtype;
  tensor->shape = shape_to_proto(trace, &value->shape);
  tensor->allocation_description = memory;
  memory->requested_bytes = tensor_num_elements(value) * (int64_t)dtype_size(value->dtype);
  memory->allocator_name = (char *)TRACE_ALLOCATOR;
  memory->ptr = (uint64_t)(uintptr_t)value->data;
  return output;
}
