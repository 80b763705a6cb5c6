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
  /* Scratch, so that a repeated request allocates nothing. */
  int64_t *key;
  int64_t key_capacity;
  NodeOutput *outputs;
  int64_t output_capacity;
  int *order;
  int64_t order_capacity;
};

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
  arena_free(cache->arena);
  mem_free(cache->key);
  mem_free(cache->outputs);
  mem_free(cache->order);
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
  n += write_outputs(signature->feeds, signature->num_feeds, key + n);
  n += write_outputs(signature->fetches, signature->num_fetches, key + n);
  for (int i = 0; i < signature->num_connections; i++) {
    n += write_outputs(&signature->connections[i].from, 1, key + n);
    n += write_outputs(&signature->connections[i].to, 1, key + n);
  }
  for (int i = 0; i < signature->num_targets; i++) key[n++] = signature->targets[i]->id;
  return (size_t)n * sizeof *key;
}

static bool reserve(StepCache *cache, const StepSignature *asked, Status *status) {
  int64_t outputs = (int64_t)asked->num_feeds + asked->num_fetches;
  int64_t words = 2 * outputs + 4 * (int64_t)asked->num_connections + asked->num_targets + 4;
  bool ok = mem_grow((void **)&cache->key, &cache->key_capacity, words, sizeof(int64_t)) &&
            mem_grow((void **)&cache->outputs, &cache->output_capacity, outputs + 1, sizeof(NodeOutput)) &&
            mem_grow((void **)&cache->order, &cache->order_capacity, outputs + 1, sizeof(int));
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

/* --- programs --- */

static bool make_body(StepCache *cache, const StepSignature *signature, FunctionBody **body, Status *status) {
  return cache->placed ? placed_graph_client(cache->placed, cache->graph, signature, body, status)
                       : client_graph_of_step(cache->graph, signature, body, status);
}

static bool make_program(StepCache *cache, const StepSignature *signature, StepProgram **made,
                         Status *status) {
  FunctionBody *body;
  if (cache->finalized) return status_set(status, CODE_FAILED_PRECONDITION, "Session has been finalized.");
  return make_body(cache, signature, &body, status) &&
         step_program_compile(body, cache->devices, made, status);
}

static void *keep(StepCache *cache, const void *items, int count, size_t size) {
  void *copy = arena_calloc(cache->arena, count, size);
  if (copy && count > 0) memcpy(copy, items, (size_t)count * size);
  return copy;
}

static bool add_program(StepCache *cache, const StepSignature *sorted, CachedProgram **cached,
                        Status *status) {
  size_t key_size = write_key(sorted, cache->key);
  ArenaMark mark = arena_mark(cache->arena);
  char *key = arena_strndup(cache->arena, (const char *)cache->key, key_size);
  *cached = arena_calloc(cache->arena, 1, sizeof **cached);
  bool ok = (key && *cached) || oom(status);
  ok = ok && step_signature_copy(sorted, cache->arena, &(*cached)->signature, status) &&
       make_program(cache, sorted, &(*cached)->current, status);
  if (ok) {
    (*cached)->mutation_count = graph_mutation_count(cache->graph);
    if (string_map_set_bytes(&cache->programs, key, key_size, *cached, status)) return true;
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

bool step_cache_prepare(StepCache *cache, const StepSignature *asked, const PreparedStep **prepared,
                        Status *status) {
  TRY(reserve(cache, asked, status));
  size_t key_size = write_key(asked, cache->key);
  *prepared = string_map_find_bytes(&cache->requests, (const char *)cache->key, key_size);
  if (*prepared) return true;
  StepSignature sorted = *asked;
  sorted.feeds = cache->outputs;
  sorted.fetches = cache->outputs + asked->num_feeds;
  sort_outputs(asked->feeds, asked->num_feeds, cache->outputs, cache->order);
  sort_outputs(asked->fetches, asked->num_fetches, cache->outputs + asked->num_feeds,
               cache->order + asked->num_feeds);
  key_size = write_key(&sorted, cache->key);
  CachedProgram *cached = string_map_find_bytes(&cache->programs, (const char *)cache->key, key_size);
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
