#include "base/log.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LogSink current_sink;
static void *sink_arg;

void log_set_sink(LogSink sink, void *arg) {
  pthread_mutex_lock(&lock);
  current_sink = sink;
  sink_arg = arg;
  pthread_mutex_unlock(&lock);
}

void log_line(const char *line) {
  pthread_mutex_lock(&lock);
  if (current_sink != NULL) current_sink(sink_arg, line);
  else fprintf(stderr, "%s\n", line);
  pthread_mutex_unlock(&lock);
}
