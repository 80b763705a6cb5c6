#include "base/string_map.h"

#include <string.h>

#include "base/alloc.h"

static uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 29;
  x *= 0xa0761d6478bd642fu;
  return x ^ (x >> 32);
}

uint64_t hash_bytes(const void *bytes, size_t length) {
  const unsigned char *p = bytes;
  uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
  for (; length >= 8; p += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    hash = mix(hash ^ word);
  }
  uint64_t tail = 0;
  for (size_t i = 0; i < length; i++) tail |= (uint64_t)p[i] << (8 * i);
  return mix(hash ^ tail);
}

/* The slot of the key, or the free slot where the search ended. */
static int64_t find_slot(const StringMap *map, const char *key, size_t length, uint32_t hash) {
  int64_t mask = map->num_slots - 1;
  for (int64_t slot = hash & mask;; slot = (slot + 1) & mask) {
    int32_t index = map->slots[slot];
    if (index == 0) return slot;
    const StringMapEntry *entry = &map->entries[index - 1];
    if (entry->key && entry->hash == hash && entry->key_length == length &&
        memcmp(entry->key, key, length) == 0)
      return slot;
  }
}

static const StringMapEntry *find_entry(const StringMap *map, const char *key, size_t length) {
  if (map->count == 0) return NULL;
  int32_t index = map->slots[find_slot(map, key, length, (uint32_t)hash_bytes(key, length))];
  return index ? &map->entries[index - 1] : NULL;
}

void *string_map_find_bytes(const StringMap *map, const char *key, size_t length) {
  const StringMapEntry *entry = find_entry(map, key, length);
  return entry ? entry->value : NULL;
}

void *string_map_find(const StringMap *map, const char *key) {
  return string_map_find_bytes(map, key, strlen(key));
}

bool string_map_contains(const StringMap *map, const char *key) {
  return find_entry(map, key, strlen(key)) != NULL;
}

/* Drops removed entries and rebuilds the slots for at least `count` entries. */
static bool rebuild(StringMap *map, int64_t count) {
  int64_t num_slots = 16;
  while (num_slots < count * 2) num_slots *= 2;
  int32_t *slots = mem_calloc(num_slots, sizeof *slots);
  if (!slots) return false;
  mem_free(map->slots);
  map->slots = slots;
  map->num_slots = num_slots;
  int64_t kept = 0;
  for (int64_t i = 0; i < map->num_entries; i++) {
    if (!map->entries[i].key) continue;
    map->entries[kept] = map->entries[i];
    const StringMapEntry *entry = &map->entries[kept++];
    slots[find_slot(map, entry->key, entry->key_length, entry->hash)] = (int32_t)kept;
  }
  map->num_entries = kept;
  return true;
}

/* Makes space for `more` entries in the slots, which may be rebuilt, and in the list. */
static bool make_room(StringMap *map, int64_t more, Status *status) {
  bool ok = map->num_entries + more <= INT32_MAX / 4;
  if (ok && (map->num_entries + more) * 2 > map->num_slots) ok = rebuild(map, map->count * 2 + more + 8);
  ok = ok &&
       mem_grow((void **)&map->entries, &map->entry_capacity, map->num_entries + more, sizeof *map->entries);
  return ok || status_oom(status, "a string map");
}

bool string_map_reserve(StringMap *map, int64_t count, Status *status) {
  if (count <= map->reserved) return true;
  if (count > INT32_MAX) return status_oom(status, "a string map");
  TRY(make_room(map, count, status));
  map->reserved = count;
  return true;
}

bool string_map_set_bytes(StringMap *map, const char *key, size_t length, void *value, Status *status) {
  if (length > UINT32_MAX) return status_oom(status, "a string map");
  uint32_t hash = (uint32_t)hash_bytes(key, length);
  int64_t slot = map->num_slots > 0 ? find_slot(map, key, length, hash) : 0;
  if (map->num_slots > 0 && map->slots[slot]) {
    map->entries[map->slots[slot] - 1].value = value;
    return true;
  }
  const int32_t *slots = map->slots;
  if (map->reserved > 0) map->reserved--;
  else TRY(make_room(map, 1, status));
  if (map->slots != slots) slot = find_slot(map, key, length, hash);
  map->entries[map->num_entries++] = (StringMapEntry){key, value, (uint32_t)length, hash};
  map->slots[slot] = (int32_t)map->num_entries;
  map->count++;
  return true;
}

bool string_map_set(StringMap *map, const char *key, void *value, Status *status) {
  return string_map_set_bytes(map, key, strlen(key), value, status);
}

void *string_map_remove(StringMap *map, const char *key) {
  return string_map_remove_bytes(map, key, strlen(key));
}

void *string_map_remove_bytes(StringMap *map, const char *key, size_t length) {
  StringMapEntry *entry = (StringMapEntry *)find_entry(map, key, length);
  if (!entry) return NULL;
  /* The slot keeps pointing to the removed entry, so that searches continue past it. */
  entry->key = NULL;
  map->count--;
  return entry->value;
}

void string_map_free(StringMap *map) {
  mem_free(map->entries);
  mem_free(map->slots);
  *map = (StringMap){0};
}
