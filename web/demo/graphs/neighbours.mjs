// A drawing of an operation with two levels of its producers on the left and two of its consumers on the
// right.
const NS = 'http://www.w3.org/2000/svg';
const BOX = { width: 118, height: 36, gapX: 34, gapY: 10 };
const MOST = 6; // boxes in a column
const LEVELS = [-2, -1, 0, 1, 2];

const element = (name, attributes = {}, ...children) => {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

const cut = (text, length) => (text.length > length ? `…${text.slice(1 - length)}` : text);

const before = (operation) => [
  ...operation.inputs.map((input) => ({ operation: input.operation })),
  ...operation.controlInputs.map((control) => ({ operation: control, control: true })),
];
const after = (operation) => [
  ...operation.outputs.flatMap((output) =>
    output
      .consumers()
      .slice(0, MOST + 1)
      .map((consumer) => ({ operation: consumer.operation })),
  ),
  ...operation.controlOutputs.map((control) => ({ operation: control, control: true })),
];

/**
 * Columns of operations by level, and the edges between neighbouring columns. `left` counts the operations
 * that do not fit in a column.
 */
function collect(operation) {
  const columns = new Map(LEVELS.map((level) => [level, { operations: [], left: 0 }]));
  const edges = [];
  columns.get(0).operations.push(operation);
  for (const [direction, neighbours] of [
    [-1, before],
    [1, after],
  ]) {
    for (const level of [1, 2]) {
      const column = columns.get(direction * level);
      for (const from of columns.get(direction * (level - 1)).operations) {
        for (const { operation: to, control } of neighbours(from)) {
          if (!column.operations.includes(to)) {
            if (column.operations.length === MOST) {
              column.left++;
              continue;
            }
            column.operations.push(to);
          }
          edges.push(
            direction < 0
              ? { from: to, to: from, level: -level, control }
              : { from, to, level: level - 1, control },
          );
        }
      }
    }
  }
  return { columns, edges };
}

/** Draws into `svg` and sets its width. A click on a box calls `choose(operation)`. */
export function drawNeighbours(svg, operation, choose) {
  const { columns, edges } = collect(operation);
  const levels = LEVELS.filter((level) => columns.get(level).operations.length > 0);
  const rows = Math.max(
    ...levels.map((level) => columns.get(level).operations.length + (columns.get(level).left > 0 ? 1 : 0)),
  );
  const width = levels.length * BOX.width + (levels.length + 1) * BOX.gapX;
  const height = rows * (BOX.height + BOX.gapY) + BOX.gapY;
  const x = (level) => BOX.gapX + (level - levels[0]) * (BOX.width + BOX.gapX);
  const y = (column, i) =>
    height / 2 + (i - column.operations.length / 2) * (BOX.height + BOX.gapY) + BOX.gapY / 2;
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.style.width = `${width}px`;
  svg.replaceChildren();
  for (const { from, to, level, control } of edges) {
    const [left, right] = [columns.get(level), columns.get(level + 1)];
    const [x1, y1] = [x(level) + BOX.width, y(left, left.operations.indexOf(from)) + BOX.height / 2];
    const [x2, y2] = [x(level + 1), y(right, right.operations.indexOf(to)) + BOX.height / 2];
    const middle = (x1 + x2) / 2;
    svg.append(
      element('path', {
        d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`,
        ...(control ? { class: 'control' } : {}),
      }),
    );
  }
  for (const level of levels) {
    const column = columns.get(level);
    column.operations.forEach((shown, i) => {
      const box = element(
        'a',
        { transform: `translate(${x(level)} ${y(column, i)})`, ...(level === 0 ? { class: 'here' } : {}) },
        element('title', {}, shown.name),
        element('rect', { width: BOX.width, height: BOX.height, rx: 7 }),
        element('text', { x: 8, y: 15 }, cut(shown.name, 16)),
        element('text', { x: 8, y: 28, class: 'op' }, cut(shown.type, 18)),
      );
      box.addEventListener('click', () => choose(shown));
      svg.append(box);
    });
    if (column.left > 0) {
      svg.append(
        element(
          'text',
          { x: x(level) + 8, y: y(column, column.operations.length) + 14, class: 'op' },
          `and ${column.left} more`,
        ),
      );
    }
  }
}
