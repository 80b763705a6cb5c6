/* A set of integers below a fixed size, as a tree of 64-bit words: finding the minimum takes one step per
 * level. */
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"

bool id_set_init(IdSet *set, int64_t size, Status *status) {
  *set = (IdSet){0};
  int64_t words = size;
  do {
    words = (words + 63) / 64;
    if (words == 0) words = 1;
    set->levels[set->num_levels] = mem_calloc(words, sizeof(uint64_t));
    if (!set->levels[set->num_levels]) {
      id_set_free(set);
      return status_oom(status, "a set of nodes");
    }
    set->num_levels++;
  } while (words > 1 && set->num_levels < ID_SET_LEVELS);
  return true;
}

void id_set_free(IdSet *set) {
  for (int i = 0; i < set->num_levels; i++) mem_free(set->levels[i]);
  *set = (IdSet){0};
}

void id_set_add(IdSet *set, int64_t id) {
  for (int i = 0; i < set->num_levels; i++, id >>= 6) set->levels[i][id >> 6] |= (uint64_t)1 << (id & 63);
}

int64_t id_set_take_first(IdSet *set) {
  int64_t id = 0;
  for (int i = set->num_levels - 1; i >= 0; i--) {
    uint64_t word = set->levels[i][id];
    if (word == 0) return -1;
    id = id * 64 + __builtin_ctzll(word);
  }
  int64_t member = id;
  for (int i = 0; i < set->num_levels; i++, id >>= 6) {
    uint64_t *word = &set->levels[i][id >> 6];
    *word &= ~((uint64_t)1 << (id & 63));
    if (*word) break;
  }
  return member;
}
