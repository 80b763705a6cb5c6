/* Lines about what a library with TensorFlow's C API does, one for each case. TensorFlow's own library wrote
 * the files in tests/data/ (tests/oracle/c_api_transcript.py); ours must write the same. For programs that
 * use only the C API.
 *
 *   program           compares what this library does with the file, and tells what differs
 *   program --print   writes the lines
 */
#ifndef TFCORE_TESTS_C_API_TRANSCRIPT_LINES_H_
#define TFCORE_TESTS_C_API_TRANSCRIPT_LINES_H_

#include "tensorflow/c/c_api.h"

#include "wire_text.h"

static Text lines;
static TF_Status *status;

static void say(const char *name, const char *what) {
  text_print(&lines, name);
  text_print(&lines, ": ");
  for (const char *p = what; *p; p++) text_add(&lines, *p == '\n' ? "\\n" : p, *p == '\n' ? 2 : 1);
  text_print(&lines, "\n");
}

static void say_number(const char *name, long long value) {
  char text[32];
  snprintf(text, sizeof text, "%lld", value);
  say(name, text);
}

/* Prints the code and the message of the last call. Only `length` characters of a message are compared if the
 * rest depends on the library, such as the name of the machine; 0: all. */
static void say_status_part(const char *name, size_t length) {
  Text text = {0};
  char code[16];
  snprintf(code, sizeof code, "%d ", (int)TF_GetCode(status));
  text_print(&text, code);
  const char *message = TF_Message(status);
  text_add(&text, message, length > 0 && length < strlen(message) ? length : strlen(message));
  say(name, text.data);
  free(text.data);
  TF_SetStatus(status, TF_OK, ""); /* not every call of TensorFlow clears the status when it succeeds */
}

static void say_status(const char *name) { say_status_part(name, 0); }

static void compare(const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/tests/data/%s", TFCORE_SOURCE_DIR, name);
  FILE *file = fopen(path, "rb");
  Text wanted = {0};
  char piece[4096];
  if (!file) {
    printf("cannot read %s\n", path);
    exit(1);
  }
  for (size_t length; (length = fread(piece, 1, sizeof piece, file)) > 0;) text_add(&wanted, piece, length);
  fclose(file);
  const char *want = wanted.data, *got = lines.data;
  int differences = 0, count = 0;
  while (want && got && (*want || *got)) {
    size_t want_length = strcspn(want, "\n"), got_length = strcspn(got, "\n");
    count++;
    if (want_length != got_length || memcmp(want, got, got_length) != 0) {
      differences++;
      printf("TensorFlow: %.*s\n      here: %.*s\n", (int)want_length, want, (int)got_length, got);
    }
    want += want_length + (want[want_length] != 0);
    got += got_length + (got[got_length] != 0);
  }
  printf("%d lines, %d differ\n", count, differences);
  free(wanted.data);
  if (differences > 0 || count == 0) exit(1);
}

/* Frees everything; the result of main(). */
static int finish_transcript(int argc, char **argv, const char *record) {
  TF_DeleteStatus(status);
  if (argc > 1 && strcmp(argv[1], "--print") == 0) fwrite(lines.data, 1, lines.length, stdout);
  else compare(record);
  free(lines.data);
  return 0;
}

#endif
