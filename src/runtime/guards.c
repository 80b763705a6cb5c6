#include "runtime/guards.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The longest chain of implied guards that is searched. A limit only means that some guards are redundant. */
enum { MAX_CHAIN = 64 };

static bool oom(Status *status) { return status_oom(status, "the guards of a program"); }

bool guards_init(Guards *guards, Arena *arena, Status *status) {
  Guard always;
  *guards = (Guards){.arena = arena};
  return guards_add(guards, GUARD_ALWAYS, &always, status);
}

void guards_free(Guards *guards) {
  mem_free(guards->info);
  string_map_free(&guards->known);
  *guards = (Guards){0};
}

bool guards_add(Guards *guards, Guard implied, Guard *guard, Status *status) {
  if (guards->count == INT32_MAX ||
      !mem_grow((void **)&guards->info, &guards->capacity, (int64_t)guards->count + 1, sizeof *guards->info))
    return oom(status);
  guards->info[guards->count] = (GuardInfo){.implied = implied};
  *guard = guards->count++;
  return true;
}

static bool implies(const Guards *guards, Guard a, Guard b) {
  for (int i = 0; i < MAX_CHAIN && a != GUARD_ALWAYS; i++) {
    if (a == b) return true;
    a = guards->info[a].implied;
  }
  return b == GUARD_ALWAYS;
}

/* --- by key --- */

static bool remember(Guards *guards, const void *key, size_t size, Guard guard, Status *status) {
  char *copy = arena_strndup(guards->arena, key, size);
  Guard *value = arena_alloc(guards->arena, sizeof *value);
  if (!copy || !value) return oom(status);
  *value = guard;
  return string_map_set_bytes(&guards->known, copy, size, value, status);
}

bool guards_of_switch(Guards *guards, const Edge *predicate, Guard guard, int num_outputs, Guard *first,
                      bool *known, Status *status) {
  const int64_t key[] = {predicate->src->id, predicate->src_output, guard, num_outputs};
  const Guard *there = string_map_find_bytes(&guards->known, (const char *)key, sizeof key);
  *known = there != NULL;
  if (there) {
    *first = *there;
    return true;
  }
  for (int i = 0; i < num_outputs; i++) {
    Guard output = 0;
    TRY(guards_add(guards, guard, &output, status));
    if (i == 0) *first = output;
    guards->info[output].switched = *first;
    guards->info[output].outputs = num_outputs;
  }
  return remember(guards, key, sizeof key, *first, status);
}

/* --- combinations --- */

static int compare_guards(const void *a, const void *b) {
  Guard x = *(const Guard *)a, y = *(const Guard *)b;
  return (x > y) - (x < y);
}

/* Removes duplicates, and guards that another one implies. */
static int shorten(const Guards *guards, Guard *all, int count) {
  int kept = 0;
  qsort(all, (size_t)count, sizeof *all, compare_guards);
  for (int i = 0; i < count; i++) {
    bool needed = i == 0 || all[i] != all[i - 1];
    for (int k = 0; needed && k < count; k++) needed = all[k] == all[i] || !implies(guards, all[k], all[i]);
    if (needed) all[kept++] = all[i];
  }
  return kept;
}

bool guards_all_of(Guards *guards, Guard *all, int count, Guard *guard, bool *known, Status *status) {
  *known = true;
  if (count > 1) count = shorten(guards, all, count);
  if (count < 2) {
    *guard = count == 0 ? GUARD_ALWAYS : all[0];
    return true;
  }
  size_t size = (size_t)count * sizeof *all;
  const Guard *there = string_map_find_bytes(&guards->known, (const char *)all, size);
  if (there) {
    *guard = *there;
    return true;
  }
  *known = false;
  Guard *parts = arena_alloc(guards->arena, (int64_t)size);
  if (!parts) return oom(status);
  memcpy(parts, all, size);
  TRY(guards_add(guards, all[0], guard, status));
  guards->info[*guard].parts = parts;
  guards->info[*guard].num_parts = count;
  return remember(guards, all, size, *guard, status);
}

void guards_any_of(const Guards *guards, const Guard *any, int count, Guard *guard, bool *found) {
  const GuardInfo *first = &guards->info[any[0]];
  bool whole = first->switched != 0 && count == first->outputs;
  for (int i = 0; i < count; i++) whole = whole && guards->info[any[i]].switched == first->switched;
  for (int i = 0; i < count; i++) {
    for (int k = 0; whole && k < i; k++) whole = any[i] != any[k];
  }
  *found = whole;
  *guard = first->implied;
  for (int i = 1; i < count && *guard != GUARD_ALWAYS; i++) {
    int steps = 0;
    while (*guard != GUARD_ALWAYS && !implies(guards, any[i], *guard) && steps++ < MAX_CHAIN)
      *guard = guards->info[*guard].implied;
    if (steps >= MAX_CHAIN) *guard = GUARD_ALWAYS;
  }
}
