"""TensorFlow in a process of its own, because a broken graph may end it or never end."""
import multiprocessing
import os

SECONDS = 30  # for the next answer of a graph


def _answer(pipe):
    """(kind, seed) -> files of one case, and None at the end of each seed."""
    os.environ['CUDA_VISIBLE_DEVICES'] = '-1'
    import environment  # noqa: F401
    import answers
    while (seed := pipe.recv()) is not None:
        for case in answers.cases(*seed):
            pipe.send(case)
        pipe.send(None)


class OracleProcess:
    def __init__(self):
        self.process = None

    def start(self):
        context = multiprocessing.get_context('spawn')
        self.pipe, end = context.Pipe()
        self.process = context.Process(target=_answer, args=(end,), daemon=True)
        self.process.start()
        end.close()

    def case(self, kind, seed):
        """The last case that the process got to."""
        if not self.process:
            self.start()
        self.pipe.send((kind, seed))
        last = b''
        try:
            while self.pipe.poll(SECONDS):
                case = self.pipe.recv()
                if case is None:
                    return last
                last = case
            print(f'{kind} {seed}: TensorFlow does not end')
        except EOFError:
            print(f'{kind} {seed}: TensorFlow crashed')
        self.process.kill()
        self.process = None
        return last

    def end(self):
        if self.process:
            self.pipe.send(None)
            self.process.join()
