// A list of any length that creates elements only for the rows in view.
const ROW = 32; // px, the same as in graphs.css
const BEYOND = 6; // rows above and below the view

export class Rows {
  /**
   * `fill(element, item)` shows an item. `choose(item)` is called when the user clicks an item or moves to it
   * with the arrow keys.
   */
  constructor({ list, height, rows, fill, choose }) {
    Object.assign(this, { list, height, rows, fill, choose, items: [], chosen: undefined });
    list.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(list);
    rows.addEventListener('click', ({ target }) => {
      const row = target.closest('.row');
      if (row) this.choose(this.items[row.dataset.index]);
    });
    list.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[
        event.key
      ];
      if (!step || this.items.length === 0) return;
      event.preventDefault();
      const from = this.items.indexOf(this.chosen);
      this.choose(this.items[Math.min(Math.max(from < 0 ? 0 : from + step, 0), this.items.length - 1)]);
    });
  }

  show(items) {
    this.items = items;
    this.height.style.height = `${items.length * ROW}px`;
    this.list.scrollTop = 0;
    this.draw();
  }

  /** Marks an item and brings it into view. */
  select(item) {
    this.chosen = item;
    const at = this.items.indexOf(item) * ROW;
    if (at >= 0 && (at < this.list.scrollTop || at + ROW > this.list.scrollTop + this.list.clientHeight)) {
      this.list.scrollTop = at - (this.list.clientHeight - ROW) / 2;
    }
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.list.scrollTop / ROW) - BEYOND);
    const last = Math.min(
      this.items.length,
      Math.ceil((this.list.scrollTop + this.list.clientHeight) / ROW) + BEYOND,
    );
    this.rows.style.transform = `translateY(${first * ROW}px)`;
    this.rows.replaceChildren(
      ...Array.from({ length: Math.max(0, last - first) }, (_, i) => {
        const row = document.createElement('div');
        const item = this.items[first + i];
        row.className = 'row';
        row.dataset.index = first + i;
        row.setAttribute('role', 'option');
        row.setAttribute('aria-selected', item === this.chosen);
        this.fill(row, item);
        return row;
      }),
    );
  }
}
