/* Steps of one task of a cluster: the graph has _Send and _Recv of its own, and the test is the other task.
 * It gives a value only when it has received another one, so that the step must not wait for one value while
 * it could send another. */
#include <stdlib.h>

#include "base/hash64.h"
#include "device/rendezvous_key.h"
#include "runtime/control_flow_text.h"
#include "runtime/task_rendezvous.h"

#define OWN "/job:worker/replica:0/task:1"
#define FAR "/job:ps/replica:0/task:0"

/* clang-format off */
#define RECV(name, more)                                                                             \
  "recv_" name " _Recv " more " ; tensor_type=DT_INT32 tensor_name='" name "' send_device='" FAR     \
  "/device:CPU:0' send_device_incarnation=7 recv_device='" OWN "/device:CPU:0'\n"
#define SEND(name, input)                                                                            \
  "send_" name " _Send " input " ; T=DT_INT32 tensor_name='" name "' send_device='" OWN              \
  "/device:CPU:0' send_device_incarnation=9 recv_device='" FAR "/device:CPU:0'\n"
/* clang-format on */

/* What the other task does: it sends `value` plus the iteration under a name for which it is asked, as soon
 * as it has received what it `needs` (NULL: nothing) from the same iteration. */
typedef struct Answer {
  const char *name, *needs;
  int32_t value;
} Answer;

/* A value that the other task has received. */
typedef struct Received {
  char key[256];
  int32_t value;
} Received;

typedef struct TaskStep {
  Fixture f;
  DeviceManager *devices;
  TaskRendezvous *rendezvous;
  SessionStep *step;
  Received received[32];
  int num_received;
  StrBuf asked; /* the keys that wait for an answer, each followed by a line break */
} TaskStep;

static bool begin_task(TaskStep *t, const char *lines) {
  *t = (TaskStep){0};
  if (!begin(&t->f)) return false;
  t->devices = device_manager_new(OWN, 1, &t->f.status);
  if (!CHECK_OK(t->devices, t->f.status)) return false;
  const PlacerOptions options = {.devices = device_manager_devices(t->devices)};
  session_place(t->f.session, &options);
  session_share(t->f.session, t->devices);
  t->rendezvous = task_rendezvous_new(OWN, &t->f.status);
  return CHECK(t->rendezvous) && CHECK_OK(import_lines(t->f.graph, lines, &t->f.status), t->f.status);
}

static void end_task(TaskStep *t) {
  end(&t->f);
  device_manager_unref(t->devices);
  task_rendezvous_free(t->rendezvous);
  strbuf_free(&t->asked);
}

/* Begins a step that runs all nodes. */
static bool start(TaskStep *t) {
  Node *targets[64];
  int count = 0;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(t->f.graph); id++)
    targets[count++] = graph_node(t->f.graph, id);
  const StepSignature signature = {.targets = targets, .num_targets = count};
  const SessionRunOptions options = {.rendezvous = t->rendezvous};
  return CHECK_OK(session_begin(t->f.session, &options, &signature, NULL, &t->step, &t->f.status),
                  t->f.status);
}

static const Rendezvous *values_of(const TaskStep *t) {
  return local_rendezvous_interface(task_rendezvous_local(t->rendezvous));
}

/* The value that the step has sent; NULL: it has not. */
static const int32_t *received(TaskStep *t, const char *name, Str frame) {
  Received *got = t->received, *end = got + t->num_received;
  Tensor value = {0};
  bool dead = false;
  const Rendezvous *values = values_of(t);
  char key[sizeof got->key];
  snprintf(key, sizeof key, "%s/device:CPU:0;%016x;%s/device:CPU:0;%s;%.*s", OWN, 9, FAR, name,
           (int)frame.length, frame.data);
  while (got < end && strcmp(got->key, key) != 0) got++;
  if (got < end) return &got->value;
  if (values->receive(values->owner, str_of(key), &value, &dead, &t->f.status) != RUN_DONE) return NULL;
  memcpy(end->key, key, sizeof key);
  CHECK(!dead && t->num_received < 31);
  end->value = dead ? 0 : *tensor_i32(&value);
  t->num_received++;
  tensor_clear(&value);
  return &end->value;
}

/* The last part of a key: the frame and the iteration. */
static Str frame_of(Str key) {
  size_t at = key.length;
  while (key.data[at - 1] != ';') at--;
  return (Str){key.data + at, key.length - at};
}

static bool answer(TaskStep *t, Str key, const Answer *answers, int count) {
  RendezvousKey parsed;
  const Rendezvous *values = values_of(t);
  if (!CHECK_OK(rendezvous_key_parse(key, &parsed, &t->f.status), t->f.status)) return true;
  for (int i = 0; i < count; i++) {
    if (!str_equal(parsed.name, str_of(answers[i].name))) continue;
    if (answers[i].needs && !received(t, answers[i].needs, frame_of(key))) return false;
    Str frame = frame_of(key);
    int iteration = atoi((const char *)memchr(frame.data, ':', frame.length) + 1);
    Tensor value = {0};
    if (!CHECK_OK(tensor_allocate_dims(&value, DT_INT32, 0, NULL, NULL, &t->f.status), t->f.status))
      return true;
    *tensor_i32(&value) = answers[i].value + iteration;
    CHECK_OK(values->send(values->owner, key, &value, false, &t->f.status), t->f.status);
    tensor_clear(&value);
    return true;
  }
  return false;
}

/* Answers all that the step asks for, where it may. False when nothing was answered. */
static bool answer_all(TaskStep *t, const Answer *answers, int count) {
  StrBuf left = {0};
  bool any = false;
  for (int64_t before = -1; before != t->asked.length;) {
    before = t->asked.length;
    CHECK_OK(task_rendezvous_next_wanted(t->rendezvous, &t->asked, &t->f.status), t->f.status);
    if (t->asked.length > before) strbuf_append_char(&t->asked, '\n');
  }
  const char *at = strbuf_text(&t->asked), *end;
  for (; (end = strchr(at, '\n')); at = end + 1) {
    Str key = {at, (size_t)(end - at)};
    if (answer(t, key, answers, count)) any = true;
    else strbuf_printf(&left, "%.*s\n", (int)key.length, key.data);
  }
  strbuf_free(&t->asked);
  t->asked = left;
  return any;
}

static RunState run_with(TaskStep *t, const Answer *answers, int count) {
  RunState state;
  do {
    state = session_advance(t->step, 0, NULL, &t->f.status);
  } while (state == RUN_WAITING && CHECK(session_step_is_blocked(t->step)) && answer_all(t, answers, count));
  return state;
}

static void sent(TaskStep *t, const char *name, const char *frame, int32_t want) {
  CHECK_CONTEXT("%s", name);
  const int32_t *value = received(t, name, str_of(frame));
  if (CHECK(value)) CHECK_INT_EQ(*value, want);
  CHECK_CONTEXT("%s", "");
}

/* From the loop "f". */
static void sent_in_round(TaskStep *t, const char *name, int round, int32_t want) {
  char frame[64];
  uint64_t number = hash64_combine(0, hash64_combine(0, hash64(str_of("f"))));
  snprintf(frame, sizeof frame, "%llu:%d", (unsigned long long)number, round);
  sent(t, name, frame, want);
}

static const char kTwo[] = RECV("a", "") RECV("b", "")
    "na Neg recv_a ; T=DT_INT32\nnb Neg recv_b ; T=DT_INT32\n"
    "both Add na nb ; T=DT_INT32\n" SEND("fa", "na") SEND("fb", "nb") SEND("sum", "both");

TEST(a_task_sends_what_it_can_whichever_value_comes_first) {
  static const Answer kOrders[][2] = {{{"a", NULL, 1}, {"b", "fa", 2}}, {{"a", "fb", 1}, {"b", NULL, 2}}};
  for (int i = 0; i < 2; i++) {
    TaskStep t;
    if (begin_task(&t, kTwo) && start(&t)) {
      CHECK_INT_EQ(run_with(&t, kOrders[i], 2), RUN_DONE);
      sent(&t, "fa", "0:0", -1);
      sent(&t, "fb", "0:0", -2);
      sent(&t, "sum", "0:0", -3);
    }
    end_task(&t);
  }
}

/* The second switch decides before the first one can. */
TEST(a_branch_does_not_wait_for_the_condition_of_another_one) {
  TaskStep t;
  static const Answer kAnswers[] = {{"first", "chosen", 1}, {"second", NULL, 5}};
  if (begin_task(&t,
                 RECV("first", "")
                     RECV("second",
                          "") "x Const ; int=4\nzero Const ; int=0\n"
                              "c1 Less zero recv_first ; T=DT_INT32\nc2 Less zero recv_second ; T=DT_INT32\n"
                              "s1 Switch x c1 ; T=DT_INT32\ns2 Switch x c2 ; T=DT_INT32\n"
                              "n1 Neg s1:1 ; T=DT_INT32\nm1 Merge s1 n1 ; T=DT_INT32 N=2\n"
                              "n2 Neg s2:1 ; T=DT_INT32\nm2 Merge s2 n2 ; T=DT_INT32 N=2\n" SEND("later",
                                                                                                 "m1")
                                  SEND("chosen", "m2")) &&
      start(&t)) {
    CHECK_INT_EQ(run_with(&t, kAnswers, 2), RUN_DONE);
    sent(&t, "later", "0:0", -4);
    sent(&t, "chosen", "0:0", -4);
  }
  end_task(&t);
}

/* A loop of three rounds here follows one of the other task: in each round `q` needs what was made of `p`, or
 * the other way round. */
#define LOOP                                                                                     \
  "zero Const ; int=0\nlimit Const ; int=3\none Const ; int=1\n"                                 \
  "e Enter zero ; T=DT_INT32 frame_name='f'\n"                                                   \
  "m Merge e n ; T=DT_INT32 N=2\n"                                                               \
  "le Enter limit ; T=DT_INT32 frame_name='f' is_constant=true\n"                                \
  "oe Enter one ; T=DT_INT32 frame_name='f' is_constant=true\n"                                  \
  "l Less m le ; T=DT_INT32\nc LoopCond l\n"                                                     \
  "s Switch m c ; T=DT_INT32\n"                                                                  \
  "k Add s:1 oe ; T=DT_INT32\nn NextIteration k ; T=DT_INT32\n"                                  \
  "x Exit s ; T=DT_INT32\n"                                                                      \
  "te Enter zero ; T=DT_INT32 frame_name='f'\n"                                                  \
  "tm Merge te tn ; T=DT_INT32 N=2\n"                                                            \
  "ts Switch tm c ; T=DT_INT32\n"                                                                \
  "tx Exit ts ; T=DT_INT32\n"                                                                    \
  "np Neg recv_p ; T=DT_INT32\nnq Neg recv_q ; T=DT_INT32\n"                                     \
  "both Add np nq ; T=DT_INT32\n"                                                                \
  "more Add ts:1 both ; T=DT_INT32\ntn NextIteration more ; T=DT_INT32\n"                        \
  "left Neg oe ; T=DT_INT32\n" RECV("p", "^m") RECV("q", "^m") SEND("gp", "np") SEND("gq", "nq") \
      SEND("count", "x") SEND("total", "tx") SEND("left", "left")

TEST(a_loop_receives_in_any_order_in_each_round) {
  static const Answer kOrders[][2] = {{{"p", NULL, 10}, {"q", "gp", 20}}, {{"p", "gq", 10}, {"q", NULL, 20}}};
  for (int i = 0; i < 2; i++) {
    TaskStep t;
    if (begin_task(&t, LOOP) && start(&t)) {
      CHECK_INT_EQ(run_with(&t, kOrders[i], 2), RUN_DONE);
      sent(&t, "count", "0:0", 3);
      sent(&t, "total", "0:0", -(30 + 32 + 34));
      for (int round = 0; round <= 3; round++) sent_in_round(&t, "left", round, -1);
    }
    end_task(&t);
  }
}

TEST(a_variable_is_read_before_and_after_its_update) {
  TaskStep t;
  static const Answer kAnswers[] = {{"delta", "old", 5}, {"other", "new", 7}};
  if (begin_task(&t,
                 "v VariableV2 ; dtype=DT_INT32 shape=u\nthree Const ; int=3\n"
                 "init Assign v three ; T=DT_INT32 validate_shape=false\n"
                 "read Identity v ^init ; T=DT_INT32\n" RECV("delta", "")
                     RECV("other", "") "add AssignAdd v recv_delta ^read ; T=DT_INT32\n"
                                       "again Identity v ^add ; T=DT_INT32\n"
                                       "last AssignAdd add recv_other ^again ; T=DT_INT32\n"
                                       "end Identity last ; T=DT_INT32\n" SEND("old", "read")
                                           SEND("new", "again") SEND("end", "end")) &&
      start(&t)) {
    CHECK_OK(run_with(&t, kAnswers, 2) == RUN_DONE, t.f.status);
    sent(&t, "old", "0:0", 3);
    sent(&t, "new", "0:0", 8);
    sent(&t, "end", "0:0", 15);
  }
  end_task(&t);
}

TEST(a_step_that_gets_no_answer_is_blocked_and_can_be_aborted) {
  TaskStep t;
  Status lost;
  status_init(&lost);
  status_set(&lost, CODE_UNAVAILABLE, "the other task has gone");
  if (begin_task(&t, kTwo) && start(&t)) {
    CHECK_INT_EQ(run_with(&t, NULL, 0), RUN_WAITING);
    local_rendezvous_abort(task_rendezvous_local(t.rendezvous), &lost);
    CHECK_ERROR(session_advance(t.step, 0, NULL, &t.f.status) == RUN_DONE, t.f.status, CODE_UNAVAILABLE,
                "the other task has gone");
  }
  end_task(&t);
}
