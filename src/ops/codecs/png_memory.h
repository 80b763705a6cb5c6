/* The memory of libpng is the engine's. */
#ifndef TFCORE_OPS_CODECS_PNG_MEMORY_H_
#define TFCORE_OPS_CODECS_PNG_MEMORY_H_

#include <png.h>
#include <setjmp.h>

#include "base/alloc.h"

/* What libpng's callbacks need. It comes first in the state of a reader or writer. */
typedef struct PngCall {
  jmp_buf on_error; /* where png_fail continues */
  bool out_of_memory;
} PngCall;

/* Callbacks whose pointer is a PngCall. */
static inline void *png_allocate(png_structp png, png_alloc_size_t size) {
  PngCall *call = png_get_mem_ptr(png);
  void *memory = mem_alloc((int64_t)size); /* refuses what becomes negative */
  if (!memory) call->out_of_memory = true;
  return memory;
}
static inline void png_release(png_structp png, void *memory) {
  (void)png;
  mem_free(memory);
}
static inline _Noreturn void png_fail(png_structp png, png_const_charp message) {
  (void)message;
  longjmp(((PngCall *)png_get_error_ptr(png))->on_error, 1);
}
static inline void png_ignore(png_structp png, png_const_charp message) { (void)png, (void)message; }

#endif
