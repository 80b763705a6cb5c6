/* StringMap: maps strings to pointers. Open addressing; iterates in insertion order. Keys are borrowed and
 * must outlive their entry (usually they are allocated in the arena of the map's owner). */
#ifndef TFCORE_BASE_STRING_MAP_H_
#define TFCORE_BASE_STRING_MAP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct StringMapEntry {
  const char *key; /* NULL: removed */
  void *value;
  uint32_t key_length, hash;
} StringMapEntry;

/* Zero-initialise; free with string_map_free. */
typedef struct StringMap {
  StringMapEntry *entries; /* in insertion order, removed ones with key NULL */
  int64_t num_entries, entry_capacity;
  int64_t count;     /* live entries */
  int32_t *slots;    /* index + 1 into entries; 0 = free */
  int64_t num_slots; /* power of two */
  int64_t reserved;  /* entries that can still be added without allocating */
} StringMap;

/* The value, or NULL if the key is missing. */
void *string_map_find(const StringMap *map, const char *key);
void *string_map_find_bytes(const StringMap *map, const char *key, size_t length);
bool string_map_contains(const StringMap *map, const char *key);
/* Adds or replaces. False only when out of memory; the map is then unchanged. */
MUST_CHECK bool string_map_set(StringMap *map, const char *key, void *value, Status *status);
MUST_CHECK bool string_map_set_bytes(StringMap *map, const char *key, size_t length, void *value,
                                     Status *status);
/* Makes space for `count` more entries, so that adding them allocates nothing. */
MUST_CHECK bool string_map_reserve(StringMap *map, int64_t count, Status *status);
/* The removed value, or NULL. */
void *string_map_remove(StringMap *map, const char *key);
void *string_map_remove_bytes(StringMap *map, const char *key, size_t length);
/* Frees the map's own memory, not keys or values. */
void string_map_free(StringMap *map);

/* 64-bit hash of bytes; the same on every platform. */
uint64_t hash_bytes(const void *bytes, size_t length);

#endif
