/* The local rendezvous. What it does with values, dead values, waiting receives and an abort is what
 * TensorFlow's NewLocalRendezvous was seen to do. */
#include "runtime/local_rendezvous.h"

#include <sched.h>
#include <stdio.h>

#include "base/sync.h"
#include "harness.h"
#include "shortage.h"

static Tensor scalar(float value) {
  Tensor tensor = {0};
  Status status;
  status_init(&status);
  Shape shape = {0};
  CHECK_OK(tensor_allocate(&tensor, DT_FLOAT, &shape, NULL, &status), status);
  *(float *)tensor.data = value;
  return tensor;
}

static bool send_number(LocalRendezvous *local, const char *key, float number, bool dead, Status *status) {
  const Rendezvous *rendezvous = local_rendezvous_interface(local);
  Tensor value = scalar(number);
  bool ok = rendezvous->send(rendezvous->owner, str_of(key), dead ? NULL : &value, dead, status);
  tensor_clear(&value);
  return ok;
}

/* What a receive gives: a number, -1 for a dead value, -2 when it waits, -3 when it fails. */
static float receive(LocalRendezvous *local, const char *key, Status *status) {
  const Rendezvous *rendezvous = local_rendezvous_interface(local);
  Tensor value = {0};
  bool dead = false;
  RunState state = rendezvous->receive(rendezvous->owner, str_of(key), &value, &dead, status);
  float number = state == RUN_FAILED    ? -3
                 : state == RUN_WAITING ? -2
                 : dead                 ? -1
                                        : *(const float *)value.data;
  tensor_clear(&value);
  return number;
}

typedef struct Heard {
  int calls;
  float number; /* as of receive */
  Status status;
} Heard;

static void hear(void *argument, const Status *status, Tensor *value, bool dead) {
  Heard *heard = argument;
  heard->calls++;
  heard->status = *status;
  heard->number = status->code != CODE_OK ? -3 : dead ? -1 : *(const float *)value->data;
  tensor_clear(value);
}

TEST(values_under_a_key_are_received_in_the_order_in_which_they_were_sent) {
  Status status;
  status_init(&status);
  LocalRendezvous *local = local_rendezvous_new(&status);
  REQUIRE(local);
  CHECK_INT_EQ(receive(local, "x", &status), -2);
  CHECK_OK(send_number(local, "x", 1, false, &status), status);
  CHECK_OK(send_number(local, "x", 2, false, &status), status);
  CHECK_OK(send_number(local, "y", 0, true, &status), status);
  CHECK_INT_EQ(local_rendezvous_num_events(local), 3);
  CHECK_INT_EQ(receive(local, "x", &status), 1);
  CHECK_INT_EQ(receive(local, "x", &status), 2);
  CHECK_INT_EQ(receive(local, "x", &status), -2);
  CHECK_INT_EQ(receive(local, "y", &status), -1);
  local_rendezvous_free(local);
}

TEST(receives_that_wait_are_served_in_their_order) {
  Status status;
  status_init(&status);
  Heard first = {0}, second = {0}, late = {0};
  LocalRendezvous *local = local_rendezvous_new(&status);
  REQUIRE(local);
  CHECK_OK(local_rendezvous_receive_async(local, str_of("z"), hear, &first, &status), status);
  CHECK_OK(local_rendezvous_receive_async(local, str_of("z"), hear, &second, &status), status);
  CHECK_INT_EQ(first.calls + second.calls, 0);
  CHECK_OK(send_number(local, "z", 5, false, &status), status);
  CHECK_INT_EQ(first.calls, 1);
  CHECK_INT_EQ(first.number, 5);
  CHECK_INT_EQ(second.calls, 0);
  CHECK_INT_EQ(receive(local, "z", &status), -2);
  CHECK_OK(send_number(local, "z", 0, true, &status), status);
  CHECK_INT_EQ(second.number, -1);
  CHECK_OK(send_number(local, "z", 7, false, &status), status);
  CHECK_OK(local_rendezvous_receive_async(local, str_of("z"), hear, &late, &status), status);
  CHECK_INT_EQ(late.calls, 1);
  CHECK_INT_EQ(late.number, 7);
  local_rendezvous_free(local);
  CHECK_INT_EQ(first.calls + second.calls + late.calls, 3);
}

TEST(an_abort_fails_what_waits_and_all_that_follows) {
  Status status, reason;
  status_init(&status);
  status_init(&reason);
  Heard heard = {0}, late = {0};
  LocalRendezvous *local = local_rendezvous_new(&status);
  REQUIRE(local);
  CHECK_OK(local_rendezvous_receive_async(local, str_of("z"), hear, &heard, &status), status);
  CHECK_OK(send_number(local, "w", 5, false, &status), status);
  status_set(&reason, CODE_ABORTED, "stop");
  local_rendezvous_abort(local, &reason);
  CHECK_INT_EQ(heard.calls, 1);
  CHECK_INT_EQ(heard.status.code, CODE_ABORTED);
  CHECK_STR_EQ(heard.status.message, "stop");
  status_set(&reason, CODE_INTERNAL, "again");
  local_rendezvous_abort(local, &reason);
  CHECK_ERROR(send_number(local, "q", 1, false, &status), status, CODE_ABORTED, "stop");
  status_init(&status);
  CHECK_INT_EQ(receive(local, "w", &status), -3);
  CHECK_STR_EQ(status.message, "stop");
  CHECK_OK(local_rendezvous_receive_async(local, str_of("w"), hear, &late, &status), status);
  CHECK_INT_EQ(late.calls, 1);
  CHECK_STR_EQ(late.status.message, "stop");
  local_rendezvous_free(local);
}

TEST(the_end_of_a_rendezvous_frees_its_values_and_cancels_who_waits) {
  Status status;
  status_init(&status);
  Heard heard = {0};
  LocalRendezvous *local = local_rendezvous_new(&status);
  REQUIRE(local);
  for (int i = 0; i < 200; i++) {
    char key[32];
    snprintf(key, sizeof key, "edge_%d", i);
    CHECK_OK(send_number(local, key, (float)i, i % 3 == 0, &status), status);
  }
  CHECK_OK(local_rendezvous_receive_async(local, str_of("z"), hear, &heard, &status), status);
  CHECK_INT_EQ(receive(local, "edge_100", &status), 100);
  local_rendezvous_free(local);
  CHECK_INT_EQ(heard.status.code, CODE_CANCELLED);
  CHECK_STR_EQ(heard.status.message, "LocalRendezvous deleted");
  local_rendezvous_free(NULL);
}

TEST(a_rendezvous_says_that_memory_ran_out) {
  Shortage shortage = {.what = "a rendezvous"};
  do {
    Status status;
    status_init(&status);
    Heard heard = {0};
    Tensor value = scalar(1);
    shortage_begin(&shortage);
    LocalRendezvous *local = local_rendezvous_new(&status);
    const Rendezvous *rendezvous = local ? local_rendezvous_interface(local) : NULL;
    bool ok = local && rendezvous->send(local, str_of("a"), &value, false, &status) &&
              local_rendezvous_receive_async(local, str_of("b"), hear, &heard, &status) &&
              rendezvous->send(local, str_of("b"), &value, false, &status);
    shortage_end(&shortage, ok, status.code);
    local_rendezvous_free(local);
    tensor_clear(&value);
  } while (shortage_next(&shortage));
}

#if SYNC_HAS_THREADS

enum { ROUNDS = 2000 };

typedef struct Player {
  LocalRendezvous *local;
  const char *in, *out;
  float sum;
} Player;

/* Sends a number and receives the other's, ROUNDS times. */
static void *play(void *argument) {
  Player *player = argument;
  Status status;
  status_init(&status);
  for (int i = 0; i < ROUNDS; i++) {
    if (!send_number(player->local, player->out, (float)i, false, &status)) return NULL;
    for (;;) {
      float number = receive(player->local, player->in, &status);
      if (number == -3) return NULL;
      if (number != -2) {
        player->sum += number;
        break;
      }
      sched_yield();
    }
  }
  return NULL;
}

TEST(threads_exchange_values_and_an_abort_ends_them) {
  Status status;
  status_init(&status);
  LocalRendezvous *local = local_rendezvous_new(&status);
  REQUIRE(local);
  Player a = {local, "ab", "ba", 0}, b = {local, "ba", "ab", 0}, lonely = {local, "none", "some", 0};
  Thread threads[3];
  REQUIRE(thread_start(&threads[0], play, &a) && thread_start(&threads[1], play, &b));
  thread_join(threads[0]);
  thread_join(threads[1]);
  CHECK_INT_EQ(a.sum, ROUNDS * (ROUNDS - 1) / 2);
  CHECK_INT_EQ(b.sum, ROUNDS * (ROUNDS - 1) / 2);
  REQUIRE(thread_start(&threads[2], play, &lonely));
  status_set(&status, CODE_CANCELLED, "enough");
  local_rendezvous_abort(local, &status);
  thread_join(threads[2]);
  local_rendezvous_free(local);
}

#endif
