#include "tensor/tstring.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"

_Static_assert(sizeof(TString) == TSTRING_BYTES, "the layout of TF_TString");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the kind lies in the first byte");

enum { KIND_BITS = 2, LARGE_STEP = 16 };

/* The limit of the size fields, and space for the allocation's overhead. */
static const size_t LONGEST = (SIZE_MAX >> KIND_BITS) - 64;

void tstring_init(TString *string) { memset(string, 0, sizeof *string); }

Str tstring_view(const TString *string) {
  switch (tstring_type(string)) {
    case TSTRING_LARGE: return (Str){string->large.text, string->large.size >> KIND_BITS};
    case TSTRING_OFFSET:
      return (Str){(const char *)string + string->offset.offset, (size_t)(string->offset.size >> KIND_BITS)};
    case TSTRING_VIEW: {
      size_t length = string->view.size >> KIND_BITS;
      return (Str){length > 0 ? string->view.text : "", length};
    }
    default: return (Str){string->small.text, (size_t)(string->small.size >> KIND_BITS)};
  }
}

size_t tstring_capacity(const TString *string) {
  switch (tstring_type(string)) {
    case TSTRING_SMALL: return TSTRING_SMALL_CAPACITY;
    case TSTRING_LARGE: return string->large.capacity;
    default: return 0;
  }
}

bool tstring_equal(const TString *a, const TString *b) { return str_equal(tstring_view(a), tstring_view(b)); }

void tstring_free(TString *string) {
  TStringType type = tstring_type(string);
  if (type == TSTRING_LARGE) mem_loose_free(string->large.text, (int64_t)string->large.capacity + 1);
  if (type == TSTRING_VIEW && string->view.owner) (void)string->view.owner->unref(string->view.owner);
  tstring_init(string);
}

bool tstring_set(TString *string, const void *bytes, size_t length, Status *status) {
  TString result;
  tstring_init(&result);
  if (length <= TSTRING_SMALL_CAPACITY) {
    result.small.size = (uint8_t)(length << KIND_BITS | TSTRING_SMALL);
    if (length > 0) memcpy(result.small.text, bytes, length);
  } else {
    if (length > LONGEST) return status_oom(status, "string");
    size_t room = length / LARGE_STEP * LARGE_STEP + LARGE_STEP; /* with the NUL */
    char *text = mem_loose_alloc((int64_t)room);
    if (!text) return status_oom(status, "string");
    memcpy(text, bytes, length);
    text[length] = '\0';
    result.large.size = length << KIND_BITS | TSTRING_LARGE;
    result.large.capacity = room - 1;
    result.large.text = text;
  }
  tstring_free(string);
  *string = result;
  return true;
}

typedef struct SharedText {
  TStringOwner owner;
  atomic_int references;
  char text[];
} SharedText;

static void ref_shared(TStringOwner *owner) {
  atomic_fetch_add_explicit(&((SharedText *)owner->object)->references, 1, memory_order_relaxed);
}

static bool unref_shared(TStringOwner *owner) {
  SharedText *shared = owner->object;
  if (atomic_fetch_sub_explicit(&shared->references, 1, memory_order_acq_rel) != 1) return false;
  mem_free(shared);
  return true;
}

bool tstring_set_shared(TString *string, const void *bytes, size_t length, Status *status) {
  if (length <= TSTRING_SMALL_CAPACITY) return tstring_set(string, bytes, length, status);
  if (length > LONGEST) return status_oom(status, "string");
  SharedText *shared = mem_alloc((int64_t)(sizeof *shared + length + 1));
  if (!shared) return status_oom(status, "string");
  shared->owner = (TStringOwner){ref_shared, unref_shared, shared};
  atomic_init(&shared->references, 1);
  memcpy(shared->text, bytes, length);
  shared->text[length] = '\0';
  tstring_assign_view(string, shared->text, length);
  string->view.owner = &shared->owner;
  return true;
}

bool tstring_copy(TString *to, const TString *from, Status *status) {
  if (to == from) return true;
  if (tstring_type(from) == TSTRING_VIEW && from->view.owner) {
    TString shared = *from;
    shared.view.owner->ref(shared.view.owner);
    tstring_free(to);
    *to = shared;
    return true;
  }
  Str bytes = tstring_view(from);
  return tstring_set(to, bytes.data, bytes.length, status);
}

void tstring_assign_view(TString *string, const void *bytes, size_t length) {
  tstring_free(string);
  string->view.size = length << KIND_BITS | TSTRING_VIEW;
  string->view.text = bytes;
}
