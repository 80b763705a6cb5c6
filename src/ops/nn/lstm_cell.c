#include "ops/nn/lstm_cell.h"

#include "simd/templates.h"
#include "simd/vector_math.h"

typedef struct ForwardRows {
  const LstmCell *cell;
  const LstmStep *step;
  float *gates;
} ForwardRows;

/* gate += x * weights, the part of a peephole. */
static void add_peephole(int64_t size, const float *x, const float *weights, float *gate) {
  LOOP_INDEPENDENT for (int64_t k = 0; k < size; k++) gate[k] += x[k] * weights[k];
}

static void clip_row(int64_t size, float limit, float *x) {
  for (int64_t k = 0; k < size; k++) x[k] = x[k] < -limit ? -limit : x[k] > limit ? limit : x[k];
}

static void forward_rows(void *arg, int64_t begin, int64_t end) {
  const ForwardRows *job = arg;
  const LstmCell *cell = job->cell;
  int64_t size = cell->size;
  for (int64_t row = begin; row < end; row++) {
    const float *cs_prev = job->step->cs_prev + row * size;
    float *v[LSTM_VALUES], *gates = job->gates + 4 * row * size;
    float *forget = gates + cell->forget * size, *last = gates + 3 * size;
    for (int k = 0; k < LSTM_VALUES; k++) v[k] = job->step->values[k] + row * size;
    if (cell->peephole) {
      add_peephole(size, cs_prev, cell->wci, gates);
      add_peephole(size, cs_prev, cell->wcf, forget);
    }
    for (int64_t k = 0; k < size; k++) forget[k] += cell->forget_bias;
    vector_sigmoid_f32(size, gates, v[LSTM_I]);
    vector_tanh_f32(size, gates + cell->candidate * size, v[LSTM_CI]);
    vector_sigmoid_f32(size, forget, v[LSTM_F]);
    for (int64_t k = 0; k < size; k++)
      v[LSTM_CS][k] = v[LSTM_I][k] * v[LSTM_CI][k] + v[LSTM_F][k] * cs_prev[k];
    if (cell->clip > 0) clip_row(size, cell->clip, v[LSTM_CS]);
    vector_tanh_f32(size, v[LSTM_CS], v[LSTM_CO]);
    if (cell->peephole) add_peephole(size, v[LSTM_CS], cell->wco, last);
    vector_sigmoid_f32(size, last, v[LSTM_O]);
    for (int64_t k = 0; k < size; k++) v[LSTM_H][k] = v[LSTM_O][k] * v[LSTM_CO][k];
  }
}

void lstm_forward(const LstmCell *cell, const LstmStep *step, float *gates, const Parallel *parallel) {
  ForwardRows job = {cell, step, gates};
  parallel_work(parallel, cell->batch, 60 * (double)cell->size, forward_rows, &job);
}

typedef struct BackwardRows {
  const LstmCell *cell;
  const LstmStep *step;
  const LstmBackward *back;
} BackwardRows;

static void backward_row(const LstmCell *cell, const float *const v[LSTM_VALUES], const float *cs_prev,
                         const float *cs_grad, const float *h_grad, float *dgates, float *cs_prev_grad) {
  int64_t size = cell->size;
  float *d_ci = dgates + cell->candidate * size, *d_f = dgates + cell->forget * size,
        *d_o = dgates + 3 * size;
  for (int64_t k = 0; k < size; k++) {
    float i = v[LSTM_I][k], f = v[LSTM_F][k], o = v[LSTM_O][k], ci = v[LSTM_CI][k], co = v[LSTM_CO][k];
    float last = o * (1 - o) * h_grad[k] * co, dcs = (1 - co * co) * h_grad[k] * o + cs_grad[k];
    if (cell->peephole) dcs += last * cell->wco[k];
    dgates[k] = i * (1 - i) * dcs * ci;
    d_ci[k] = (1 - ci * ci) * dcs * i;
    d_f[k] = f * (1 - f) * dcs * cs_prev[k];
    d_o[k] = last;
    cs_prev_grad[k] = dcs * f;
    if (cell->peephole) cs_prev_grad[k] += dgates[k] * cell->wci[k] + d_f[k] * cell->wcf[k];
  }
}

static void backward_rows(void *arg, int64_t begin, int64_t end) {
  const BackwardRows *job = arg;
  int64_t size = job->cell->size;
  for (int64_t row = begin; row < end; row++) {
    const float *v[LSTM_VALUES] = {0};
    int64_t at = row * size;
    for (int k = 0; k < LSTM_H; k++) v[k] = job->step->values[k] + at;
    backward_row(job->cell, v, job->step->cs_prev + at, job->back->cs_grad + at, job->back->h_grad + at,
                 job->back->dgates + 4 * at, job->back->cs_prev_grad + at);
  }
}

void lstm_backward(const LstmCell *cell, const LstmStep *step, const LstmBackward *back,
                   const Parallel *parallel) {
  BackwardRows job = {cell, step, back};
  parallel_work(parallel, cell->batch, 30 * (double)cell->size, backward_rows, &job);
}

void lstm_add_peephole_gradients(const LstmCell *cell, const LstmStep *step, const float *dgates,
                                 float *const grads[3]) {
  int64_t size = cell->size;
  for (int64_t row = 0; row < cell->batch; row++) {
    const float *d = dgates + 4 * row * size, *cs_prev = step->cs_prev + row * size,
                *cs = step->values[LSTM_CS] + row * size;
    for (int64_t k = 0; k < size; k++) {
      grads[0][k] += d[k] * cs_prev[k];
      grads[1][k] += d[cell->forget * size + k] * cs_prev[k];
      grads[2][k] += d[3 * size + k] * cs[k];
    }
  }
}
