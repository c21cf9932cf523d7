// What is asked for when: first the graph that somebody looks at, then the others, then all else. A server and a browser do
// only so much at once, and whoever zooms waits for the graph alone.
import { useCallback, useRef, useState } from '../html.js';

/** @typedef {import('./range.js').Range} Range */

/** Which time and which steps. @param {Range} r */
const keyOf = (r) => `${r.from}/${r.to}/${r.step}`;

/**
 * The range for each stage; a stage has the range before until the stage before it stands, and null where there was none.
 * @param {Range} range that is wanted
 * @param {string[]} rows names of all rows of graphs
 * @param {number} turn
 */
export function useStages(range, rows, turn) {
  const [drew, add] = useState(/** @type {Record<string, string>} */ ({})); // for each row, the range that it shows
  const [looked, look] = useState(''); // the row that somebody zooms in
  const graphs = useRef(/** @type {Range | null} */ (null));
  const rest = useRef(/** @type {Range | null} */ (null));
  const first = rows.includes(looked) ? looked : rows[0];
  const key = keyOf(range);
  if (rows.length && drew[first] === key) graphs.current = range;
  if (rows.length && rows.every((r) => drew[r] === key)) rest.current = range;
  const onDrew = useCallback((/** @type {string} */ id, /** @type {Range} */ of) => add((old) => (old[id] === keyOf(of) ? old : { ...old, [id]: keyOf(of) })), []);
  /** @param {string} row @returns {Range | null} */
  const rangeOf = (row) => (row === first ? range : graphs.current);
  /** null: not its turn. What comes later gives up what it asked for: all share the server and a few connections. @param {string} row */
  const turnOf = (row) => (row === first || graphs.current === range ? turn : null);
  return { rangeOf, turnOf, rest: rest.current, turnOfRest: rest.current === range ? turn : null, onDrew, look };
}
