/* Lines for people: what the op Print says. */
#ifndef TFCORE_BASE_LOG_H_
#define TFCORE_BASE_LOG_H_

/* Gets a line without its line feed; called from any thread. */
typedef void (*LogSink)(void *arg, const char *line);

/* Where lines go from now on; NULL: to stderr, as at first. */
void log_set_sink(LogSink sink, void *arg);
void log_line(const char *line);

#endif
