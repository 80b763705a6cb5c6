#include "ops/math/segment_rows.h"

#include <float.h>
#include <string.h>

#include "ops/support/element_types.h"
#include "ops/support/typed_loops.h"

enum { SEGMENT_BLOCK = 256 };

#define TEMPLATE "ops/math/segment_rows.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

/* For a dtype: its loops and, as bytes, the elements of segments without entries. */
typedef union SegmentElement {
  uint8_t u8;
  int8_t i8;
  uint16_t u16;
  int16_t i16;
  uint32_t u32;
  int32_t i32;
  uint64_t u64;
  int64_t i64;
  float f32[2];
  double f64[2];
} SegmentElement;

typedef struct SegmentLoops {
  void (*combine_runs)(const SegmentRuns *job, int64_t begin, int64_t end);
  void (*scatter)(const SegmentScatter *job, int64_t begin, int64_t end);
  SegmentElement one, lowest, highest;
} SegmentLoops;

static const SegmentLoops kSegments_f32 = {combine_runs_f32,
                                           scatter_f32,
                                           {.f32 = {1}},
                                           {.f32 = {-FLT_MAX}},
                                           {.f32 = {FLT_MAX}}};
static const SegmentLoops kSegments_f64 = {combine_runs_f64,
                                           scatter_f64,
                                           {.f64 = {1}},
                                           {.f64 = {-DBL_MAX}},
                                           {.f64 = {DBL_MAX}}};
static const SegmentLoops kSegments_f16 = {combine_runs_f16,
                                           scatter_f16,
                                           {.u16 = 0x3c00},
                                           {.u16 = 0xfbff},
                                           {.u16 = 0x7bff}};
static const SegmentLoops kSegments_bf16 = {combine_runs_bf16,
                                            scatter_bf16,
                                            {.u16 = 0x3f80},
                                            {.u16 = 0xff7f},
                                            {.u16 = 0x7f7f}};
static const SegmentLoops kSegments_c64 = {combine_runs_c64,
                                           scatter_c64,
                                           {.f32 = {1, 0}},
                                           {.f32 = {0, 0}},
                                           {.f32 = {0, 0}}};
static const SegmentLoops kSegments_c128 = {combine_runs_c128,
                                            scatter_c128,
                                            {.f64 = {1, 0}},
                                            {.f64 = {0, 0}},
                                            {.f64 = {0, 0}}};
static const SegmentLoops kSegments_u8 = {combine_runs_u8,
                                          scatter_u8,
                                          {.u8 = 1},
                                          {.u8 = 0},
                                          {.u8 = UINT8_MAX}};
static const SegmentLoops kSegments_i8 = {combine_runs_i8,
                                          scatter_i8,
                                          {.i8 = 1},
                                          {.i8 = INT8_MIN},
                                          {.i8 = INT8_MAX}};
static const SegmentLoops kSegments_u16 = {combine_runs_u16,
                                           scatter_u16,
                                           {.u16 = 1},
                                           {.u16 = 0},
                                           {.u16 = UINT16_MAX}};
static const SegmentLoops kSegments_i16 = {combine_runs_i16,
                                           scatter_i16,
                                           {.i16 = 1},
                                           {.i16 = INT16_MIN},
                                           {.i16 = INT16_MAX}};
static const SegmentLoops kSegments_u32 = {combine_runs_u32,
                                           scatter_u32,
                                           {.u32 = 1},
                                           {.u32 = 0},
                                           {.u32 = UINT32_MAX}};
static const SegmentLoops kSegments_i32 = {combine_runs_i32,
                                           scatter_i32,
                                           {.i32 = 1},
                                           {.i32 = INT32_MIN},
                                           {.i32 = INT32_MAX}};
static const SegmentLoops kSegments_u64 = {combine_runs_u64,
                                           scatter_u64,
                                           {.u64 = 1},
                                           {.u64 = 0},
                                           {.u64 = UINT64_MAX}};
static const SegmentLoops kSegments_i64 = {combine_runs_i64,
                                           scatter_i64,
                                           {.i64 = 1},
                                           {.i64 = INT64_MIN},
                                           {.i64 = INT64_MAX}};
static const KernelEntry kTypedSegments[] = {TYPED_NUMBER_KERNELS(NULL, &kSegments)};

static const SegmentLoops *loops_of(DataType type) { return TYPED_LOOPS(kTypedSegments, type); }

/* The work of `rows` rows, for at most one block of columns. */
static double work_of(int64_t rows, int64_t columns) {
  return (double)rows * (double)(columns < SEGMENT_BLOCK ? columns : SEGMENT_BLOCK);
}

typedef struct RunsJob {
  const SegmentRuns *runs;
  void (*combine)(const SegmentRuns *job, int64_t begin, int64_t end);
} RunsJob;

static void run_runs(void *arg, int64_t begin, int64_t end) {
  const RunsJob *job = arg;
  job->combine(job->runs, begin, end);
}

static void fill_empty(const SegmentRuns *runs, const SegmentLoops *loops, DataType type) {
  size_t size = dtype_size(type);
  int64_t elements = runs->num_segments * runs->columns;
  if (runs->kind != SEGMENT_PROD) {
    memset(runs->out, 0, (size_t)elements * size);
  } else {
    for (int64_t i = 0; i < elements; i++) memcpy((char *)runs->out + (size_t)i * size, &loops->one, size);
  }
}

bool segment_combine_sorted(KernelContext *context, SegmentRuns *runs, DataType type, Status *status) {
  if (runs->num_segments == 0 || runs->columns == 0) return true;
  const SegmentLoops *loops = loops_of(type);
  Buffer *scratch = kernel_scratch(context, (runs->count + 1) * (int64_t)sizeof(int64_t), status);
  if (!scratch) return false;
  int64_t *begins = scratch->data, num_runs = 0;
  for (int64_t i = 0; i < runs->count; i++) {
    if (i == 0 || segment_id(runs->ids, i) != segment_id(runs->ids, i - 1)) begins[num_runs++] = i;
  }
  begins[num_runs] = runs->count;
  runs->begins = begins;
  if (num_runs < runs->num_segments) fill_empty(runs, loops, type);
  RunsJob job = {runs, loops->combine_runs};
  int64_t blocks = (runs->columns - 1) / SEGMENT_BLOCK + 1,
          rows_of_run = num_runs > 0 ? runs->count / num_runs : 1;
  parallel_work(context->parallel, num_runs * blocks, work_of(rows_of_run + 1, runs->columns), run_runs,
                &job);
  buffer_unref(scratch);
  return true;
}

typedef struct ScatterJob {
  const SegmentScatter *scatter;
  void (*add)(const SegmentScatter *job, int64_t begin, int64_t end);
} ScatterJob;

static void run_scatter(void *arg, int64_t begin, int64_t end) {
  const ScatterJob *job = arg;
  job->add(job->scatter, begin, end);
}

void segment_scatter(KernelContext *context, SegmentScatter *scatter, DataType type) {
  if (scatter->num_segments == 0 || scatter->columns == 0) return;
  static const SegmentElement kZero;
  const SegmentLoops *loops = loops_of(type);
  scatter->neutral = scatter->kind == SEGMENT_PROD  ? &loops->one
                     : scatter->kind == SEGMENT_MIN ? &loops->highest
                     : scatter->kind == SEGMENT_MAX ? &loops->lowest
                                                    : &kZero;
  ScatterJob job = {scatter, loops->scatter};
  /* Every range reads all ids, so there are at most as many ranges as threads. */
  int64_t share = (scatter->num_segments - 1) / parallel_threads(context->parallel) + 1,
          entries = scatter->count / scatter->num_segments,
          least = parallel_wake_grain(work_of(entries + 1, scatter->columns));
  parallel_for(context->parallel, scatter->num_segments, share > least ? share : least, run_scatter, &job);
}

bool segment_check_sorted(SegmentIds ids, int64_t count, int64_t num_segments, Status *status) {
  for (int64_t i = 0; i < count; i++) {
    int64_t id = segment_id(ids, i), next = i + 1 < count ? segment_id(ids, i + 1) : INT64_MAX;
    if (next == id) continue; /* only the last of a segment is checked */
    if (next < id) return status_invalid(status, "segment ids are not increasing");
    if (id < 0 || id >= num_segments) {
      return status_invalid(status,
                            "Segment id %lld out of range [0, %lld), possibly because 'segment_ids' input is "
                            "not sorted.",
                            (long long)id, (long long)num_segments);
    }
  }
  return true;
}

bool segment_allocate(KernelContext *context, const Tensor *data, int covered, int64_t rows, Tensor **out,
                      int64_t *columns, Status *status) {
  int64_t dims[SHAPE_MAX_RANK + 1];
  int rank = 0;
  dims[rank++] = rows;
  for (int i = covered; i < data->shape.rank; i++) dims[rank++] = shape_dim(&data->shape, i);
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, out, status));
  /* Without rows or elements there is nothing to do, and products of the other sizes may overflow. */
  int64_t elements = tensor_num_elements(*out);
  *columns = elements == 0 ? 0 : elements / rows;
  return true;
}

bool segment_set_shape(InferenceContext *c, ShapeHandle data, int64_t covered, DimHandle rows,
                       Status *status) {
  ShapeHandle rest, out;
  DimHandle size = rows;
  if (!size) TRY(dim_ok(dim_unknown(c), &size, status));
  TRY(shape_subshape(c, data, covered, INT64_MAX, 1, &rest, status));
  TRY(shape_concatenate(c, shape_vector(c, size), rest, &out, status));
  shape_set_output(c, 0, out);
  return true;
}
