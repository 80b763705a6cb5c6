/* Calls that Emscripten passes to the thread of the page or of Node, such as those for files. The caller
 * waits at a condition variable on its stack, which the other thread signals without holding the mutex: that
 * may come when the variable is already the next call's, and removes the waiter from its list. So such a wait
 * ends after a while; the caller looks whether its call is done, and waits again. Linked with
 * --wrap=pthread_cond_wait. */
#include <emscripten/stack.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);

static int is_on_stack(const void *address) {
  uintptr_t at = (uintptr_t)address;
  return at < emscripten_stack_get_base() && at >= emscripten_stack_get_end();
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) {
  if (!is_on_stack(cond)) return __real_pthread_cond_wait(cond, mutex);
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec++;
  pthread_cond_timedwait(cond, mutex, &end); /* a wait may end without a signal */
  return 0;
}
