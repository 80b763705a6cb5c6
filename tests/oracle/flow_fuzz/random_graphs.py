"""Random graphs with TensorFlow 1.x's control flow, as Python writes them and wired by hand.

Every operation on values is exact, so that a comparison of two values gives the same answer everywhere. Effects (variables, stacks,
arrays) are in the order of control and data edges, so that there is one answer.
"""
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import function

from writer import tf1

raw = tf.raw_ops
FRAME_NAMES = ['a', 'b', 'c', 'd', 'e', 'f']


class RandomGraph:
    """Adds nodes to the default graph. `outputs` are values that a step may fetch, `feeds` the placeholders, `initializers` what has
    to run before a step."""

    def __init__(self, random):
        self.random = random
        self.initializers = []
        self.loops = 0  # around the current node
        self.inside = 0  # conditionals and loops around the current node
        self.nests_wired = False  # TensorFlow takes a Merge inside of a conditional for that of the conditional, in gradients
        self.frames = list(FRAME_NAMES)
        tf.constant(7, name='alive')
        self.feeds = [tf1.placeholder(tf.float32, [], f'x{i}') for i in range(3)]
        self.functions = [self._function(i) for i in range(random.randrange(2))]
        pool = list(self.feeds)
        self.outputs = []
        for _ in range(random.randrange(2, 6)):
            pool.append(self._value(pool, random.randrange(1, 4)))
            self.outputs.append(pool[-1])

    def feed_values(self):
        return {x: np.float32(self.random.choice([-2, -1, 0.5, 1, 2, 3])) for x in self.feeds}

    def _function(self, number):
        types = [tf.float32, tf.float32]

        @function.Defun(*types, func_name=f'F{number}')
        def called(a, b):
            saved, self.functions = getattr(self, 'functions', []), []
            result = self._flow([a, b], 1, [self._conditional, self._loop, self._switched])
            self.functions = saved
            return result
        called.add_to_graph(tf1.get_default_graph())
        return called

    def _value(self, pool, depth):
        if self.random.random() < 0.1:
            return self._shape(self.random.choice(pool))
        if depth == 0 or self.random.random() < 0.4:
            return self._arithmetic(self.random.choice(pool), self.random.choice(pool))
        return self._flow(pool, depth, [self._conditional, self._conditional, self._loop, self._loop, self._switched, self._wired_loop,
                                        self._array, self._stack, self._variable, self._reference, self._call, self._after_dead,
                                        self._numbered])

    def _flow(self, pool, depth, kinds):
        kind = self.random.choice(kinds)
        self.nests_wired |= self.inside > 0 and kind not in (self._conditional, self._loop, self._array)
        value = kind(pool, depth)
        value.set_shape([])
        return value

    def _arithmetic(self, a, b):
        return self.random.choice([lambda: a + b, lambda: tf.maximum(a, b) * 0.5, lambda: tf1.where(a < b, a, b), lambda: a * 0.25,
                                   lambda: _bounded(a - b), lambda: self._list([a * 0.5, a, b])])()

    def _list(self, values):
        """One of the outputs of an IdentityN, all of which are dead if one of its inputs is."""
        self.random.shuffle(values)
        return self.random.choice(tf.identity_n(values[:2]))

    def _shape(self, a):
        """A number that follows from a shape alone, which an optimizer may know: it must be dead where the value is."""
        query = self.random.choice([raw.Size, raw.Rank, raw.Shape])
        queried = query(input=self.random.choice([a, tf.reshape(a, [1, 1]), tf.stack([a, a, a])]))
        return tf.reduce_sum(tf.cast(queried, tf.float32)) * self.random.choice([1.0, 2.0, 4.0])

    def _values(self, pool, depth):
        """The last of one or two new values."""
        pool = list(pool)
        self.inside += 1
        for _ in range(self.random.randrange(1, 3)):
            pool.append(self._value(pool, depth))
        self.inside -= 1
        return pool[-1]

    def _conditional(self, pool, depth):
        a, b = self.random.choice(pool), self.random.choice(pool)
        return tf1.cond(a < b, lambda: self._values(pool, depth - 1), lambda: self._values(pool, depth - 1))

    def _loop(self, pool, depth):
        rounds, state = self.random.randrange(4), [self.random.choice(pool) for _ in range(self.random.randrange(1, 3))]

        def body(i, *values):
            seen = [*pool, *values, tf.cast(i, tf.float32)]
            self.loops += 1
            after = [_bounded(self._values(seen, depth - 1)) for _ in values]
            self.loops -= 1
            if self.random.random() < 0.3:
                after.reverse()
            return [i + 1, *after]
        return self.random.choice(tf1.while_loop(lambda i, *_: i < rounds, body, [tf.constant(0), *state],
                                                 parallel_iterations=self.random.choice([1, 10]))[1:])

    def _switched(self, pool, depth):
        a, b = self.random.choice(pool), self.random.choice(pool)
        no, yes = raw.Switch(data=a, pred=a < b)
        sides = [no * 2.0, yes + 1.0] if self.random.random() < 0.7 else [self._shape(no), self._shape(yes)]
        self.random.shuffle(sides)
        merged, index = raw.Merge(inputs=sides)
        return self.random.choice([merged + tf.cast(index, tf.float32), merged, sides[0]] if depth > 1 else [merged])

    def _numbered(self, pool, depth):
        """_SwitchN of two outputs or three."""
        a, count = self.random.choice(pool), self.random.randrange(2, 4)
        index = tf.cast(_bounded(self.random.choice(pool)), tf.int32)
        switch = tf1.get_default_graph().create_op('_SwitchN', [a, index], [tf.float32] * count, name='SwitchN',
                                                   attrs={'num_outs': tf1.AttrValue(i=count), 'T': tf1.AttrValue(type=1)})
        shapes = self.random.random() < 0.3
        merged, taken = raw.Merge(inputs=[(self._shape(y) if shapes else y) + float(k) for k, y in enumerate(switch.outputs)])
        return merged + tf.cast(taken, tf.float32)

    def _wired_loop(self, pool, depth):
        """A loop whose frame name may be that of another one."""
        frame = self.random.choice(FRAME_NAMES) if self.random.random() < 0.1 or not self.frames else self.frames.pop()
        parallel = self.random.choice([1, 2, 10])

        def enter(value, constant=False):
            return raw.Enter(data=value, frame_name=frame, is_constant=constant, parallel_iterations=parallel)
        count, state = enter(tf.constant(0)), enter(self.random.choice(pool))
        captured = enter(self.random.choice(pool), True)
        i, _ = raw.Merge(inputs=[count, count])
        value, _ = raw.Merge(inputs=[state, state])
        limit = enter(tf.constant(self.random.randrange(4)), True)
        go = raw.LoopCond(input=i < limit)
        i_stop, i_go = raw.Switch(data=i, pred=go)
        stop, again = raw.Switch(data=value, pred=go)
        with tf1.control_dependencies([i_go]):
            one = tf.constant(1)
        i.op._update_input(1, raw.NextIteration(data=i_go + one))
        value.op._update_input(1, raw.NextIteration(data=self._arithmetic(again, captured)))
        result = raw.Exit(data=stop)
        return result + tf.cast(raw.Exit(data=i_stop), tf.float32) if self.random.random() < 0.5 else result

    def _array(self, pool, depth):
        size = self.random.randrange(1, 4)
        array = tf1.TensorArray(tf.float32, size, element_shape=[], clear_after_read=False)
        start = self.random.choice(pool)

        def body(i, value, array):
            self.loops += 1
            after = _bounded(self._values([*pool, value], depth - 1))
            self.loops -= 1
            return i + 1, after, array.write(i, value)
        _, last, array = tf1.while_loop(lambda i, *_: i < size, body, [tf.constant(0), start, array])
        return last + array.read(self.random.randrange(size)) if self.random.random() < 0.5 else tf.reduce_max(array.stack())

    def _stack(self, pool, depth):
        """One loop pushes, another one pops."""
        rounds, pops = self.random.randrange(1, 4), self.random.randrange(1, 5)
        handle = raw.StackV2(max_size=-1, elem_type=tf.float32, stack_name='')
        start = self.random.choice(pool)

        def push(i, value):
            pushed = raw.StackPushV2(handle=handle, elem=value)
            return i + 1, _bounded(self._arithmetic(pushed, self.random.choice(pool)))
        _, pushed = tf1.while_loop(lambda i, _: i < rounds, push, [tf.constant(0), start], parallel_iterations=1)

        def pop(i, value):
            with tf1.control_dependencies([value]):
                    popped = raw.StackPopV2(handle=handle, elem_type=tf.float32)
            popped.set_shape([])
            return i + 1, value + popped
        pops = min(pops, rounds) if self.random.random() < 0.9 else pops
        return tf1.while_loop(lambda i, _: i < pops, pop, [tf.constant(0), pushed], parallel_iterations=1)[1]

    def _variable(self, pool, depth):
        return self._assigned(pool, depth, True)

    def _reference(self, pool, depth):
        return self._assigned(pool, depth, False)

    def _assigned(self, pool, depth, use_resource):
        """A variable that a branch or a loop adds to, and its value afterwards."""
        if self.loops:
            return self._switched(pool, depth)  # rounds of a loop may overlap
        with tf1.init_scope():
            variable = tf1.Variable(1.0, use_resource=use_resource)
        self.initializers.append(variable.initializer)
        a, b = self.random.choice(pool), self.random.choice(pool)
        captured = self.random.choice(pool)

        def add():
            with tf1.control_dependencies([tf1.assign_add(variable, captured, use_locking=True)]):
                return tf1.identity(captured)
        if self.random.random() < 0.5:
            done = tf1.cond(a < b, add, lambda: a * 0.5)
        else:
            def body(i, value):
                with tf1.control_dependencies([value]):
                    return i + 1, _bounded(value + add())
            done = tf1.while_loop(lambda i, _: i < 2, body, [tf.constant(0), a], parallel_iterations=1)[1]
        with tf1.control_dependencies([done]):
            return variable.read_value() + done

    def _call(self, pool, depth):
        if not self.functions:
            return self._switched(pool, depth)
        return self.random.choice(self.functions)(self.random.choice(pool), self.random.choice(pool))

    def _after_dead(self, pool, depth):
        """A node behind a control edge from one side of a Switch, alone or merged with the other side."""
        a, b = self.random.choice(pool), self.random.choice(pool)
        no, yes = raw.Switch(data=a, pred=a < b)
        dead = self.random.random() < 0.7  # a Switch is not dead itself
        with tf1.control_dependencies([tf.negative(no) if dead else no]):
            behind = tf1.identity(b)
        with tf1.control_dependencies([behind]):
            trigger = raw.ControlTrigger()
        with tf1.control_dependencies([trigger]):
            alive = tf1.identity(a)
        merged, _ = raw.Merge(inputs=[behind, yes * 0.5] if dead else [behind])
        return self.random.choice([merged, alive, merged + alive, behind] if depth > 1 else [merged, alive])


def _bounded(x):
    return tf.minimum(tf.maximum(x, -5.0), 5.0)
