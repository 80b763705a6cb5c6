/* The tiled part of a fused program: all nodes of a tile, then the next tile. */
#include <string.h>

#include "base/odometer.h"
#include "ops/support/fused_loop.h"
#include "ops/support/fused_run.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"

/* A tile has at most MOST_TILE elements; all tiles of a thread together fit the first level of its cache. In
 * shorter rows than SHORT_ROW a tile holds several rows, for which operands that repeat elements are laid
 * out. */
enum { MOST_TILE = 512, SHORT_ROW = 128, ROOM = 65536, MOST_ELEMENT = 8 };

/* --- a node --- */

void fused_node_call(const FusedNode *node, int64_t count, const void *const *operands, BroadcastSide still,
                     void *out) {
  switch (node->kind) {
    case FUSED_UNARY: node->loop.unary(count, operands[0], out); break;
    case FUSED_FUNCTION:
      if (node->type == DT_FLOAT) node->loop.function->f32(count, operands[0], out);
      else node->loop.function->f64(count, operands[0], out);
      break;
    case FUSED_PAIR:
    case FUSED_SLOPE: node->loop.pair(count, operands[0], operands[1], out); break;
    default: node->loop.broadcast(operands[0], operands[1], out, count, still); break;
  }
}

void fused_node_reduce(const FusedNode *node, int64_t rows, int64_t length, const void *x, void *y,
                       const Parallel *parallel) {
  if (node->type == DT_FLOAT) reduce_rows_f32(node->loop.reduce, rows, length, x, y, parallel);
  else reduce_rows_f64(node->loop.reduce, rows, length, x, y, parallel);
}

double fused_node_work(const FusedNode *node) { return node->kind == FUSED_FUNCTION ? 4 : 1; }

/* --- operands that repeat elements --- */

static bool add_partial(FusedRun *run, int value, int64_t size) {
  int node = value - run->program->num_inputs;
  if (run->counts[value] == run->elements || run->counts[value] == 1) return true;
  if (node >= 0 && run->tiled[node]) return true;
  for (int i = 0; i < run->num_partial; i++) {
    if (run->partial[i] == value) return true;
  }
  if (run->num_partial == FUSED_MOST_PARTIAL) return false;
  run->partial_size[run->num_partial] = size;
  run->partial[run->num_partial++] = value;
  return true;
}

/* From the last dimension to the first, then reversed. */
static void make_nest(FusedRun *run) {
  FusedNest *nest = &run->nest;
  const Shape *full = run->shape;
  int64_t sizes[FUSED_MOST_PARTIAL];
  unsigned before = 0;
  nest->rank = 0;
  for (int p = 0; p < run->num_partial; p++) sizes[p] = 1;
  for (int d = 1; d <= full->rank; d++) {
    int64_t size = shape_dim(full, full->rank - d);
    if (size == 1) continue;
    unsigned repeats = 0;
    for (int p = 0; p < run->num_partial; p++) {
      const Shape *own = run->shapes[run->partial[p]];
      if (own->rank < d || shape_dim(own, own->rank - d) == 1) repeats |= 1u << p;
    }
    bool merged = nest->rank > (run->row > 0) && repeats == before;
    if (merged) nest->dims[nest->rank - 1] *= size;
    else nest->dims[nest->rank++] = size;
    for (int p = 0; p < run->num_partial; p++) {
      bool repeated = repeats >> p & 1;
      if (!merged) nest->strides[p][nest->rank - 1] = repeated ? 0 : sizes[p];
      if (!repeated) sizes[p] *= size;
    }
    before = repeats;
  }
  for (int i = 0, j = nest->rank - 1; i < j; i++, j--) {
    int64_t dim = nest->dims[i];
    nest->dims[i] = nest->dims[j], nest->dims[j] = dim;
    for (int p = 0; p < run->num_partial; p++) {
      int64_t stride = nest->strides[p][i];
      nest->strides[p][i] = nest->strides[p][j], nest->strides[p][j] = stride;
    }
  }
}

bool fused_tiles_plan(FusedRun *run) {
  const FusedProgram *program = run->program;
  for (int i = 0; i < program->num_nodes; i++) {
    const FusedNode *node = &program->nodes[i];
    for (int k = 0; run->tiled[i] && k < node->num_operands; k++) {
      if (!add_partial(run, node->operands[k], node->in_size)) return false;
    }
  }
  if (run->num_partial > 0) make_nest(run);
  return run->row * program->num_places * program->widest <= ROOM;
}

/* --- tiles --- */

/* The operand with number p in `partial`, for the current tile. */
typedef struct Repeated {
  char *data;
  bool still;  /* one element for the whole tile */
  char *place; /* short rows: memory for the elements of a tile, or of a tile and a row: */
  bool is_row; /* every row is the same, and `place` holds it many times */
} Repeated;

/* Where the elements for a tile are: `at` elements of `step` bytes behind *base, and `row` of `row_step`. */
typedef struct Access {
  char *const *base;
  int64_t step, row_step;
} Access;

/* The call of a node. */
typedef struct Call {
  const FusedNode *node;
  bool per_row;
  BroadcastSide still;
  Access operands[FUSED_MOST_OPERANDS], out;
} Call;

/* The calls [first, end): each of them in turn, or `loop` (ops/support/fused_loop.h) in place of them. */
typedef struct Group {
  int first, end;
  EmittedLoop *loop; /* may be NULL */
  int64_t unit;
  const Access *pointers[FUSED_LOOP_MOST_POINTERS];
  int num_pointers;
} Group;

typedef struct Tiles {
  const FusedRun *run;
  int64_t length; /* of a tile */
  char *places[FUSED_MOST_NODES + FUSED_MOST_PARTIAL];
  Repeated repeated[FUSED_MOST_PARTIAL];
  Call calls[FUSED_MOST_NODES];
  int num_calls;
  Group groups[FUSED_MOST_NODES];
  int num_groups;
} Tiles;

static Repeated *find_repeated(Tiles *tiles, int value) {
  const FusedRun *run = tiles->run;
  int p = 0;
  while (p < run->num_partial - 1 && run->partial[p] != value) p++;
  return &tiles->repeated[p];
}

static Access value_access(Tiles *tiles, int value, int64_t size, bool *still) {
  const FusedRun *run = tiles->run;
  const FusedProgram *program = run->program;
  int node = value - program->num_inputs;
  bool tiled = node >= 0 && run->tiled[node];
  *still = tiled && run->per_row[node];
  if (tiled && program->nodes[node].output < 0)
    return (Access){&tiles->places[program->nodes[node].place], 0, 0};
  if (*still) return (Access){&run->data[value], 0, size};
  if (run->counts[value] == run->elements) return (Access){&run->data[value], size, 0};
  *still = true;
  if (run->counts[value] == 1) return (Access){&run->data[value], 0, 0};
  Repeated *repeated = find_repeated(tiles, value);
  *still = repeated->still;
  return (Access){&repeated->data, 0, 0};
}

/* After it is known which operands are still. */
static void make_calls(Tiles *tiles) {
  const FusedRun *run = tiles->run;
  tiles->num_calls = 0;
  for (int i = 0; i < run->program->num_nodes; i++) {
    const FusedNode *node = &run->program->nodes[i];
    if (!run->tiled[i]) continue;
    Call *call = &tiles->calls[tiles->num_calls++];
    bool still[FUSED_MOST_OPERANDS] = {false}, none;
    call->node = node;
    call->per_row = run->per_row[i];
    for (int k = 0; k < node->num_operands; k++)
      call->operands[k] = value_access(tiles, node->operands[k], node->in_size, &still[k]);
    call->still = still[0] ? BROADCAST_A : still[1] ? BROADCAST_B : BROADCAST_NONE;
    call->out = value_access(tiles, run->program->num_inputs + i, node->out_size, &none);
  }
}

static bool is_still(const Call *call, int operand) {
  return call->still == (operand == 0 ? BROADCAST_A : BROADCAST_B);
}

/* --- groups of calls --- */

static bool may_join(const Call *call, DataType type) {
  return call->node->formula > 0 && !call->per_row && call->node->type == type;
}

/* The number of a pointer that is read or written; -1 if there are too many. */
static int add_pointer(Group *group, FusedLoop *loop, const Access *access) {
  if (group->num_pointers == FUSED_LOOP_MOST_POINTERS) return -1;
  group->pointers[group->num_pointers] = access;
  loop->num_pointers++;
  return group->num_pointers++;
}

/* The operand of a node of the loop: the value of a node before it, or a pointer. `known`: by value, the
 * operand that it is, or -1. */
static int loop_operand(const Call *call, int k, Group *group, FusedLoop *loop, int *known) {
  int *operand = &known[call->node->operands[k]];
  if (*operand >= 0) return *operand;
  *operand = add_pointer(group, loop, &call->operands[k]);
  if (*operand >= 0 && is_still(call, k)) loop->still |= 1u << *operand;
  return *operand;
}

/* Whether nodes after the group, or the caller, read the value. */
static bool is_read_later(const Tiles *tiles, const Group *group, const FusedNode *node) {
  const FusedProgram *program = tiles->run->program;
  const FusedNode *last = tiles->calls[group->end - 1].node;
  int value = program->num_inputs + (int)(node - program->nodes);
  return node->output >= 0 || program->last_reads[value] > last - program->nodes;
}

/* Describes the group as a loop. False if it has too many pointers. */
static bool describe_loop(const Tiles *tiles, Group *group, FusedLoop *loop) {
  const FusedProgram *program = tiles->run->program;
  int known[FUSED_MOST_VALUES];
  for (int i = 0; i < program->num_inputs + program->num_nodes; i++) known[i] = -1;
  loop->is_double = tiles->calls[group->first].node->type == DT_DOUBLE;
  for (int i = group->first; i < group->end; i++) {
    const Call *call = &tiles->calls[i];
    FusedLoopNode *node = &loop->nodes[loop->num_nodes];
    int out = FUSED_LOOP_INSIDE;
    node->formula = call->node->formula;
    for (int k = 0; k < call->node->num_operands; k++) {
      int operand = loop_operand(call, k, group, loop, known);
      if (operand < 0) return false;
      node->operands[k] = (uint8_t)operand;
    }
    if (is_read_later(tiles, group, call->node) && (out = add_pointer(group, loop, &call->out)) < 0)
      return false;
    node->out = (uint8_t)out;
    known[program->num_inputs + (int)(call->node - program->nodes)] = FUSED_LOOP_NODES + loop->num_nodes++;
  }
  return true;
}

/* Adjacent calls that one loop can compute are a group, and so is any other call alone. `elements`: how many
 * are computed next. */
static void make_groups(Tiles *tiles, int64_t elements) {
  tiles->num_groups = 0;
  fused_loop_reserve(tiles->num_calls);
  for (int i = 0; i < tiles->num_calls;) {
    Group *group = &tiles->groups[tiles->num_groups++];
    *group = (Group){.first = i, .end = i + 1};
    DataType type = tiles->calls[i].node->type;
    while (may_join(&tiles->calls[i], type) && group->end < tiles->num_calls &&
           may_join(&tiles->calls[group->end], type))
      group->end++;
    FusedLoop loop = {0};
    if (group->end > i + 1 && describe_loop(tiles, group, &loop)) {
      group->loop = fused_loop_code(&loop, elements);
      group->unit = fused_loop_unit(&loop);
    }
    i = group->end;
  }
}

/* --- a tile --- */

ALWAYS_INLINE char *address(const Access *access, int64_t at, int64_t row) {
  return *access->base + at * access->step + row * access->row_step;
}

/* Elements [from, count) of a tile. */
static void run_calls(const Tiles *tiles, const Group *group, int64_t at, int64_t row, int64_t from,
                      int64_t count) {
  for (int i = group->first; i < group->end; i++) {
    const Call *call = &tiles->calls[i];
    const FusedNode *node = call->node;
    const void *operands[FUSED_MOST_OPERANDS];
    for (int k = 0; k < node->num_operands; k++)
      operands[k] = address(&call->operands[k], at, row) + (is_still(call, k) ? 0 : from * node->in_size);
    char *out = address(&call->out, at, row) + from * node->out_size;
    if (node->kind == FUSED_REDUCE) fused_node_reduce(node, 1, count, operands[0], out, NULL);
    else fused_node_call(node, call->per_row ? 1 : count - from, operands, call->still, out);
  }
}

static void run_tile(const Tiles *tiles, int64_t at, int64_t row, int64_t count) {
  for (int i = 0; i < tiles->num_groups; i++) {
    const Group *group = &tiles->groups[i];
    int64_t rounds = group->loop ? count / group->unit : 0;
    if (rounds > 0) {
      char *pointers[FUSED_LOOP_MOST_POINTERS];
      for (int k = 0; k < group->num_pointers; k++) pointers[k] = address(group->pointers[k], at, row);
      group->loop(pointers, (int32_t)rounds);
    }
    if (rounds == 0 || rounds * group->unit < count)
      run_calls(tiles, group, at, row, rounds > 0 ? rounds * group->unit : 0, count);
  }
}

/* --- rows --- */

static Odometer walk(const FusedRun *run, int p, int64_t *index) {
  return (Odometer){.rank = run->nest.rank - 1,
                    .dims = run->nest.dims,
                    .strides = {run->nest.strides[p]},
                    .index = index};
}

/* A tile is part of a row: operands are in place. */
static void run_long_rows(Tiles *tiles, int64_t begin, int64_t end) {
  const FusedRun *run = tiles->run;
  int last = run->nest.rank - 1;
  int64_t row = run->nest.dims[last];
  while (begin < end) {
    int64_t column = begin % row, stop = begin - column + row < end ? begin - column + row : end;
    int64_t offsets[FUSED_MOST_PARTIAL], index[BROADCAST_MAX_RANK];
    for (int p = 0; p < run->num_partial; p++) {
      Odometer o = walk(run, p, index);
      odometer_seek(&o, 1, begin / row);
      offsets[p] = o.at[0];
    }
    for (; begin < stop; begin += tiles->length, column += tiles->length) {
      for (int p = 0; p < run->num_partial; p++) {
        int64_t offset = offsets[p] + column * run->nest.strides[p][last];
        tiles->repeated[p].data = run->data[run->partial[p]] + offset * run->partial_size[p];
      }
      run_tile(tiles, begin, 0, stop - begin < tiles->length ? stop - begin : tiles->length);
    }
    begin = stop;
  }
}

/* Writes the elements of output elements [at, at + count). */
static void lay_out(const FusedRun *run, int p, int64_t at, int64_t count, char *to) {
  int last = run->nest.rank - 1;
  int64_t row = run->nest.dims[last], column = at % row, stride = run->nest.strides[p][last];
  int64_t size = run->partial_size[p], index[BROADCAST_MAX_RANK];
  const char *from = run->data[run->partial[p]];
  Odometer o = walk(run, p, index);
  odometer_seek(&o, 1, at / row);
  while (count > 0) {
    int64_t n = row - column < count ? row - column : count;
    const char *first = from + (o.at[0] + column * stride) * size;
    if (stride == 0) array_spread(size, n, first, to);
    else memcpy(to, first, (size_t)(n * size));
    to += n * size;
    count -= n;
    column = 0;
    odometer_advance(&o, 1, 1);
  }
}

static void lay_out_rows(Tiles *tiles) {
  const FusedRun *run = tiles->run;
  int last = run->nest.rank - 1;
  int64_t row = run->nest.dims[last];
  for (int p = 0; p < run->num_partial; p++) {
    Repeated *repeated = &tiles->repeated[p];
    repeated->still = false;
    repeated->is_row = true;
    for (int d = 0; d < last; d++) repeated->is_row &= run->nest.strides[p][d] == 0;
    repeated->place = tiles->places[run->program->num_places + p];
    int64_t all = tiles->length + row < run->elements ? tiles->length + row : run->elements;
    if (repeated->is_row) lay_out(run, p, 0, all, repeated->place);
  }
}

/* A tile holds several rows. */
static void run_short_rows(Tiles *tiles, int64_t begin, int64_t end) {
  const FusedRun *run = tiles->run;
  int64_t row = run->nest.dims[run->nest.rank - 1];
  for (; begin < end; begin += tiles->length) {
    int64_t count = end - begin < tiles->length ? end - begin : tiles->length;
    for (int p = 0; p < run->num_partial; p++) {
      Repeated *repeated = &tiles->repeated[p];
      if (!repeated->is_row) lay_out(run, p, begin, count, repeated->place);
      repeated->data = repeated->place + (repeated->is_row ? begin % row : 0) * run->partial_size[p];
    }
    run_tile(tiles, begin, 0, count);
  }
}

/* Rows [begin, end), each of them a tile. */
static void run_rows(Tiles *tiles, int64_t begin, int64_t end) {
  const FusedRun *run = tiles->run;
  int64_t index[BROADCAST_MAX_RANK];
  for (int64_t row = begin; row < end; row++) {
    for (int p = 0; p < run->num_partial; p++) {
      Odometer o = walk(run, p, index);
      odometer_seek(&o, 1, row);
      tiles->repeated[p].data = run->data[run->partial[p]] + o.at[0] * run->partial_size[p];
    }
    run_tile(tiles, row * run->row, row, run->row);
  }
}

/* All elements are in place or single. */
static void run_plain(Tiles *tiles, int64_t begin, int64_t end) {
  for (; begin < end; begin += tiles->length)
    run_tile(tiles, begin, 0, end - begin < tiles->length ? end - begin : tiles->length);
}

/* --- all --- */

static bool has_short_rows(const FusedRun *run) {
  return run->row == 0 && run->num_partial > 0 && run->nest.dims[run->nest.rank - 1] < SHORT_ROW;
}

/* For `elements` elements. */
static void begin_tiles(Tiles *tiles, const FusedRun *run, char *room, int64_t elements) {
  int count = run->program->num_places + run->num_partial;
  int64_t length = ROOM / ((count + 1) * MOST_ELEMENT) - SHORT_ROW;
  tiles->run = run;
  tiles->length = length > MOST_TILE ? MOST_TILE : length / 16 * 16;
  for (int i = 0; i < count; i++) tiles->places[i] = room + i * (tiles->length + SHORT_ROW) * MOST_ELEMENT;
  for (int i = 0; run->row > 0 && i < run->program->num_places; i++)
    tiles->places[i] = room + i * run->row * run->program->widest;
  if (has_short_rows(run)) {
    lay_out_rows(tiles);
  } else {
    for (int p = 0; p < run->num_partial; p++)
      tiles->repeated[p].still = run->nest.strides[p][run->nest.rank - 1] == 0;
  }
  make_calls(tiles);
  make_groups(tiles, elements);
}

void fused_tiles_block(const FusedRun *run, int64_t first, int64_t rows, int64_t stride, int64_t columns) {
  _Alignas(64) char room[ROOM];
  Tiles tiles;
  begin_tiles(&tiles, run, room, rows * columns);
  if (columns == stride) columns *= rows, rows = 1;
  for (; rows > 0; rows--, first += stride) {
    int64_t end = first + columns;
    if (run->row > 0) run_rows(&tiles, first / run->row, end / run->row);
    else if (run->num_partial == 0) run_plain(&tiles, first, end);
    else if (has_short_rows(run)) run_short_rows(&tiles, first, end);
    else run_long_rows(&tiles, first, end);
  }
}

/* Elements, or rows, [begin, end). */
static void run_range(void *arg, int64_t begin, int64_t end) {
  const FusedRun *run = arg;
  int64_t size = run->row > 0 ? run->row : 1;
  fused_tiles_block(run, begin * size, 1, 0, (end - begin) * size);
}

double fused_run_work(const FusedRun *run) {
  double work = 0;
  for (int i = 0; i < run->program->num_nodes; i++) {
    if (run->tiled[i]) work += fused_node_work(&run->program->nodes[i]);
  }
  return work;
}

void fused_tiles_run(const FusedRun *run) {
  double work = fused_run_work(run);
  int64_t tile = run->row > 0 ? run->row : 1;
  if (work > 0)
    parallel_work(run->parallel, run->elements / tile, work * (double)tile, run_range, (void *)run);
}
