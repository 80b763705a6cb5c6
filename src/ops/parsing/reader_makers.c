/* The ops that make readers. The older ones have a reference to the reader as output, the V2 ones a handle;
 * both have the same contents. A reader has the name of its node, unless attr shared_name has another. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/parsing/reader.h"

typedef struct MakerState {
  const ReaderKind *kind;
  ReaderSpec spec;
  Str container, name, node;
  Tensor handle; /* empty until first run */
} MakerState;

/* An attr that not all readers have. */
static bool read_size(const NodeDef *node, const char *attr, int64_t *size, Status *status) {
  if (!node_def_attr(node, attr)) return true;
  TRY(node_attr_int(node, attr, size, status));
  return *size >= 0 || status_invalid(status, "%s must be >= 0 not %lld", attr, (long long)*size);
}

static bool refuse_compression(const NodeDef *node, const char *attr, Status *status) {
  Str compression;
  if (!node_def_attr(node, attr)) return true;
  TRY(node_attr_string(node, attr, &compression, status));
  return compression.length == 0 ||
         status_set(status, CODE_UNIMPLEMENTED, "Files with the compression %.*s cannot be read",
                    (int)compression.length, compression.data);
}

static bool maker_construct(const KernelConstruction *construction, void *memory, Status *status) {
  MakerState *state = memory;
  const NodeDef *node = construction->node;
  ReaderSpec *spec = &state->spec;
  state->kind = construction->data;
  state->node = str_of(node->name);
  TRY(node_attr_string(node, "container", &state->container, status));
  TRY(node_attr_string(node, "shared_name", &state->name, status));
  if (state->name.length == 0) state->name = state->node;
  if (state->kind == &kFixedLengthRecordReader) {
    int64_t record_bytes;
    TRY(node_attr_int(node, "record_bytes", &record_bytes, status));
  }
  return read_size(node, "skip_header_lines", &spec->skipped_lines, status) &&
         read_size(node, "header_bytes", &spec->header_bytes, status) &&
         read_size(node, "record_bytes", &spec->record_bytes, status) &&
         read_size(node, "footer_bytes", &spec->footer_bytes, status) &&
         read_size(node, "hop_bytes", &spec->hop_bytes, status) &&
         refuse_compression(node, "compression_type", status) && refuse_compression(node, "encoding", status);
}

static void maker_destroy(void *memory) { tensor_clear(&((MakerState *)memory)->handle); }

static Resource *make_reader(void *argument, Status *status) {
  const MakerState *state = argument;
  return (Resource *)reader_new(state->kind, &state->spec, state->node, status);
}

static bool maker(KernelContext *context, Status *status) {
  MakerState *state = context->state;
  Resource *reader;
  if (!tensor_is_empty(&state->handle)) return kernel_set_output(context, 0, &state->handle, NULL, status);
  if (!context->resources) return status_set(status, CODE_INTERNAL, "No resource manager.");
  return resource_manager_find_or_make(context->resources, state->container, state->name, kReader,
                                       make_reader, state, &reader, status) &&
         resource_handle_tensor(resource_manager_container(context->resources, state->container), state->name,
                                reader, &state->handle, status) &&
         kernel_set_output(context, 0, &state->handle, NULL, status);
}

static bool reference_shape(InferenceContext *c, Status *status) {
  ShapeHandle pair;
  TRY(shape_ok(shape_vector(c, dim_make(c, 2)), &pair, status));
  shape_set_output(c, 0, pair);
  return true;
}

#define NAMES "container: string = ''", "shared_name: string = ''"
#define RECORD_SIZES \
  "header_bytes: int = 0", "record_bytes: int", "footer_bytes: int = 0", "hop_bytes: int = 0"
#define MAKER(kind)                                                               \
  .is_stateful = true, .gradient = NO_GRADIENT, .state_size = sizeof(MakerState), \
  .construct = maker_construct, .destroy = maker_destroy, .kernels = {{DT_INVALID, maker, &(kind)}}
#define V1(successor)                                                                            \
  .outputs = {"reader_handle: Ref(string)"}, .shape = reference_shape, .deprecated_version = 26, \
  .deprecation_explanation = "Use " successor
#define V2 .outputs = {"reader_handle: resource"}, .shape = shape_scalar_output

const OpRegistration kOpTextLineReader = {
    .name = "TextLineReader",
    .attrs = {"skip_header_lines: int = 0", NAMES},
    V1("TextLineReaderV2"),
    MAKER(kTextLineReader),
};

const OpRegistration kOpTextLineReaderV2 = {
    .name = "TextLineReaderV2",
    .attrs = {"skip_header_lines: int = 0", NAMES},
    V2,
    MAKER(kTextLineReader),
};

const OpRegistration kOpWholeFileReader = {
    .name = "WholeFileReader",
    .outputs = {"reader_handle: Ref(string)"},
    .attrs = {NAMES},
    .shape = reference_shape,
    MAKER(kWholeFileReader),
};

const OpRegistration kOpWholeFileReaderV2 = {
    .name = "WholeFileReaderV2",
    .attrs = {NAMES},
    V2,
    MAKER(kWholeFileReader),
};

const OpRegistration kOpFixedLengthRecordReader = {
    .name = "FixedLengthRecordReader",
    .attrs = {RECORD_SIZES, NAMES},
    V1("FixedLengthRecordReaderV2"),
    MAKER(kFixedLengthRecordReader),
};

const OpRegistration kOpFixedLengthRecordReaderV2 = {
    .name = "FixedLengthRecordReaderV2",
    .attrs = {RECORD_SIZES, NAMES, "encoding: string = ''"},
    V2,
    MAKER(kFixedLengthRecordReader),
};

const OpRegistration kOpTFRecordReader = {
    .name = "TFRecordReader",
    .attrs = {NAMES, "compression_type: string = ''"},
    V1("TFRecordReaderV2"),
    MAKER(kTFRecordReader),
};

const OpRegistration kOpTFRecordReaderV2 = {
    .name = "TFRecordReaderV2",
    .attrs = {NAMES, "compression_type: string = ''"},
    V2,
    MAKER(kTFRecordReader),
};

const OpRegistration kOpIdentityReader = {
    .name = "IdentityReader",
    .attrs = {NAMES},
    V1("IdentityReaderV2"),
    MAKER(kIdentityReader),
};

const OpRegistration kOpIdentityReaderV2 = {
    .name = "IdentityReaderV2",
    .attrs = {NAMES},
    V2,
    MAKER(kIdentityReader),
};
