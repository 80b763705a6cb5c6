#include "runtime/step_cache.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text_format.h"

/* One program for all orders of the same feeds and fetches. */
typedef struct CachedProgram {
  StepSignature signature; /* sorted, in the cache's arena */
  StepProgram *current;
  int64_t mutation_count; /* the graph's count when `current` was compiled */
} CachedProgram;

struct StepCache {
  Graph *graph;
  SessionDevices *devices;
  PlacedGraph *placed;
  bool finalized;
  Arena *arena;       /* keys and entries */
  StringMap requests; /* PreparedStep by the key of the unsorted signature */
  StringMap programs; /* CachedProgram by the key of the sorted signature */
  StringMap families; /* Family by the key of the sorted signature without shapes */
  /* Scratch, so that a repeated request allocates nothing. */
  int64_t *key;
  int64_t key_capacity;
  NodeOutput *outputs;
  int64_t output_capacity;
  int *order;
  int64_t order_capacity;
  int64_t *dims;
  int64_t dims_capacity;
};

/* Steps that differ only in the shapes of their feeds. The first shapes get programs of their own; all others
 * share one, so that steps with many shapes are compiled a few times. */
typedef struct Family {
  int num_shapes; /* that have a program */
} Family;

enum { MOST_SHAPES = 3 };

static bool oom(Status *status) { return status_oom(status, "a request"); }

StepCache *step_cache_new(Graph *graph, SessionDevices *devices, PlacedGraph *placed) {
  StepCache *cache = mem_calloc(1, sizeof *cache);
  if (!cache) return NULL;
  *cache = (StepCache){.graph = graph, .devices = devices, .placed = placed, .arena = arena_new()};
  if (cache->arena) return cache;
  mem_free(cache);
  return NULL;
}

void step_cache_free(StepCache *cache) {
  if (!cache) return;
  for (int64_t i = 0; i < cache->programs.num_entries; i++) {
    CachedProgram *cached = cache->programs.entries[i].value;
    step_program_unref(cached->current);
  }
  string_map_free(&cache->requests);
  string_map_free(&cache->programs);
  string_map_free(&cache->families);
  arena_free(cache->arena);
  mem_free(cache->key);
  mem_free(cache->outputs);
  mem_free(cache->order);
  mem_free(cache->dims);
  mem_free(cache);
}

void step_cache_finalize(StepCache *cache) { cache->finalized = true; }

int64_t step_cache_num_programs(const StepCache *cache) { return cache->programs.count; }

/* --- keys and order --- */

static int64_t write_outputs(const NodeOutput *outputs, int count, int64_t *key) {
  int64_t n = 0;
  for (int i = 0; i < count; i++) {
    key[n++] = outputs[i].node->id;
    key[n++] = outputs[i].index;
  }
  return n;
}

static size_t write_key(const StepSignature *signature, int64_t *key) {
  int64_t n = 0;
  key[n++] = signature->num_feeds;
  key[n++] = signature->num_fetches;
  key[n++] = signature->num_connections;
  key[n++] = signature->num_targets * 2 + signature->any_shapes;
  key[n++] = signature->num_feed_dims;
  n += write_outputs(signature->feeds, signature->num_feeds, key + n);
  n += write_outputs(signature->fetches, signature->num_fetches, key + n);
  for (int i = 0; i < signature->num_connections; i++) {
    n += write_outputs(&signature->connections[i].from, 1, key + n);
    n += write_outputs(&signature->connections[i].to, 1, key + n);
  }
  for (int i = 0; i < signature->num_targets; i++) key[n++] = signature->targets[i]->id;
  for (int i = 0; i < signature->num_feed_dims; i++) key[n++] = signature->feed_dims[i];
  return (size_t)n * sizeof *key;
}

static bool reserve(StepCache *cache, const StepSignature *asked, Status *status) {
  int64_t outputs = (int64_t)asked->num_feeds + asked->num_fetches;
  int64_t words =
      2 * outputs + 4 * (int64_t)asked->num_connections + asked->num_targets + asked->num_feed_dims + 5;
  bool ok = mem_grow((void **)&cache->key, &cache->key_capacity, words, sizeof(int64_t)) &&
            mem_grow((void **)&cache->outputs, &cache->output_capacity, outputs + 1, sizeof(NodeOutput)) &&
            mem_grow((void **)&cache->order, &cache->order_capacity, outputs + 1, sizeof(int)) &&
            mem_grow((void **)&cache->dims, &cache->dims_capacity, (int64_t)asked->num_feed_dims + 1,
                     sizeof(int64_t));
  return ok || oom(status);
}

/* The order of the texts "name:index". TensorFlow sorts outputs in this way, and its messages count results
 * in this order. */
static int compare_outputs(NodeOutput a, NodeOutput b) {
  char ends[2][24];
  if (a.node == b.node && a.index == b.index) return 0;
  const char *x = a.node->name, *y = b.node->name;
  while (*x && *x == *y) x++, y++;
  if (*x && *y) return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
  text_format(ends[0], sizeof ends[0], ":%d", a.index);
  text_format(ends[1], sizeof ends[1], ":%d", b.index);
  return strcmp(*x ? x : ends[0], *y ? y : ends[1]);
}

/* Insertion sort, because there are few feeds and fetches, and most lists are sorted already. order[i] is the
 * caller's position of sorted[i]. */
static void sort_outputs(const NodeOutput *outputs, int count, NodeOutput *sorted, int *order) {
  for (int i = 0; i < count; i++) {
    int k = i;
    for (; k > 0 && compare_outputs(outputs[i], sorted[k - 1]) < 0; k--) {
      sorted[k] = sorted[k - 1];
      order[k] = order[k - 1];
    }
    sorted[k] = outputs[i];
    order[k] = i;
  }
}

static StepSignature without_shapes(const StepSignature *signature) {
  StepSignature same = *signature;
  same.feed_dims = NULL;
  same.num_feed_dims = 0;
  return same;
}

/* Sets the shapes of the sorted feeds. */
static void sort_dims(const StepSignature *asked, const int *order, int64_t *sorted) {
  for (int i = 0; asked->feed_dims && i < asked->num_feeds; i++) {
    const int64_t *dims = asked->feed_dims;
    for (int k = 0; k < order[i]; k++) dims += 1 + dims[0];
    memcpy(sorted, dims, (size_t)(1 + dims[0]) * sizeof *sorted);
    sorted += 1 + dims[0];
  }
}

/* --- families --- */

static Family *find_family(StepCache *cache, const StepSignature *sorted) {
  const StepSignature any = without_shapes(sorted);
  size_t size = write_key(&any, cache->key);
  return string_map_find_bytes(&cache->families, (const char *)cache->key, size);
}

static bool count_program(StepCache *cache, const StepSignature *sorted, Status *status) {
  Family *family = find_family(cache, sorted);
  if (!family) {
    const StepSignature any = without_shapes(sorted);
    size_t size = write_key(&any, cache->key);
    char *key = arena_strndup(cache->arena, (const char *)cache->key, size);
    family = arena_calloc(cache->arena, 1, sizeof *family);
    if (!key || !family) return oom(status);
    TRY(string_map_set_bytes(&cache->families, key, size, family, status));
  }
  family->num_shapes += sorted->feed_dims != NULL;
  return true;
}

/* --- programs --- */

static bool make_body(StepCache *cache, const StepSignature *signature, FunctionBody **body, Status *status) {
  return cache->placed ? placed_graph_client(cache->placed, cache->graph, signature, body, status)
                       : client_graph_of_step(cache->graph, signature, body, status);
}

static bool make_program(StepCache *cache, const StepSignature *signature, StepProgram **made,
                         Status *status) {
  FunctionBody *body;
  return make_body(cache, signature, &body, status) &&
         step_program_compile(body, cache->devices, made, status);
}

static bool refuse_finalized(Status *status) {
  return status_set(status, CODE_FAILED_PRECONDITION, "Session has been finalized.");
}

static void *keep(StepCache *cache, const void *items, int count, size_t size) {
  void *copy = arena_calloc(cache->arena, count, size);
  if (copy && count > 0) memcpy(copy, items, (size_t)count * size);
  return copy;
}

static bool add_program(StepCache *cache, const StepSignature *sorted, CachedProgram **cached,
                        Status *status) {
  if (cache->finalized && !find_family(cache, sorted)) return refuse_finalized(status);
  size_t key_size = write_key(sorted, cache->key);
  ArenaMark mark = arena_mark(cache->arena);
  char *key = arena_strndup(cache->arena, (const char *)cache->key, key_size);
  *cached = arena_calloc(cache->arena, 1, sizeof **cached);
  bool ok = (key && *cached) || oom(status);
  ok = ok && step_signature_copy(sorted, cache->arena, &(*cached)->signature, status) &&
       make_program(cache, sorted, &(*cached)->current, status);
  if (ok) {
    (*cached)->mutation_count = graph_mutation_count(cache->graph);
    if (string_map_set_bytes(&cache->programs, key, key_size, *cached, status))
      return count_program(cache, sorted, status);
    step_program_unref((*cached)->current);
  }
  arena_rollback(cache->arena, mark);
  return false;
}

bool step_cache_use(StepCache *cache, const PreparedStep *prepared, StepProgram **program, Status *status) {
  CachedProgram *cached = prepared->cached;
  int64_t mutation_count = graph_mutation_count(cache->graph);
  if (cached->mutation_count != mutation_count) {
    StepProgram *made;
    if (cache->finalized) return refuse_finalized(status);
    TRY(make_program(cache, &cached->signature, &made, status));
    step_program_unref(cached->current);
    cached->current = made;
    cached->mutation_count = mutation_count;
  }
  *program = step_program_ref(cached->current);
  return true;
}

/* --- requests --- */

static bool add_request(StepCache *cache, const StepSignature *asked, CachedProgram *cached,
                        PreparedStep **prepared, Status *status) {
  size_t key_size = write_key(asked, cache->key);
  char *key = arena_strndup(cache->arena, (const char *)cache->key, key_size);
  *prepared = arena_alloc(cache->arena, sizeof **prepared);
  if (!key || !*prepared) return oom(status);
  **prepared = (PreparedStep){.cached = cached,
                              .num_feeds = asked->num_feeds,
                              .num_fetches = asked->num_fetches,
                              .feeds = keep(cache, asked->feeds, asked->num_feeds, sizeof *asked->feeds),
                              .feed_order = keep(cache, cache->order, asked->num_feeds, sizeof *cache->order),
                              .fetch_order = keep(cache, cache->order + asked->num_feeds, asked->num_fetches,
                                                  sizeof *cache->order)};
  if (!(*prepared)->feeds || !(*prepared)->feed_order || !(*prepared)->fetch_order) return oom(status);
  return string_map_set_bytes(&cache->requests, key, key_size, *prepared, status);
}

static bool find_request(StepCache *cache, const StepSignature *asked, const PreparedStep **prepared) {
  size_t key_size = write_key(asked, cache->key);
  *prepared = string_map_find_bytes(&cache->requests, (const char *)cache->key, key_size);
  return *prepared != NULL;
}

/* The request with its feeds and fetches sorted, in scratch memory. */
static StepSignature sort_request(StepCache *cache, const StepSignature *asked) {
  StepSignature sorted = *asked;
  sorted.feeds = cache->outputs;
  sorted.fetches = cache->outputs + asked->num_feeds;
  sort_outputs(asked->feeds, asked->num_feeds, cache->outputs, cache->order);
  sort_outputs(asked->fetches, asked->num_fetches, cache->outputs + asked->num_feeds,
               cache->order + asked->num_feeds);
  sort_dims(asked, cache->order, cache->dims);
  if (asked->feed_dims) sorted.feed_dims = cache->dims;
  return sorted;
}

bool step_cache_prepare(StepCache *cache, const StepSignature *asked, const PreparedStep **prepared,
                        Status *status) {
  TRY(reserve(cache, asked, status));
  if (find_request(cache, asked, prepared)) return true;
  StepSignature sorted = sort_request(cache, asked), any;
  size_t key_size = write_key(&sorted, cache->key);
  CachedProgram *cached = string_map_find_bytes(&cache->programs, (const char *)cache->key, key_size);
  const Family *family = !cached && asked->feed_dims ? find_family(cache, &sorted) : NULL;
  if (family && family->num_shapes >= MOST_SHAPES) {
    any = without_shapes(asked);
    return step_cache_prepare(cache, &any, prepared, status);
  }
  TRY(cached || add_program(cache, &sorted, &cached, status));
  PreparedStep *made;
  ArenaMark mark = arena_mark(cache->arena);
  if (!add_request(cache, asked, cached, &made, status)) {
    arena_rollback(cache->arena, mark);
    return false;
  }
  *prepared = made;
  return true;
}
