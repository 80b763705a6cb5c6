#include "ops/codecs/jpeg_source.h"

#include <jerror.h>

static const JOCTET kEndOfImage[] = {0xFF, JPEG_EOI};

static void start(j_decompress_ptr reader) {
  JpegSource *source = (JpegSource *)(void *)reader->src;
  source->base.next_input_byte = (const JOCTET *)source->file.data;
  source->base.bytes_in_buffer = source->file.length;
}

/* Called at the end of the file. To recover means that the image ends here, as often as libjpeg asks. Without
 * it, libjpeg stops at the last row if it has begun to read what is missing, which `bytes_in_buffer` tells.
 */
static boolean at_end(j_decompress_ptr reader) {
  JpegSource *source = (JpegSource *)(void *)reader->src;
  if (source->try_recover_truncated) {
    WARNMS(reader, JWRN_JPEG_EOF);
    source->base.next_input_byte = kEndOfImage;
    source->base.bytes_in_buffer = sizeof kEndOfImage;
    return TRUE;
  }
  if (source->base.bytes_in_buffer == 0) ERREXIT(reader, JERR_FILE_READ);
  return FALSE;
}

static void skip(j_decompress_ptr reader, long count) {
  struct jpeg_source_mgr *source = reader->src;
  if (count < 0) return;
  if ((unsigned long)count > source->bytes_in_buffer) {
    source->bytes_in_buffer = 0;
    (void)at_end(reader);
  } else {
    source->bytes_in_buffer -= (size_t)count;
    source->next_input_byte += count;
  }
}

static void stop(j_decompress_ptr reader) { (void)reader; }

void jpeg_source_open(JpegSource *source, Str file, bool try_recover_truncated, j_decompress_ptr reader) {
  *source = (JpegSource){.base = {.init_source = start,
                                  .fill_input_buffer = at_end,
                                  .skip_input_data = skip,
                                  .resync_to_restart = jpeg_resync_to_restart,
                                  .term_source = stop},
                         .file = file,
                         .try_recover_truncated = try_recover_truncated};
  reader->src = &source->base;
}
