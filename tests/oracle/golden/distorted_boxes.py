"""Random parts of images that cover boxes; the random numbers follow from the seeds."""
import numpy as np

F = np.float32


def cases(golden):
    def boxes(count):
        corners = np.sort(golden.random.random((1, count, 2, 2)), axis=2)
        return corners.reshape(1, count, 4).astype(F)

    attrs = {'seed': 7, 'seed2': 11}
    settings = [((100, 80, 3), 1, 0.1, {}), ((37, 200, 1), 3, 0.5, {'aspect_ratio_range': [0.5, 2.0]}), ((9, 7, 3), 2, 0.9, {'area_range': [0.3, 0.6]}), ((64, 64, 3), 0, 0.25, {'use_image_if_no_bounding_boxes': True}),
                ((5, 100, 3), 2, 0.0, {'aspect_ratio_range': [3.0, 9.0]}), ((50, 50, 3), 1, 1.0, {'max_attempts': 3}), ((1, 1, 3), 1, 0.1, {}), ((120, 90, 3), 4, 0.3, {'area_range': [0.9, 1.0]}), ((40, 60, 3), 1, 2.0, {}),
                ((0, 5, 3), 1, 0.1, {})]
    for i, (size, count, covered, more) in enumerate(settings):
        dtype, given = [np.int32, np.int64, np.int16, np.uint8, np.int8][i % 5], boxes(count)
        golden.op('SampleDistortedBoundingBox', [np.array(size, dtype), given], attrs | {'min_object_covered': covered} | more)
        golden.op('SampleDistortedBoundingBoxV2', [np.array(size, dtype), given, F(covered)], attrs | {'seed2': 3 * i} | more)
        for seed in [np.int32([i, 5]), np.int64([-i, 2**40])]:
            golden.op('StatelessSampleDistortedBoundingBox', [np.array(size, dtype), given, F(covered), seed], more)
    _several(golden, boxes(2))
    _wrong(golden, attrs, boxes(2))


def _several(golden, given):
    """Runs of one node continue with the next random numbers."""
    with golden.graph('SampleDistortedBoundingBoxV2 several times') as case:
        feeds, results = golden._build('SampleDistortedBoundingBoxV2', [np.int32([90, 70, 3]), given, F(0.2)], {'seed': 3, 'seed2': 4, 'max_attempts': 5})
        for _ in range(4):
            case.step({f'op:{i}': y for i, y in enumerate(results)}, feeds)
            case.expect_success()


def _wrong(golden, attrs, given):
    size = np.int32([10, 10, 3])
    op = 'SampleDistortedBoundingBoxV2'
    for inputs in [(size[None], given, F(0.1)), (size[:2], given, F(0.1)), (np.int32([-1, 5, 3]), given, F(0.1)), (np.int64([5, 2**31, 3]), given, F(0.1)), (size, given[0], F(0.1)), (size, given[..., :3], F(0.1)),
                   (size, given, F([0.1])), (size, given, F(-0.5)), (size, given + 1, F(0.1)), (size, given[:, :0], F(0.1))]:
        golden.fails(op, list(inputs), attrs)
    for more in [{'aspect_ratio_range': [0.5]}, {'aspect_ratio_range': [-1.0, 2.0]}, {'area_range': [0.1, 0.2, 0.3]}, {'area_range': [0.0, 1.0]}, {'area_range': [0.5, 1.5]}, {'max_attempts': 0}]:
        golden.fails(op, [size, given, F(0.1)], attrs | more)
    golden.fails('SampleDistortedBoundingBox', [size, given], attrs | {'min_object_covered': -1.0})
    golden.fails('StatelessSampleDistortedBoundingBox', [size, given, F(0.1), np.int32([1, 2, 3])])
