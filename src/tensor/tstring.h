/* TString: one element of a DT_STRING tensor, laid out in memory as TensorFlow's TF_TString (ctstring.h), so
 * that a tensor's data can be passed to users of the C API unchanged: 24 bytes on every host, little-endian,
 * the two lowest bits of the first byte tell the kind.
 *
 *   small   up to 22 bytes and a NUL in place
 *   large   bytes from malloc(), NUL-terminated, owned
 *   offset  bytes that lie behind the element itself, at a distance from it; not owned. Such elements are
 *           read, never made
 *   view    bytes of somebody else's; kept alive by a counted owner if there is one
 *
 * Programs compiled with TensorFlow's headers change elements in place, with malloc(), realloc() and free().
 * So the bytes of a large string are loose memory (base/alloc.h), which the last user frees. With the NUL
 * they take capacity + 1 bytes, a multiple of 16.
 *
 * A zero-initialised TString is the empty string. Elements are never copied with `=`: two would own the same
 * bytes.
 */
#ifndef TFCORE_TENSOR_TSTRING_H_
#define TFCORE_TENSOR_TSTRING_H_

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

typedef enum TStringType {
  TSTRING_SMALL = 0,
  TSTRING_LARGE = 1,
  TSTRING_OFFSET = 2,
  TSTRING_VIEW = 3
} TStringType;

enum { TSTRING_BYTES = 24, TSTRING_SMALL_CAPACITY = TSTRING_BYTES - 2 };

/* Keeps the bytes of views alive: TensorFlow's TStringOwnerCApi. `unref` returns whether that was the last
 * reference. */
typedef struct TStringOwner {
  void (*ref)(struct TStringOwner *owner);
  bool (*unref)(struct TStringOwner *owner);
  void *object;
} TStringOwner;

/* Every size is shifted left by 2, with the kind below it. */
typedef union TString {
  struct {
    uint8_t size;
    char text[TSTRING_SMALL_CAPACITY + 1];
  } small;
  struct {
    size_t size, capacity;
    char *text;
  } large;
  struct {
    uint32_t size, offset, count;
  } offset;
  struct {
    size_t size;
    const char *text;
    TStringOwner *owner;
  } view;
  uint8_t raw[TSTRING_BYTES];
} TString;

/* Makes it the empty string and ignores its old contents. */
void tstring_init(TString *string);
static inline TStringType tstring_type(const TString *string) { return (TStringType)(string->raw[0] & 3); }
/* The bytes, borrowed until the element changes or moves; never NULL, NUL-terminated unless the element is an
 * offset or a view. */
Str tstring_view(const TString *string);
/* The length that the string may reach without an allocation: 0 for strings that own no memory. */
size_t tstring_capacity(const TString *string);
bool tstring_equal(const TString *a, const TString *b);
/* Copies the bytes, which may be the string's own, and frees the old contents. After RESOURCE_EXHAUSTED the
 * string is unchanged. */
MUST_CHECK bool tstring_set(TString *string, const void *bytes, size_t length, Status *status);
/* The same, except that bytes that do not fit inline become a view with a counted owner: tstring_copy of it
 * shares the bytes. For a text of many elements. */
MUST_CHECK bool tstring_set_shared(TString *string, const void *bytes, size_t length, Status *status);
/* Copies another string. Bytes with a counted owner are shared, all others are copied. */
MUST_CHECK bool tstring_copy(TString *to, const TString *from, Status *status);
/* Refers to bytes that the caller keeps alive, and frees the old contents. */
void tstring_assign_view(TString *string, const void *bytes, size_t length);
/* Frees the owned bytes; the string is empty afterwards. */
void tstring_free(TString *string);

#endif
