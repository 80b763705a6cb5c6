/* Operations on readers: ReaderReadV2, ReaderReadUpToV2, ... have handles as inputs. The older ops without V2
 * have references instead; both have the same contents. */
#include "base/alloc.h"
#include "op/op_registry.h"
#include "ops/parsing/reader.h"
#include "ops/support/queue_source.h"

static bool reader_of(const KernelContext *context, Reader **reader, Status *status) {
  Resource *resource;
  TRY(tensor_resource(context->inputs[0], kReader, &resource, status));
  *reader = (Reader *)resource;
  return true;
}

static bool queue_of(const KernelContext *context, QueueSource **queue, Status *status) {
  Resource *resource;
  TRY(tensor_resource(context->inputs[1], kQueue, &resource, status));
  *queue = (QueueSource *)resource;
  if ((*queue)->num_components != 1) return status_invalid(status, "Expected single component queue");
  return (*queue)->types[0] == DT_STRING ||
         status_invalid(status, "Expected queue with single string component");
}

/* --- reading --- */

/* A kernel that reads. It pauses while another one reads, and while the queue is empty; it has no records
 * then. */
typedef struct Reading {
  PausedKernel paused;  /* first */
  Reader *reader;       /* one reference */
  QueueSource *queue;   /* one reference */
  bool is_turn;         /* the reader is busy with this kernel */
  PausedKernel *taking; /* the pause of the queue, or NULL */
} Reading;

static void reading_free(Reading *reading) {
  Reader *reader = reading->reader;
  if (reading->is_turn) {
    mutex_lock(&reader->lock);
    reader->is_busy = false;
    mutex_unlock(&reader->lock);
  }
  tensor_object_unref(&reader->resource.object);
  tensor_object_unref(&reading->queue->resource.object);
  mem_free(reading);
}

static void reading_abandon(PausedKernel *paused) {
  Reading *reading = (Reading *)paused;
  if (reading->taking) reading->taking->abandon(reading->taking);
  reading_free(reading);
}

static Reading *reading_new(const KernelContext *context, Status *status) {
  Reader *reader;
  QueueSource *queue;
  if (!reader_of(context, &reader, status) || !queue_of(context, &queue, status)) return NULL;
  Reading *reading = mem_calloc(1, sizeof *reading);
  if (!reading) {
    status_oom(status, "an operation on a reader");
    return NULL;
  }
  reading->paused.abandon = reading_abandon;
  reading->reader = reader;
  reading->queue = queue;
  tensor_object_ref(&reader->resource.object);
  tensor_object_ref(&queue->resource.object);
  return reading;
}

/* *waits: another kernel reads. */
static bool wait_for_turn(Reading *reading, KernelContext *context, bool *waits, Status *status) {
  Reader *reader = reading->reader;
  if (!reading->is_turn) {
    mutex_lock(&reader->lock);
    reading->is_turn = !reader->is_busy;
    reader->is_busy = true;
    mutex_unlock(&reader->lock);
  }
  *waits = !reading->is_turn;
  if (!*waits) return true;
  if (!context->step)
    return status_set(status, CODE_FAILED_PRECONDITION, "Only a kernel in a step can wait for a reader");
  return step_block(context->step, status) == RUN_WAITING;
}

/* Takes a piece of work from the queue and begins it. *waits: there is none yet. */
static bool next_work(Reading *reading, KernelContext *context, bool *waits, Status *status) {
  Tensor work = {0};
  KernelContext taking = *context;
  taking.outputs = &work;
  taking.paused = reading->taking;
  reading->taking = NULL;
  if (!reading->queue->take(reading->queue, &taking, status)) {
    mutex_lock(&reading->reader->lock);
    reader_forget_work(reading->reader);
    mutex_unlock(&reading->reader->lock);
    return false;
  }
  reading->taking = taking.paused;
  *waits = taking.paused;
  if (*waits) return true;
  bool ok = tensor_num_elements(&work) == 1 ||
            status_invalid(status, "Expected to dequeue a one-element string tensor");
  mutex_lock(&reading->reader->lock);
  ok = ok && reader_start(reading->reader, tstring_view(tensor_strings(&work)), status);
  mutex_unlock(&reading->reader->lock);
  tensor_clear(&work);
  return ok;
}

/* Records that were read. Elements of the queue of files may be empty files, so there may be none yet. */
typedef struct Records {
  ReaderRecord *records;
  int64_t count, capacity, most;
} Records;

static void records_free(Records *records) {
  for (int64_t i = 0; i < records->count; i++) {
    tstring_free(&records->records[i].key);
    tstring_free(&records->records[i].value);
  }
  mem_free(records->records);
}

/* Reads until there are enough records, or the work ends. */
static bool read_records(Reader *reader, Records *records, Status *status) {
  bool ok = true;
  mutex_lock(&reader->lock);
  while (ok && records->count < records->most && reader_is_working(reader)) {
    ReaderRecord record = {0};
    bool made = false;
    ok = mem_grow((void **)&records->records, &records->capacity, records->count + 1,
                  sizeof *records->records) ||
         status_oom(status, "the records of a reader");
    ok = ok && reader_read(reader, &record, &made, status);
    if (made) {
      records->records[records->count++] = record;
      continue;
    }
    tstring_free(&record.key);
    tstring_free(&record.value);
  }
  mutex_unlock(&reader->lock);
  return ok;
}

static bool is_working(Reader *reader) {
  mutex_lock(&reader->lock);
  bool working = reader_is_working(reader);
  mutex_unlock(&reader->lock);
  return working;
}

/* Reads at least one record, unless it must wait. */
static bool read_some(Reading *reading, KernelContext *context, Records *records, bool *waits,
                      Status *status) {
  TRY(wait_for_turn(reading, context, waits, status));
  while (!*waits && records->count == 0 && records->most > 0) {
    if (!is_working(reading->reader)) TRY(next_work(reading, context, waits, status));
    if (!*waits) TRY(read_records(reading->reader, records, status));
  }
  return true;
}

static bool move_records(KernelContext *context, Records *records, int rank, Status *status) {
  Tensor *keys, *values;
  TRY(kernel_allocate_output_dims(context, 0, rank, &records->count, &keys, status));
  TRY(kernel_allocate_output_dims(context, 1, rank, &records->count, &values, status));
  for (int64_t i = 0; i < records->count; i++) {
    TRY(tstring_copy(&tensor_strings(keys)[i], &records->records[i].key, status));
    TRY(tstring_copy(&tensor_strings(values)[i], &records->records[i].value, status));
  }
  return true;
}

/* Outputs of `rank` 0 for one record, or of rank 1. */
static bool read_up_to(KernelContext *context, int64_t most, int rank, Status *status) {
  Records records = {.most = most};
  bool waits = false;
  Reading *reading = (Reading *)context->paused;
  if (!reading) reading = reading_new(context, status);
  if (!reading) return false;
  bool ok = read_some(reading, context, &records, &waits, status);
  context->paused = ok && waits ? &reading->paused : NULL;
  ok = ok && (waits || move_records(context, &records, rank, status));
  records_free(&records);
  if (!context->paused) reading_free(reading);
  return ok;
}

static bool read_one_kernel(KernelContext *context, Status *status) {
  return read_up_to(context, 1, 0, status);
}

static bool read_up_to_kernel(KernelContext *context, Status *status) {
  const Tensor *most = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(most))
    return status_invalid(status, "num_records must be scalar, but had shape: %s",
                          shape_text(&most->shape, text));
  if (*tensor_i64(most) < 0)
    return status_invalid(status, "num_records must be >= 0 not %lld", (long long)*tensor_i64(most));
  return read_up_to(context, *tensor_i64(most), 1, status);
}

/* --- state --- */

static bool records_produced_kernel(KernelContext *context, Status *status) {
  Reader *reader;
  Tensor *out;
  TRY(reader_of(context, &reader, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  mutex_lock(&reader->lock);
  *tensor_i64(out) = reader->records_produced;
  mutex_unlock(&reader->lock);
  return true;
}

static bool work_completed_kernel(KernelContext *context, Status *status) {
  Reader *reader;
  Tensor *out;
  TRY(reader_of(context, &reader, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  mutex_lock(&reader->lock);
  *tensor_i64(out) = reader->work_finished;
  mutex_unlock(&reader->lock);
  return true;
}

static bool serialize_kernel(KernelContext *context, Status *status) {
  Reader *reader;
  Tensor *out;
  StrBuf bytes = {0};
  TRY(reader_of(context, &reader, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  mutex_lock(&reader->lock);
  bool ok = reader_serialize(reader, &bytes, status);
  mutex_unlock(&reader->lock);
  ok = ok && strbuf_ok(&bytes, status) &&
       tstring_set(tensor_strings(out), strbuf_text(&bytes), (size_t)bytes.length, status);
  strbuf_free(&bytes);
  return ok;
}

static bool restore_kernel(KernelContext *context, Status *status) {
  const Tensor *state = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  Reader *reader;
  TRY(reader_of(context, &reader, status));
  if (!tensor_is_scalar(state))
    return status_invalid(status, "Reader state must be scalar, but had shape: %s",
                          shape_text(&state->shape, text));
  mutex_lock(&reader->lock);
  bool ok = reader_restore(reader, tstring_view(tensor_strings(state)), status);
  mutex_unlock(&reader->lock);
  return ok;
}

static bool reset_kernel(KernelContext *context, Status *status) {
  Reader *reader;
  TRY(reader_of(context, &reader, status));
  mutex_lock(&reader->lock);
  reader_reset(reader);
  mutex_unlock(&reader->lock);
  return true;
}

/* --- shapes --- */

static bool handles_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  for (int i = 0; i < c->num_inputs; i++) TRY(shape_with_rank(c, shape_input(c, i), 0, &scalar, status));
  return shape_scalar_output(c, status);
}

static bool check_reference(InferenceContext *c, int i, Status *status) {
  ShapeHandle pair;
  DimHandle two;
  TRY(shape_with_rank(c, shape_input(c, i), 1, &pair, status));
  return dim_with_value(c, shape_dim_of(c, pair, 0), 2, &two, status);
}

static bool references_shape(InferenceContext *c, Status *status) {
  for (int i = 0; i < c->num_inputs; i++) TRY(check_reference(c, i, status));
  return shape_scalar_output(c, status);
}

static bool restore_reference_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  return check_reference(c, 0, status) && shape_with_rank(c, shape_input(c, 1), 0, &scalar, status);
}

static bool set_up_to(InferenceContext *c, int handle_rank, Status *status) {
  ShapeHandle checked, out;
  for (int i = 0; i < 3; i++)
    TRY(shape_with_rank(c, shape_input(c, i), i < 2 ? handle_rank : 0, &checked, status));
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &out, status));
  shape_set_output(c, 0, out);
  shape_set_output(c, 1, out);
  return true;
}

static bool up_to_shape(InferenceContext *c, Status *status) { return set_up_to(c, 0, status); }
static bool up_to_reference_shape(InferenceContext *c, Status *status) { return set_up_to(c, 1, status); }

/* --- ops --- */

#define READER_KERNEL(compute) .gradient = NO_GRADIENT, .kernels = {{DT_INVALID, compute}}

const OpRegistration kOpReaderRead = {
    .name = "ReaderRead",
    .inputs = {"reader_handle: Ref(string)", "queue_handle: Ref(string)"},
    .outputs = {"key: string", "value: string"},
    .shape = references_shape,
    READER_KERNEL(read_one_kernel),
};

const OpRegistration kOpReaderReadV2 = {
    .name = "ReaderReadV2",
    .inputs = {"reader_handle: resource", "queue_handle: resource"},
    .outputs = {"key: string", "value: string"},
    .is_stateful = true,
    .shape = handles_shape,
    READER_KERNEL(read_one_kernel),
};

const OpRegistration kOpReaderReadUpTo = {
    .name = "ReaderReadUpTo",
    .inputs = {"reader_handle: Ref(string)", "queue_handle: Ref(string)", "num_records: int64"},
    .outputs = {"keys: string", "values: string"},
    .shape = up_to_reference_shape,
    READER_KERNEL(read_up_to_kernel),
};

const OpRegistration kOpReaderReadUpToV2 = {
    .name = "ReaderReadUpToV2",
    .inputs = {"reader_handle: resource", "queue_handle: resource", "num_records: int64"},
    .outputs = {"keys: string", "values: string"},
    .is_stateful = true,
    .shape = up_to_shape,
    READER_KERNEL(read_up_to_kernel),
};

const OpRegistration kOpReaderNumRecordsProduced = {
    .name = "ReaderNumRecordsProduced",
    .inputs = {"reader_handle: Ref(string)"},
    .outputs = {"records_produced: int64"},
    .shape = references_shape,
    READER_KERNEL(records_produced_kernel),
};

const OpRegistration kOpReaderNumRecordsProducedV2 = {
    .name = "ReaderNumRecordsProducedV2",
    .inputs = {"reader_handle: resource"},
    .outputs = {"records_produced: int64"},
    .is_stateful = true,
    .shape = handles_shape,
    READER_KERNEL(records_produced_kernel),
};

const OpRegistration kOpReaderNumWorkUnitsCompleted = {
    .name = "ReaderNumWorkUnitsCompleted",
    .inputs = {"reader_handle: Ref(string)"},
    .outputs = {"units_completed: int64"},
    .shape = references_shape,
    READER_KERNEL(work_completed_kernel),
};

const OpRegistration kOpReaderNumWorkUnitsCompletedV2 = {
    .name = "ReaderNumWorkUnitsCompletedV2",
    .inputs = {"reader_handle: resource"},
    .outputs = {"units_completed: int64"},
    .is_stateful = true,
    .shape = handles_shape,
    READER_KERNEL(work_completed_kernel),
};

const OpRegistration kOpReaderSerializeState = {
    .name = "ReaderSerializeState",
    .inputs = {"reader_handle: Ref(string)"},
    .outputs = {"state: string"},
    .shape = references_shape,
    READER_KERNEL(serialize_kernel),
};

const OpRegistration kOpReaderSerializeStateV2 = {
    .name = "ReaderSerializeStateV2",
    .inputs = {"reader_handle: resource"},
    .outputs = {"state: string"},
    .is_stateful = true,
    .shape = handles_shape,
    READER_KERNEL(serialize_kernel),
};

const OpRegistration kOpReaderRestoreState = {
    .name = "ReaderRestoreState",
    .inputs = {"reader_handle: Ref(string)", "state: string"},
    .shape = restore_reference_shape,
    READER_KERNEL(restore_kernel),
};

const OpRegistration kOpReaderRestoreStateV2 = {
    .name = "ReaderRestoreStateV2",
    .inputs = {"reader_handle: resource", "state: string"},
    .is_stateful = true,
    .shape = handles_shape,
    READER_KERNEL(restore_kernel),
};

const OpRegistration kOpReaderReset = {
    .name = "ReaderReset",
    .inputs = {"reader_handle: Ref(string)"},
    .shape = references_shape,
    READER_KERNEL(reset_kernel),
};

const OpRegistration kOpReaderResetV2 = {
    .name = "ReaderResetV2",
    .inputs = {"reader_handle: resource"},
    .is_stateful = true,
    .shape = handles_shape,
    READER_KERNEL(reset_kernel),
};
