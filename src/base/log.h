/* Log lines for people, such as the output of the op Print. */
#ifndef TFCORE_BASE_LOG_H_
#define TFCORE_BASE_LOG_H_

/* Receives a line without its newline; called from any thread. */
typedef void (*LogSink)(void *arg, const char *line);

/* Sets the receiver of lines; NULL restores the default, stderr. */
void log_set_sink(LogSink sink, void *arg);
void log_line(const char *line);

#endif
