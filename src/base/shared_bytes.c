#include "base/shared_bytes.h"

#include "base/alloc.h"
#include "base/sync.h"

/* Before the bytes. */
typedef struct Header {
  struct Header *next; /* in its bucket */
  int64_t references;
} Header;

enum { HEADER_BYTES = 64, LOG2_BUCKETS = 10 };

_Static_assert(sizeof(Header) <= HEADER_BYTES, "the bytes are aligned to 64");

static Mutex lock = MUTEX_INIT;
static Header *buckets[1 << LOG2_BUCKETS];

static Header *header_of(const void *data) { return (Header *)((uintptr_t)data - HEADER_BYTES); }

static Header **bucket_of(const Header *header) {
  return &buckets[(uint64_t)(uintptr_t)header * 0x9e3779b97f4a7c15u >> (64 - LOG2_BUCKETS)];
}

void *shared_bytes_new(int64_t size) {
  Header *header = size < 0 || size > INT64_MAX - HEADER_BYTES ? NULL : mem_alloc(HEADER_BYTES + size);
  if (!header) return NULL;
  Header **bucket = bucket_of(header);
  mutex_lock(&lock);
  *header = (Header){*bucket, 1};
  *bucket = header;
  mutex_unlock(&lock);
  return (char *)header + HEADER_BYTES;
}

bool shared_bytes_ref(const void *data) {
  const Header *wanted = header_of(data);
  mutex_lock(&lock);
  Header *header = *bucket_of(wanted);
  while (header && header != wanted) header = header->next;
  if (header) header->references++;
  mutex_unlock(&lock);
  return header;
}

void shared_bytes_unref(void *data) {
  Header *header = header_of(data);
  mutex_lock(&lock);
  bool last = --header->references == 0;
  if (last) {
    Header **link = bucket_of(header);
    while (*link != header) link = &(*link)->next;
    *link = header->next;
  }
  mutex_unlock(&lock);
  if (last) mem_free(header);
}
