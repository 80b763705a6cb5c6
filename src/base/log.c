#include "base/log.h"

#include <stddef.h>
#include <stdio.h>

#include "base/sync.h"
static Mutex lock = MUTEX_INIT;
static LogSink current_sink;
static void *sink_arg;

void log_set_sink(LogSink sink, void *arg) {
  mutex_lock(&lock);
  current_sink = sink;
  sink_arg = arg;
  mutex_unlock(&lock);
}

void log_line(const char *line) {
  mutex_lock(&lock);
  if (current_sink) current_sink(sink_arg, line);
  else fprintf(stderr, "%s\n", line);
  mutex_unlock(&lock);
}
