// Where a key leads in the matrix. Pure.

/**
 * The cell that a key moves to; null: it is no key that moves. Never the diagonal, which holds nothing.
 * @param {{row: number, column: number}} at
 * @param {string} key
 * @param {boolean} ctrl
 * @param {{from: number, to: number}[]} groups sites
 * @param {number} n hosts
 */
export function moved(at, key, ctrl, groups, n) {
  const last = n - 1;
  const site = groups.findIndex((g) => at.row >= g.from && at.row <= g.to);
  /** @type {Record<string, [number, number]>} */
  const to = {
    ArrowLeft: [at.row, at.column - 1], ArrowRight: [at.row, at.column + 1],
    ArrowUp: [at.row - 1, at.column], ArrowDown: [at.row + 1, at.column],
    Home: [ctrl ? 0 : at.row, 0], End: [ctrl ? last : at.row, last],
    PageUp: [groups[Math.max(0, site - 1)]?.from ?? 0, at.column], PageDown: [groups[Math.min(groups.length - 1, site + 1)]?.from ?? 0, at.column],
  };
  const next = to[key];
  if (!next) return null;
  let [row, column] = next.map((v) => Math.max(0, Math.min(last, v)));
  if (row === column) {
    // One further in the direction of the key; back to where it was at the edge.
    if (key === 'ArrowLeft' || key === 'End') column -= 1;
    else if (key === 'ArrowRight' || key === 'Home') column += 1;
    else if (key === 'ArrowUp' || (key === 'PageUp' && row > 0)) row -= 1;
    else row += 1;
  }
  return row < 0 || column < 0 || row > last || column > last ? at : { row, column };
}
