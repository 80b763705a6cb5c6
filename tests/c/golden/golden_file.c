#include "golden_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define FOLDER "tests/data/golden"

int golden_file_names(int capacity, char names[][GOLDEN_NAME_CAPACITY]) {
  DIR *folder = opendir(FOLDER);
  int count = 0;
  for (const struct dirent *entry; folder && count < capacity && (entry = readdir(folder));) {
    const char *end = strstr(entry->d_name, ".pb");
    size_t length = end ? (size_t)(end - entry->d_name) : 0;
    if (length == 0 || length >= GOLDEN_NAME_CAPACITY) continue;
    memcpy(names[count], entry->d_name, length);
    names[count++][length] = '\0';
  }
  if (folder) closedir(folder);
  return count;
}

static bool read_bytes(const char *path, uint8_t **bytes, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!CHECK(file)) return false;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  *bytes = malloc(*size);
  bool ok = CHECK(*bytes && fread(*bytes, 1, *size, file) == *size);
  fclose(file);
  return ok;
}

Tfcore__GoldenFile *golden_file_read_path(const char *path, int64_t *size) {
  uint8_t *bytes = NULL;
  size_t count = 0;
  Tfcore__GoldenFile *file = NULL;
  if (read_bytes(path, &bytes, &count)) {
    file = tfcore__golden_file__unpack(NULL, count, bytes);
    CHECK(file);
  }
  free(bytes);
  if (size) *size += (int64_t)count;
  return file;
}

Tfcore__GoldenFile *golden_file_read(const char *name, int64_t *size) {
  char path[512];
  snprintf(path, sizeof path, FOLDER "/%s.pb", name);
  return golden_file_read_path(path, size);
}
