/* The tiled part of a fused program: all nodes of a tile, then the next tile. */
#include <string.h>

#include "base/odometer.h"
#include "ops/support/fused_run.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"

/* A tile has at most MOST_TILE elements; all tiles of a thread together fit the first level of its cache. In
 * shorter rows than SHORT_ROW a tile holds several rows, for which operands that repeat elements are laid
 * out. */
enum { MOST_TILE = 512, SHORT_ROW = 128, ROOM = 65536, MOST_ELEMENT = 8 };

/* --- a node --- */

void fused_node_call(const FusedNode *node, int64_t count, const void *const *operands, unsigned still,
                     void *out) {
  BroadcastSide side = still & 1 ? BROADCAST_A : still & 2 ? BROADCAST_B : BROADCAST_NONE;
  switch (node->kind) {
    case FUSED_UNARY: node->loop.unary(count, operands[0], out); break;
    case FUSED_FUNCTION:
      if (node->type == DT_FLOAT) node->loop.function->f32(count, operands[0], out);
      else node->loop.function->f64(count, operands[0], out);
      break;
    case FUSED_PAIR:
    case FUSED_SLOPE: node->loop.pair(count, operands[0], operands[1], out); break;
    case FUSED_SELECT: select_elements(count, node->out_size, operands, still, out); break;
    default: node->loop.broadcast(operands[0], operands[1], out, count, side); break;
  }
}

void fused_node_reduce(const FusedNode *node, int64_t rows, int64_t length, const void *x, void *y,
                       const Parallel *parallel) {
  node->loop.reduce.loops->rows(node->loop.reduce.kind, rows, length, x, y, parallel);
}

double fused_node_work(const FusedNode *node) { return node->kind == FUSED_FUNCTION ? 4 : 1; }

/* --- operands that are not laid out like the result --- */

static bool is_part(const FusedRun *run, int value) {
  return value < run->program->num_inputs && run->pitch[value] > 0;
}

static bool add_partial(FusedRun *run, int value, int64_t size) {
  int node = value - run->program->num_inputs;
  if (run->counts[value] == 1 || (run->counts[value] == run->elements && !is_part(run, value))) return true;
  if (node >= 0 && run->tiled[node]) return true;
  for (int i = 0; i < run->num_partial; i++) {
    if (run->partial[i] == value) return true;
  }
  if (run->num_partial == FUSED_MOST_PARTIAL) return false;
  run->partial_size[run->num_partial] = size;
  run->partial[run->num_partial++] = value;
  return true;
}

static void swap(int64_t *a, int64_t *b) {
  int64_t before = *a;
  *a = *b, *b = before;
}

/* From the last dimension to the first. */
static bool add_dimensions(FusedRun *run) {
  FusedNest *nest = &run->nest;
  const Shape *full = run->shape;
  int64_t sizes[FUSED_MOST_PARTIAL];
  unsigned before = 0;
  bool merges = false; /* not with nothing, nor a row that is a tile, nor columns of longer rows */
  nest->rank = 0;
  for (int p = 0; p < run->num_partial; p++) sizes[p] = 1;
  for (int d = 1; d <= full->rank; d++) {
    int64_t size = shape_dim(full, full->rank - d);
    unsigned repeats = 0;
    for (int p = 0; p < run->num_partial; p++) {
      const Shape *own = run->shapes[run->partial[p]];
      if (own->rank < d || shape_dim(own, own->rank - d) == 1) repeats |= 1u << p;
    }
    if (size != 1) {
      bool merged = merges && repeats == before;
      if (!merged && nest->rank == FUSED_MOST_NEST) return false;
      if (merged) nest->dims[nest->rank - 1] *= size;
      else nest->dims[nest->rank++] = size;
      for (int p = 0; p < run->num_partial; p++) {
        bool repeated = repeats >> p & 1;
        if (!merged) nest->strides[p][nest->rank - 1] = repeated ? 0 : sizes[p];
        if (!repeated) sizes[p] *= size;
      }
      before = repeats;
      merges = run->row == 0 || nest->rank > 1;
    }
    for (int p = 0; d == 1 && p < run->num_partial; p++) {
      if (!is_part(run, run->partial[p])) continue;
      sizes[p] = run->pitch[run->partial[p]];
      merges = false;
    }
  }
  return true;
}

static bool make_nest(FusedRun *run) {
  FusedNest *nest = &run->nest;
  if (!add_dimensions(run)) return false;
  for (int i = 0, j = nest->rank - 1; i < j; i++, j--) {
    swap(&nest->dims[i], &nest->dims[j]);
    for (int p = 0; p < run->num_partial; p++) swap(&nest->strides[p][i], &nest->strides[p][j]);
  }
  return true;
}

bool fused_tiles_find_partial(FusedRun *run) {
  const FusedProgram *program = run->program;
  run->num_partial = 0;
  for (int i = 0; i < program->num_nodes; i++) {
    const FusedNode *node = &program->nodes[i];
    for (int k = 0; run->tiled[i] && k < node->num_operands; k++) {
      if (!add_partial(run, node->operands[k], fused_operand_size(node, k))) return false;
    }
  }
  if (run->num_partial > 0 && !make_nest(run)) return false;
  return run->row * program->num_places * program->widest <= ROOM;
}

/* --- the plan of the tiles --- */

static bool has_short_rows(const FusedRun *run) {
  return run->row == 0 && run->num_partial > 0 && run->nest.rank > 1 &&
         run->nest.dims[run->nest.rank - 1] < SHORT_ROW;
}

static int find_partial(const FusedRun *run, int value) {
  int p = 0;
  while (p < run->num_partial - 1 && run->partial[p] != value) p++;
  return p;
}

static FusedAccess value_access(const FusedRun *run, int value, int64_t size, bool *still) {
  const FusedProgram *program = run->program;
  int node = value - program->num_inputs, num_values = program->num_inputs + program->num_nodes;
  bool tiled = node >= 0 && run->tiled[node];
  *still = tiled && run->per_row[node];
  if (tiled && program->nodes[node].output < 0)
    return (FusedAccess){num_values + program->nodes[node].place, 0, 0};
  if (*still) return (FusedAccess){value, 0, (int32_t)size};
  if (run->counts[value] == run->elements && !(node < 0 && is_part(run, value)))
    return (FusedAccess){value, (int32_t)size, 0};
  *still = true;
  if (run->counts[value] == 1) return (FusedAccess){value, 0, 0};
  int p = find_partial(run, value);
  *still = !has_short_rows(run) && run->nest.strides[p][run->nest.rank - 1] == 0;
  return (FusedAccess){num_values + program->num_places + p, 0, 0};
}

static void make_calls(FusedRun *run) {
  run->num_calls = 0;
  for (int i = 0; i < run->program->num_nodes; i++) {
    const FusedNode *node = &run->program->nodes[i];
    if (!run->tiled[i]) continue;
    FusedCall *call = &run->calls[run->num_calls++];
    bool still;
    call->node = node;
    call->per_row = run->per_row[i];
    call->still = 0;
    for (int k = 0; k < node->num_operands; k++) {
      call->operands[k] = value_access(run, node->operands[k], fused_operand_size(node, k), &still);
      call->still |= (uint8_t)(still << k);
    }
    call->out = value_access(run, run->program->num_inputs + i, node->out_size, &still);
  }
}

void fused_tiles_plan(FusedRun *run) {
  int count = run->program->num_places + run->num_partial;
  int64_t length = ROOM / ((count + 1) * MOST_ELEMENT) - SHORT_ROW;
  run->length = length > MOST_TILE ? MOST_TILE : length / 16 * 16;
  make_calls(run);
  fused_groups_plan(run);
}

/* --- tiles --- */

enum { MOST_BASES = FUSED_MOST_VALUES + FUSED_MOST_NODES + FUSED_MOST_PARTIAL };

/* The tiles of one thread. */
typedef struct Tiles {
  const FusedRun *run;
  char *bases[MOST_BASES];        /* see FusedAccess */
  char **partial;                 /* those of the partial operands */
  char *laid[FUSED_MOST_PARTIAL]; /* short rows: memory for the elements of a tile, or of a tile and a row: */
  bool is_row[FUSED_MOST_PARTIAL];      /* every row is the same, and `laid` holds it many times */
  EmittedLoop *loops[FUSED_MOST_NODES]; /* by group; NULL: the calls in turn */
} Tiles;

ALWAYS_INLINE char *address(const Tiles *tiles, const FusedAccess *access, int64_t at, int64_t row) {
  return tiles->bases[access->base] + (intptr_t)at * access->step + (intptr_t)row * access->row_step;
}

/* Elements [from, count) of a tile. */
static void run_calls(const Tiles *tiles, const FusedGroup *group, int64_t at, int64_t row, int64_t from,
                      int64_t count) {
  for (int i = group->first; i < group->end; i++) {
    const FusedCall *call = &tiles->run->calls[i];
    const FusedNode *node = call->node;
    const void *operands[FUSED_MOST_OPERANDS];
    for (int k = 0; k < node->num_operands; k++)
      operands[k] = address(tiles, &call->operands[k], at, row) +
                    (fused_is_still(call, k) ? 0 : (intptr_t)from * fused_operand_size(node, k));
    char *out = address(tiles, &call->out, at, row) + (intptr_t)from * node->out_size;
    if (node->kind == FUSED_REDUCE)
      node->loop.reduce.loops->row(node->loop.reduce.kind, count, operands[0], out);
    else fused_node_call(node, call->per_row ? 1 : count - from, operands, call->still, out);
  }
}

/* The first elements of a tile; returns their number. */
static int64_t run_loop(const Tiles *tiles, const FusedGroup *group, EmittedLoop *loop, int64_t at,
                        int64_t row, int64_t count) {
  int64_t rounds = count / group->unit;
  char *pointers[FUSED_LOOP_MOST_POINTERS];
  for (int i = 0; i < group->loop.num_pointers; i++) {
    const FusedCall *call = &tiles->run->calls[group->pointers[i] / FUSED_ACCESSES];
    int access = group->pointers[i] % FUSED_ACCESSES;
    pointers[i] =
        address(tiles, access < FUSED_MOST_OPERANDS ? &call->operands[access] : &call->out, at, row);
  }
  if (rounds > 0) loop(pointers, (int32_t)rounds);
  const FusedCall *last = &tiles->run->calls[group->end - 1];
  if (last->node->kind == FUSED_REDUCE && last->node->loop.reduce.kind == REDUCE_MEAN)
    last->node->loop.reduce.loops->divide(address(tiles, &last->out, at, row), count);
  return rounds * group->unit;
}

static void run_tile(const Tiles *tiles, int64_t at, int64_t row, int64_t count) {
  for (int i = 0; i < tiles->run->num_groups; i++) {
    const FusedGroup *group = &tiles->run->groups[i];
    EmittedLoop *loop = tiles->loops[i];
    if (group->whole_tiles && count % group->unit != 0) loop = NULL;
    int64_t done = loop ? run_loop(tiles, group, loop, at, row, count) : 0;
    if (done < count) run_calls(tiles, group, at, row, done, count);
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
    for (; begin < stop; begin += run->length, column += run->length) {
      for (int p = 0; p < run->num_partial; p++) {
        int64_t offset = offsets[p] + column * run->nest.strides[p][last];
        tiles->partial[p] = tiles->bases[run->partial[p]] + offset * run->partial_size[p];
      }
      run_tile(tiles, begin, 0, stop - begin < run->length ? stop - begin : run->length);
    }
    begin = stop;
  }
}

/* Writes the elements of output elements [at, at + count). */
static void lay_out(const Tiles *tiles, int p, int64_t at, int64_t count, char *to) {
  const FusedRun *run = tiles->run;
  int last = run->nest.rank - 1;
  int64_t row = run->nest.dims[last], column = at % row, stride = run->nest.strides[p][last];
  int64_t size = run->partial_size[p], index[BROADCAST_MAX_RANK];
  const char *from = tiles->bases[run->partial[p]];
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
    tiles->is_row[p] = true;
    for (int d = 0; d < last; d++) tiles->is_row[p] &= run->nest.strides[p][d] == 0;
    int64_t all = run->length + row < run->elements ? run->length + row : run->elements;
    if (tiles->is_row[p]) lay_out(tiles, p, 0, all, tiles->laid[p]);
  }
}

/* A tile holds several rows. */
static void run_short_rows(Tiles *tiles, int64_t begin, int64_t end) {
  const FusedRun *run = tiles->run;
  int64_t row = run->nest.dims[run->nest.rank - 1];
  for (; begin < end; begin += run->length) {
    int64_t count = end - begin < run->length ? end - begin : run->length;
    for (int p = 0; p < run->num_partial; p++) {
      bool is_row = tiles->is_row[p];
      if (!is_row) lay_out(tiles, p, begin, count, tiles->laid[p]);
      tiles->partial[p] = tiles->laid[p] + (is_row ? begin % row : 0) * run->partial_size[p];
    }
    run_tile(tiles, begin, 0, count);
  }
}

/* Rows [begin, end), each of them a tile. */
static void run_rows(Tiles *tiles, int64_t begin, int64_t end) {
  const FusedRun *run = tiles->run;
  int64_t index[FUSED_MOST_PARTIAL][FUSED_MOST_NEST];
  Odometer walks[FUSED_MOST_PARTIAL];
  for (int p = 0; p < run->num_partial; p++) {
    walks[p] = walk(run, p, index[p]);
    odometer_seek(&walks[p], 1, begin);
  }
  for (int64_t row = begin; row < end; row++) {
    for (int p = 0; p < run->num_partial; p++) {
      tiles->partial[p] = tiles->bases[run->partial[p]] + walks[p].at[0] * run->partial_size[p];
      odometer_advance(&walks[p], 1, 1);
    }
    run_tile(tiles, row * run->row, row, run->row);
  }
}

/* All elements are in place or single. */
static void run_plain(Tiles *tiles, int64_t begin, int64_t end) {
  int64_t length = tiles->run->length;
  for (; begin < end; begin += length) run_tile(tiles, begin, 0, end - begin < length ? end - begin : length);
}

/* --- all --- */

/* For `elements` elements of the values at `data`. */
static void begin_tiles(Tiles *tiles, const FusedRun *run, char *const *data, char *room, int64_t elements) {
  const FusedProgram *program = run->program;
  int num_values = program->num_inputs + program->num_nodes, num_places = program->num_places;
  int64_t size = run->row > 0 ? run->row * program->widest : (run->length + SHORT_ROW) * MOST_ELEMENT;
  tiles->run = run;
  for (int i = 0; i < num_values; i++) tiles->bases[i] = data[i];
  for (int i = 0; i < num_places; i++) tiles->bases[num_values + i] = room + i * size;
  tiles->partial = tiles->bases + num_values + num_places;
  for (int p = 0; p < run->num_partial; p++) tiles->laid[p] = room + (num_places + p) * size;
  if (has_short_rows(run)) lay_out_rows(tiles);
  fused_loop_reserve(run->num_groups);
  for (int i = 0; i < run->num_groups; i++) {
    const FusedGroup *group = &run->groups[i];
    tiles->loops[i] = group->unit > 0 ? fused_loop_code(&group->loop, group->hash, elements) : NULL;
  }
}

void fused_tiles_block_at(const FusedRun *run, char *const *data, int64_t first, int64_t rows, int64_t stride,
                          int64_t columns) {
  _Alignas(64) char room[ROOM];
  Tiles tiles;
  begin_tiles(&tiles, run, data, room, rows * columns);
  if (columns == stride) columns *= rows, rows = 1;
  for (; rows > 0; rows--, first += stride) {
    int64_t end = first + columns;
    if (run->row > 0) run_rows(&tiles, first / run->row, end / run->row);
    else if (run->num_partial == 0) run_plain(&tiles, first, end);
    else if (has_short_rows(run)) run_short_rows(&tiles, first, end);
    else run_long_rows(&tiles, first, end);
  }
}

void fused_tiles_block(const FusedRun *run, int64_t first, int64_t rows, int64_t stride, int64_t columns) {
  fused_tiles_block_at(run, run->data, first, rows, stride, columns);
}

/* What threads share: rows where operands are placed by row and a tile has space for one, else so many
 * elements. */
static int64_t unit_of(const FusedRun *run) {
  enum { UNIT = 128 };
  if (run->row > 0) return run->row;
  if (run->num_partial == 0 || has_short_rows(run)) return UNIT;
  int64_t row = run->nest.dims[run->nest.rank - 1];
  return row <= run->length ? row : UNIT;
}

/* Units [begin, end). */
static void run_range(void *arg, int64_t begin, int64_t end) {
  const FusedRun *run = arg;
  int64_t unit = unit_of(run), first = begin * unit, last = end * unit;
  fused_tiles_block(run, first, 1, 0, (last < run->elements ? last : run->elements) - first);
}

double fused_run_work(const FusedRun *run) {
  enum { AT_ONCE = 4 }; /* the loops compute vectors */
  double work = 0;
  for (int i = 0; i < run->program->num_nodes; i++) {
    if (run->tiled[i]) work += fused_node_work(&run->program->nodes[i]);
  }
  return work / AT_ONCE;
}

void fused_tiles_run(const FusedRun *run) {
  enum { MOVED = 4 }; /* bytes of an element, if threads have the same part of it as in the loop before */
  double work = fused_run_work(run);
  int64_t unit = unit_of(run), units = run->elements / unit + (run->elements % unit != 0);
  if (work > 0)
    parallel_arithmetic(run->parallel, units, work * (double)unit, MOVED * (double)unit, run_range,
                        (void *)run);
}
