#include "ops/codecs/gif_decode.h"

#include <gif_lib.h>
#include <string.h>

#include "base/alloc.h"

enum { MAX_FRAME_WIDTH = UINT16_MAX };

/* One pass over the frames of a file. The first pass finds the size of the image, the second one paints. */
typedef struct GifPass {
  GifFileType *gif; /* gif->Image: the rectangle and the colors of the current frame */
  Str left;         /* of the file */
  GifPixelType *row;
  int transparent;  /* the color index that the current frame does not paint, or NO_TRANSPARENT_COLOR */
  int error;        /* giflib's code for the damage that ended the frames */
  bool failed;      /* the status is set */
  ImageSize size;   /* of the image */
  uint8_t *samples; /* NULL in the first pass */
  int64_t frame;    /* that is painted */
} GifPass;

/* --- giflib --- */

static int read_bytes(GifFileType *gif, GifByteType *to, int count) {
  GifPass *pass = gif->UserData;
  size_t length = (size_t)count < pass->left.length ? (size_t)count : pass->left.length;
  if (length > 0) memcpy(to, pass->left.data, length);
  pass->left.data += length;
  pass->left.length -= length;
  return (int)length;
}

static bool invalid_file(const GifPass *pass, size_t file_size, const char *what, Status *status) {
  const char *why = GifErrorString(pass->error);
  if (pass->error == D_GIF_ERR_NOT_ENOUGH_MEM) return status_oom(status, "a GIF image");
  return status_invalid(status, "Invalid GIF data (size %zu), failed to %s gif file: %s", file_size, what,
                        why ? why : "Unknown error");
}

static bool open_pass(GifPass *pass, Str file, Status *status) {
  pass->left = file;
  pass->row = mem_alloc(MAX_FRAME_WIDTH);
  if (!pass->row) return status_oom(status, "a GIF image");
  pass->gif = DGifOpen(pass, read_bytes, &pass->error);
  return pass->gif || invalid_file(pass, file.length, "open", status);
}

static void close_pass(GifPass *pass) {
  if (pass->gif) DGifCloseFile(pass->gif, NULL);
  mem_free(pass->row);
}

/* Keeps giflib's error, which ends the frames. */
static bool damaged(GifPass *pass) {
  pass->error = pass->gif->Error;
  return false;
}

/* --- painting --- */

static bool refuse(GifPass *pass) {
  pass->failed = true;
  return false;
}

static const ColorMapObject *colors_of(const GifPass *pass) {
  return pass->gif->Image.ColorMap ? pass->gif->Image.ColorMap : pass->gif->SColorMap;
}

/* The canvas of a frame begins as the frame before. */
static bool begin_frame(GifPass *pass, Status *status) {
  int64_t bytes = pass->size.height * pass->size.width * pass->size.channels;
  uint8_t *canvas = pass->samples + pass->frame * bytes;
  if (!colors_of(pass)) {
    status_invalid(status, "missing color map for frame %lld", (long long)pass->frame);
    return refuse(pass);
  }
  if (pass->frame == 0) memset(canvas, 0, (size_t)bytes);
  else memcpy(canvas, canvas - bytes, (size_t)bytes);
  return true;
}

/* Paints a row of the frame, as far as it is on the canvas. */
static bool paint_row(GifPass *pass, int64_t y, Status *status) {
  const GifImageDesc *frame = &pass->gif->Image;
  const ColorMapObject *colors = colors_of(pass);
  int64_t row = frame->Top + y, width = pass->size.width;
  if (row >= pass->size.height) return true;
  uint8_t *to = pass->samples + ((pass->frame * pass->size.height + row) * width + frame->Left) * 3;
  for (int64_t x = 0; x < frame->Width && frame->Left + x < width; x++, to += 3) {
    int index = pass->row[x];
    if (index == pass->transparent) continue;
    if (index >= colors->ColorCount) {
      status_invalid(status, "found color index %d outside of color map range %d", index, colors->ColorCount);
      return refuse(pass);
    }
    const GifColorType *color = &colors->Colors[index];
    to[0] = color->Red, to[1] = color->Green, to[2] = color->Blue;
  }
  return true;
}

/* --- frames --- */

static bool read_row(GifPass *pass, int y, Status *status) {
  if (DGifGetLine(pass->gif, pass->row, pass->gif->Image.Width) != GIF_OK) return damaged(pass);
  return !pass->samples || paint_row(pass, y, status);
}

/* Reads the pixels of the current frame, of which giflib has at most INT_MAX. Interlaced ones come in four
 * groups of rows. */
static bool read_frame(GifPass *pass, Status *status) {
  static const int kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  const GifImageDesc *frame = &pass->gif->Image;
  if (frame->Width <= 0 || frame->Height <= 0 || frame->Width > INT32_MAX / frame->Height)
    return damaged(pass);
  if (pass->samples && !begin_frame(pass, status)) return false;
  for (int group = 0; group < (frame->Interlace ? 4 : 1); group++) {
    int step = frame->Interlace ? kStep[group] : 1;
    for (int y = kFirst[group]; y < frame->Height; y += step) TRY(read_row(pass, y, status));
  }
  return true;
}

/* Reads an extension. The first graphics control before a frame tells its transparent color. */
static bool read_extension(GifPass *pass, bool *controlled) {
  GraphicsControlBlock control;
  GifByteType *bytes;
  int kind;
  if (DGifGetExtension(pass->gif, &kind, &bytes) != GIF_OK) return damaged(pass);
  if (bytes && kind == GRAPHICS_EXT_FUNC_CODE && !*controlled) {
    *controlled = true;
    if (DGifExtensionToGCB(bytes[0], bytes + 1, &control) == GIF_OK)
      pass->transparent = control.TransparentColor;
  }
  while (bytes) {
    if (DGifGetExtensionNext(pass->gif, &bytes) != GIF_OK) return damaged(pass);
  }
  return true;
}

/* Reads up to the end of the next frame. False if there is none. */
static bool next_frame(GifPass *pass, Status *status) {
  GifRecordType record;
  bool controlled = false;
  pass->transparent = NO_TRANSPARENT_COLOR;
  for (;;) {
    if (DGifGetRecordType(pass->gif, &record) != GIF_OK) return damaged(pass);
    if (record == TERMINATE_RECORD_TYPE) return false;
    if (record == EXTENSION_RECORD_TYPE) TRY(read_extension(pass, &controlled));
    if (record != IMAGE_DESC_RECORD_TYPE) continue;
    if (DGifGetImageDesc(pass->gif) != GIF_OK) return damaged(pass);
    return read_frame(pass, status);
  }
}

/* --- passes --- */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static bool find_size(GifPass *pass, Str file, Status *status) {
  ImageSize size = {.channels = 3};
  TRY(open_pass(pass, file, status));
  pass->error = D_GIF_ERR_NO_IMAG_DSCR;
  while (next_frame(pass, status)) {
    size.frames++;
    size.height = larger(size.height, pass->gif->Image.Height);
    size.width = larger(size.width, pass->gif->Image.Width);
  }
  if (size.frames == 0) return invalid_file(pass, file.length, "slurp", status);
  if (size.height * size.width >= IMAGE_MAX_PIXELS / size.frames) {
    return status_invalid(status, "GIF size too large: %lld frames of %lld by %lld", (long long)size.frames,
                          (long long)size.width, (long long)size.height);
  }
  pass->size = size;
  return true;
}

static bool paint_frames(GifPass *pass, Str file, int64_t count, Status *status) {
  TRY(open_pass(pass, file, status));
  while (pass->frame < count && next_frame(pass, status)) pass->frame++;
  if (pass->failed) {
    Status cause = *status;
    return status_invalid(status, "Invalid GIF data (size %zu), %s", file.length, cause.message);
  }
  return pass->frame == count || invalid_file(pass, file.length, "slurp", status);
}

bool gif_decode(Str file, ImageOutput *output, Status *status) {
  GifPass first = {.gif = NULL}, second = {.gif = NULL};
  bool ok = false;
  TRY_DONE(find_size(&first, file, status));
  second.size = first.size;
  TRY_DONE(image_output_begin(output, &first.size, 1, &second.samples, status));
  TRY_DONE(paint_frames(&second, file, output->rule == FRAMES_FIRST ? 1 : first.size.frames, status));
  ok = true;
done:
  close_pass(&first);
  close_pass(&second);
  return ok;
}
