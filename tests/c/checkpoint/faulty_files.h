/* A file store in which operations fail: it forwards them to another store, and checks their order. */
#ifndef TFCORE_TESTS_CHECKPOINT_FAULTY_FILES_H_
#define TFCORE_TESTS_CHECKPOINT_FAULTY_FILES_H_

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file_store.h"
#include "harness.h"

typedef enum FaultKind {
  FAULT_NONE,
  FAULT_FULL,  /* the operation fails; half of the written bytes arrive */
  FAULT_LATE,  /* the operation is done, and reports an error */
  FAULT_CRASH, /* neither this operation nor a later one is done; half of the written bytes arrive */
  NUM_FAULTS
} FaultKind;

typedef struct Faults {
  const FileStore *real;
  FaultKind kind;
  int at, count;                 /* changes, counted from 0 */
  bool single_names;             /* no second names */
  char dirty[FILE_PATH_MAX + 1]; /* a file with unsynced bytes; "" if there is none */
  bool names_dirty;              /* a folder has unsynced names */
  void (*look)(void);            /* called after every change; reads the real store */
} Faults;

static Faults faults;

static bool fault_error(const char *path, Status *status) { return file_error(path, ENOSPC, status); }

/* Whether the next change is made; *reports receives whether it succeeds. */
static bool fault_passes(bool *reports) {
  int number = faults.count++;
  bool hit = number == faults.at || (faults.kind == FAULT_CRASH && number > faults.at);
  *reports = !hit || faults.kind == FAULT_NONE;
  return *reports || faults.kind == FAULT_LATE;
}

static bool fault_changed(bool ok, bool reports, const char *path, Status *status) {
  if (faults.look) {
    const FileStore *store = file_store();
    file_store_use(faults.real);
    faults.look();
    file_store_use(store);
  }
  return ok && (reports || fault_error(path, status));
}

static bool faulty_size(const char *path, int64_t *size, Status *status) {
  return faults.real->size(path, size, status);
}

static bool faulty_read(const char *path, int64_t offset, void *bytes, int64_t size, Status *status) {
  return faults.real->read(path, offset, bytes, size, status);
}

static bool faulty_write(const char *path, bool append, const void *bytes, int64_t size, Status *status) {
  bool reports, passes = fault_passes(&reports), first = faults.count == faults.at + 1;
  snprintf(faults.dirty, sizeof faults.dirty, "%s", path);
  if (passes)
    return fault_changed(faults.real->write(path, append, bytes, size, status), reports, path, status);
  bool ok = !first || faults.real->write(path, append, bytes, size / 2, status);
  return fault_changed(ok, false, path, status);
}

static bool faulty_sync(const char *path, Status *status) {
  bool reports, passes = fault_passes(&reports);
  if (path[0] != '\0' && strcmp(path, faults.dirty) == 0) faults.dirty[0] = '\0';
  else faults.names_dirty = false;
  return fault_changed(!passes || faults.real->sync(path, status), reports, path, status);
}

static bool faulty_rename(const char *from, const char *to, Status *status) {
  bool reports, passes = fault_passes(&reports), index = strstr(to, ".index") != NULL;
  if (!CHECK(strcmp(from, faults.dirty) != 0)) return fault_error(from, status);
  if (index) CHECK(!faults.names_dirty);
  faults.names_dirty = true;
  return fault_changed(!passes || faults.real->rename(from, to, status), reports, from, status);
}

static bool faulty_link(const char *from, const char *to, Status *status) {
  if (faults.single_names) return file_error(from, EPERM, status);
  bool reports, passes = fault_passes(&reports);
  faults.names_dirty = true;
  return fault_changed(!passes || faults.real->link(from, to, status), reports, from, status);
}

static bool faulty_remove(const char *path, Status *status) {
  bool reports, passes = fault_passes(&reports);
  return fault_changed(!passes || faults.real->remove(path, status), reports, path, status);
}

static bool faulty_make(const char *path, Status *status) {
  return faults.real->make_directory(path, status);
}
static bool faulty_unmake(const char *path, Status *status) {
  return faults.real->remove_directory(path, status);
}

static bool faulty_list(const char *directory, FileVisitor visit, void *arg, Status *status) {
  return faults.real->list(directory, visit, arg, status);
}

/* A crash ends the process "1"; the next one is "2". */
static void faulty_writer(char name[FILE_WRITER_CAPACITY]) {
  strcpy(name, faults.kind == FAULT_NONE ? "2" : "1");
}
static bool faulty_writer_lives(const char *name) { return strcmp(name, "1") != 0; }

static const FileStore kFaultyFiles = {
    .size = faulty_size,
    .read = faulty_read,
    .write = faulty_write,
    .sync = faulty_sync,
    .rename = faulty_rename,
    .link = faulty_link,
    .remove = faulty_remove,
    .make_directory = faulty_make,
    .remove_directory = faulty_unmake,
    .list = faulty_list,
    .writer = faulty_writer,
    .writer_lives = faulty_writer_lives,
};

#endif
