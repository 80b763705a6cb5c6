#include "wasm/wasm_files.h"

#include <emscripten.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file_draft.h"
#include "base/file_store.h"
#include "c_api/c_api_internal.h"
#include "checkpoint/bundle.h"
#include "op/engine_parts.h"

enum HostAction {
  HOST_SIZE,
  HOST_READ,
  HOST_WRITE,
  HOST_APPEND,
  HOST_RENAME,
  HOST_REMOVE,
  HOST_MAKE,
  HOST_UNMAKE,
  HOST_LIST,
  HOST_LIST_ALL,
  HOST_SYNC,
  HOST_LINK
};
enum HostResult {
  HOST_OK,
  HOST_NO_ENTRY,
  HOST_DENIED,
  HOST_EXISTS,
  HOST_NOT_EMPTY,
  HOST_IS_FOLDER,
  HOST_OUTSIDE,
  HOST_SHORT,
  HOST_FULL,
  HOST_OTHER
};

/* Changed only while no step runs. */
static char root[FILE_PATH_MAX + 1];

/* JavaScript, which clang-format cannot format. */
/* clang-format off */
EM_JS_DEPS(host_files, "$UTF8ToString,$stringToNewUTF8,$stringToUTF8");

EM_JS(int, host_is_node, (void), {
  return typeof process == 'object' && typeof process.getBuiltinModule == 'function' ? 1 : 0;
});

/* Performs one action on a file below the root; returns a HostResult. The size goes to *number, names to a
 * malloc()ed text at *text. Runs on the calling thread, which may be a worker. */
EM_JS(int, host_file, (int action, const char *root, const char *name, const char *other, void *bytes, double offset,
                       double size, double *number, char **text), {
  const fs = process.getBuiltinModule('node:fs');
  const path = process.getBuiltinModule('node:path');
  const outside = (from, to) => {
    const way = path.relative(from, to);
    return way == '..' || way.startsWith('..' + path.sep) || path.isAbsolute(way);
  };
  const locate = (pointer) => {
    const base = fs.realpathSync(UTF8ToString(root));
    const full = path.resolve(base, './' + UTF8ToString(pointer));
    if (outside(base, full)) throw { code: 'outside' };
    /* Resolves links in the existing part of the path: they must not lead outside either. */
    for (let at = full; ; at = path.dirname(at)) {
      if (fs.lstatSync(at, { throwIfNoEntry: false })) {
        if (outside(base, fs.realpathSync(at))) throw { code: 'outside' };
        return full;
      }
    }
  };
  try {
    const file = locate(name);
    switch (action) {
      case 0: {
        const found = fs.statSync(file);
        if (found.isDirectory()) return 5;
        HEAPF64[number >>> 3] = found.size;
        break;
      }
      case 1: {
        const opened = fs.openSync(file, 'r');
        try {
          for (let done = 0; done < size; ) {
            const part = Buffer.alloc(Math.min(size - done, 1 << 24));
            const got = fs.readSync(opened, part, 0, part.length, offset + done);
            if (got == 0) return 7;
            HEAPU8.set(part.subarray(0, got), (bytes >>> 0) + done);
            done += got;
          }
        } finally {
          fs.closeSync(opened);
        }
        break;
      }
      case 2:
      case 3: {
        const opened = fs.openSync(file, action == 2 ? 'w' : 'a');
        try {
          for (let done = 0; done < size; ) {
            const begin = (bytes >>> 0) + done;
            done += fs.writeSync(opened, HEAPU8.slice(begin, begin + Math.min(size - done, 1 << 24)));
          }
        } finally {
          fs.closeSync(opened);
        }
        break;
      }
      case 4: {
        /* A link is kept; its target is replaced. */
        const to = locate(other);
        fs.renameSync(file, fs.lstatSync(to, { throwIfNoEntry: false }) ? fs.realpathSync(to) : to);
        break;
      }
      case 5: fs.unlinkSync(file); break;
      case 6: if (!fs.existsSync(file)) fs.mkdirSync(file); break;
      case 7: fs.rmdirSync(file); break;
      case 10: {
        /* If a folder cannot be opened or synced, its file system is responsible. */
        const folder = fs.statSync(file).isDirectory();
        try {
          const opened = fs.openSync(file, folder ? 'r' : 'r+');
          try {
            fs.fsyncSync(opened);
          } finally {
            fs.closeSync(opened);
          }
        } catch (error) {
          if (!folder || ['EIO', 'ENOSPC', 'EDQUOT'].includes(error.code)) throw error;
        }
        break;
      }
      case 11: fs.linkSync(file, locate(other)); break;
      default: {
        const entries = fs.readdirSync(file, { withFileTypes: true, recursive: action == 9 }).filter((one) => one.isFile());
        const paths = entries.map((one) => path.relative(file, path.join(one.parentPath ?? one.path, one.name)));
        const names = paths.map((one) => one.split(path.sep).join('/')).sort();
        HEAPU32[text >>> 2] = stringToNewUTF8(names.map((one) => one + '\n').join(""));
      }
    }
    return 0;
  } catch (error) {
    const codes = { ENOENT: 1, ENOTDIR: 1, EACCES: 2, EPERM: 2, EROFS: 2, EEXIST: 3, ENOTEMPTY: 4, EISDIR: 5, outside: 6, ENOSPC: 8, EDQUOT: 8 };
    return codes[error.code] ?? 9;
  }
});
/* "machine-process-start-random", with the first three as in base/file_disk.c, because native programs may
 * write in the same folder. Without `name`, returns the name of this module; with a name, whether its process
 * may still run. */
EM_JS(int, host_writer, (const char *name, char *to, int size), {
  const fs = process.getBuiltinModule('node:fs');
  const machine = () => {
    let hash = 0x811c9dc5;
    for (const byte of Buffer.from(process.getBuiltinModule('node:os').hostname())) hash = Math.imul(hash ^ byte, 0x01000193);
    return (hash >>> 0).toString(16).padStart(8, '0');
  };
  const startOf = (pid) => {
    try {
      const stat = fs.readFileSync('/proc/' + pid + '/stat', 'utf8');
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0';
    } catch {
      return '0';
    }
  };
  if (!name) {
    Module.writerNumber = Module.writerNumber || Math.floor(Math.random() * 2 ** 32).toString(16);
    stringToUTF8([machine(), process.pid, startOf(process.pid), Module.writerNumber].join('-'), to, size);
    return 1;
  }
  const parts = /^([0-9a-f]{8})-([1-9][0-9]*)-([0-9]+)/.exec(UTF8ToString(name));
  if (!parts || parts[1] != machine()) return 1;
  try {
    process.kill(+parts[2], 0);
  } catch (error) {
    if (error.code == 'ESRCH') return 0;
  }
  const known = startOf(parts[2]);
  return parts[3] == '0' || known == '0' || known == parts[3] ? 1 : 0;
});
/* clang-format on */

static bool answer(int result, const char *path, Status *status) {
  static const int errors[] = {
      [HOST_NO_ENTRY] = ENOENT,  [HOST_DENIED] = EACCES, [HOST_EXISTS] = EEXIST, [HOST_NOT_EMPTY] = ENOTEMPTY,
      [HOST_IS_FOLDER] = EISDIR, [HOST_FULL] = ENOSPC,   [HOST_OTHER] = EIO};
  if (result == HOST_OK) return true;
  if (result == HOST_OUTSIDE)
    return status_set(status, CODE_PERMISSION_DENIED, "%s; The path leads out of the folder %s", path, root);
  if (result == HOST_SHORT)
    return status_set(status, CODE_OUT_OF_RANGE, "%s; Read less bytes than requested", path);
  return file_error(path, errors[result], status);
}

static bool node_size(const char *path, int64_t *size, Status *status) {
  double number = 0;
  bool ok = answer(host_file(HOST_SIZE, root, path, "", NULL, 0, 0, &number, NULL), path, status);
  *size = (int64_t)number;
  return ok;
}

static bool node_read(const char *path, int64_t offset, void *bytes, int64_t size, Status *status) {
  return answer(host_file(HOST_READ, root, path, "", bytes, (double)offset, (double)size, NULL, NULL), path,
                status);
}

static bool node_write(const char *path, bool append, const void *bytes, int64_t size, Status *status) {
  int action = append ? HOST_APPEND : HOST_WRITE;
  return answer(host_file(action, root, path, "", (void *)(uintptr_t)bytes, 0, (double)size, NULL, NULL),
                path, status);
}

static bool simple(int action, const char *path, const char *other, Status *status) {
  return answer(host_file(action, root, path, other, NULL, 0, 0, NULL, NULL), path, status);
}

static bool node_rename(const char *from, const char *to, Status *status) {
  return simple(HOST_RENAME, from, to, status);
}
static bool node_sync(const char *path, Status *status) { return simple(HOST_SYNC, path, "", status); }
static bool node_link(const char *from, const char *to, Status *status) {
  return simple(HOST_LINK, from, to, status);
}
static bool node_remove(const char *path, Status *status) { return simple(HOST_REMOVE, path, "", status); }
static bool node_make_directory(const char *path, Status *status) {
  return simple(HOST_MAKE, path, "", status);
}
static bool node_remove_directory(const char *path, Status *status) {
  return simple(HOST_UNMAKE, path, "", status);
}

static bool list_names(int action, const char *directory, FileVisitor visit, void *arg, Status *status) {
  char *names = NULL;
  int result = host_file(action, root, directory, "", NULL, 0, 0, NULL, &names);
  if (result == HOST_NO_ENTRY) return true;
  bool ok = answer(result, directory, status);
  if (ok && !names) ok = status_oom(status, "names of files");
  for (char *name = names, *end; ok && (end = strchr(name, '\n')); name = end + 1) {
    *end = '\0';
    ok = visit(arg, name, status);
  }
  free(names); /* allocated by JavaScript on the C library's heap */
  return ok;
}

static bool node_list(const char *directory, FileVisitor visit, void *arg, Status *status) {
  return list_names(HOST_LIST, directory, visit, arg, status);
}

static void node_writer(char name[FILE_WRITER_CAPACITY]) { host_writer(NULL, name, FILE_WRITER_CAPACITY); }
static bool node_writer_lives(const char *name) { return host_writer(name, NULL, 0) != 0; }

static const FileStore kNodeFiles = {
    .size = node_size,
    .read = node_read,
    .write = node_write,
    .sync = node_sync,
    .rename = node_rename,
    .link = node_link,
    .remove = node_remove,
    .make_directory = node_make_directory,
    .remove_directory = node_remove_directory,
    .list = node_list,
    .writer = node_writer,
    .writer_lives = node_writer_lives,
};

/* --- for JavaScript --- */

static bool check_path(const char *path, Status *status) {
  char checked[FILE_PATH_MAX + 1];
  return file_path(str_of(path), checked, status);
}

void TF_WasmFileRead(const char *path, TF_Buffer *bytes, TF_Status *status) {
  StrBuf content = {0};
  char *data;
  int64_t size;
  start_status(status);
  if (!check_path(path, &status->status) || !file_read_all(path, INT32_MAX, &data, &size, &status->status))
    return;
  strbuf_append_bytes(&content, data, (size_t)size);
  mem_free(data);
  reported(fill_buffer(&content, bytes, &status->status));
}

void TF_WasmFileWrite(const char *path, const void *bytes, size_t length, TF_Status *status) {
  start_status(status);
  reported(check_path(path, &status->status) && file_replace(path, bytes, (int64_t)length, &status->status));
}

void TF_WasmFileCreate(const char *path, size_t size, TF_Status *status) {
  start_status(status);
  reported(check_path(path, &status->status) && file_memory_create(path, (int64_t)size, &status->status));
}

char *TF_WasmFilePlace(const char *path, double offset, size_t length, TF_Status *status) {
  start_status(status);
  bool is_whole = offset >= 0 && offset <= INT32_MAX * 2.0;
  return file_memory_place(path, is_whole ? (int64_t)offset : -1, (int64_t)length, &status->status);
}

int TF_WasmCheckpointNumShards(const char *prefix, TF_Status *status) {
  BundleReader *reader;
  start_status(status);
  if (!engine_part_need(PART_TRAINING, &status->status) ||
      !bundle_reader_open(str_of(prefix), &reader, &status->status))
    return -1;
  int count = bundle_reader_num_shards(reader);
  bundle_reader_free(reader);
  return count;
}

void TF_WasmFileRemove(const char *path, TF_Status *status) {
  start_status(status);
  reported(check_path(path, &status->status) && file_store_of(path)->remove(path, &status->status));
}

static bool append_path(void *arg, const char *path, Status *status) {
  strbuf_append_bytes(arg, path, strlen(path) + 1);
  return strbuf_ok(arg, status);
}

void TF_WasmFileList(TF_Buffer *paths, TF_Status *status) {
  StrBuf list = {0};
  start_status(status);
  bool ok = file_store() == &kNodeFiles ? list_names(HOST_LIST_ALL, "", append_path, &list, &status->status)
                                        : file_memory_list(append_path, &list, &status->status);
  if (ok) reported(fill_buffer(&list, paths, &status->status));
  else strbuf_free(&list);
}

void TF_WasmUseDirectory(const char *directory, TF_Status *status) {
  int64_t size;
  Status found;
  start_status(status);
  if (!directory) {
    file_store_use(&kMemoryFiles);
    return;
  }
  if (!host_is_node()) {
    status_set(&status->status, CODE_UNIMPLEMENTED,
               "Folders of the machine can be used in Node only (20.16 or newer)");
    return;
  }
  char before[FILE_PATH_MAX + 1];
  memcpy(before, root, sizeof before);
  if (!file_path(str_of(directory), root, &status->status)) {
    memcpy(root, before, sizeof before);
    return;
  }
  /* A folder reports that it is one. */
  status_init(&found);
  if (node_size("", &size, &found) || found.code != CODE_FAILED_PRECONDITION) {
    status_set(&status->status, CODE_NOT_FOUND, "%s; No such folder", directory);
    memcpy(root, before, sizeof before);
    return;
  }
  file_store_use(&kNodeFiles);
}
