/* A file in memory as libjpeg's source of data. */
#ifndef TFCORE_OPS_CODECS_JPEG_SOURCE_H_
#define TFCORE_OPS_CODECS_JPEG_SOURCE_H_

#include "base/str.h"
#include "ops/codecs/jpeg_call.h"

typedef struct JpegSource {
  struct jpeg_source_mgr base; /* first, as libjpeg's pointer to it is one to this struct */
  Str file;
  bool try_recover_truncated;
} JpegSource;

/* Makes `reader` read the file; `source` is borrowed. */
void jpeg_source_open(JpegSource *source, Str file, bool try_recover_truncated, j_decompress_ptr reader);

#endif
