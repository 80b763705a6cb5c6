#include "ops/support/queue_source.h"

const char kQueue[] = "QueueInterface";
