"""tf.data with each kind of iterator, strings, and lookup tables."""
import tensorflow.compat.v1 as tf
from report import NODES, fails, show


def drain(session, label, item, limit=20):
    items = []
    try:
        for _ in range(limit):
            items.append(session.run(item))
        items.append('more')
    except tf.errors.OutOfRangeError as error:
        items.append(error.__context__.message.splitlines()[-1])
    show(label, items)


def datasets(session):
    numbers = tf.data.Dataset.range(10).filter(lambda n: tf.equal(n % 2, 0)).map(lambda n: (n * n, tf.as_string(n)))
    drain(session, 'one shot', tf.data.make_one_shot_iterator(numbers.batch(2)).get_next())
    limit = tf.placeholder(tf.int64, [])
    counted = tf.data.make_initializable_iterator(tf.data.Dataset.range(limit).repeat(2).window(3).flat_map(
        lambda window: window.batch(3)))
    item = counted.get_next()
    fails('not initialised', session.run, item, end=NODES)
    for count in 3, 2:
        session.run(counted.initializer, {limit: count})
        drain(session, f'up to {count}', item)
    shuffled = tf.data.Dataset.range(8).shuffle(4, seed=3, reshuffle_each_iteration=False)
    drain(session, 'shuffled', tf.data.make_one_shot_iterator(shuffled).get_next())
    first = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices(([1, 2], ['a', 'b'])))
    second = tf.data.make_initializable_iterator(tf.data.Dataset.zip((
        tf.data.Dataset.from_tensors(9).repeat(3), tf.data.Dataset.from_tensors('z').repeat())))
    handle = tf.placeholder(tf.string, [])
    fed = tf.data.Iterator.from_string_handle(handle, tf.data.get_output_types(first), tf.data.get_output_shapes(first))
    value = fed.get_next()
    handles = session.run([first.string_handle(), second.string_handle()])
    session.run(second.initializer)
    show('fed', [session.run(value, {handle: handles[i]}) for i in (0, 1, 1, 0)])
    sets = [tf.data.Dataset.range(2), tf.data.Dataset.range(10, 13)]
    either = tf.data.Iterator.from_structure(tf.int64, [])
    item = either.get_next()
    for data in sets:
        session.run(either.make_initializer(data))
        drain(session, 'either', item)


def words(session):
    text = tf.constant(['one two', 'three', ''])
    show('split', session.run(tf.string_split(text)).values)
    show('upper', session.run(tf.strings.upper(text)))
    show('substrings', session.run(tf.strings.substr(text, 0, 0)))
    show('replaced', session.run(tf.strings.regex_replace(text, '[aeiou]', '<\\0>')))
    show('numbers', session.run(tf.strings.to_number(['1.5', '-2e3'])))
    show('hashed', session.run(tf.strings.to_hash_bucket_fast(text, 100)))
    show('base64', session.run(tf.decode_base64(tf.encode_base64(text))))


def tables(session):
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], [10, 20]), -1)
    mutable = tf.raw_ops.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name='counts')
    session.run(tf.tables_initializer())
    show('found', session.run([table.lookup(tf.constant(['b', 'x'])), table.size()]))
    session.run(tf.raw_ops.LookupTableInsertV2(
        table_handle=mutable, keys=['k'], values=tf.constant([5], tf.int64)))
    show('mutable', session.run(tf.raw_ops.LookupTableFindV2(
        table_handle=mutable, keys=['k', 'l'], default_value=tf.constant(0, tf.int64))))


def main(target, folder):
    for part in datasets, words, tables:
        with tf.Graph().as_default(), tf.Session(target) as session:
            part(session)
