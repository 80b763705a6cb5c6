#include "base/sync.h"

#if SYNC_HAS_THREADS

bool mutex_init(Mutex *mutex) { return pthread_mutex_init(&mutex->handle, NULL) == 0; }

static bool init_of_type(Mutex *mutex, int type) {
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return false;
  bool ok = pthread_mutexattr_settype(&attributes, type) == 0 &&
            pthread_mutex_init(&mutex->handle, &attributes) == 0;
  pthread_mutexattr_destroy(&attributes);
  return ok;
}

bool mutex_init_recursive(Mutex *mutex) { return init_of_type(mutex, PTHREAD_MUTEX_RECURSIVE); }

bool mutex_init_checked(Mutex *mutex) { return init_of_type(mutex, PTHREAD_MUTEX_ERRORCHECK); }

bool cond_init(Cond *cond) { return pthread_cond_init(&cond->handle, NULL) == 0; }

#endif
