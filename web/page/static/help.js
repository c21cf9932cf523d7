// Keys and marks, in a dialog.
import { html, useEffect, useRef } from './html.js';
import { link } from './router.js';

/** @type {[string, string][]} */
const keys = [
  ['?', 'this help'],
  ['Tab', 'to the next control; the first is a link past the head of the page'],
  ['← ↑ → ↓', 'in the matrix: to the next cell; in a graph: to the next value'],
  ['Home, End', 'in the matrix: to the first or last cell of the row; with Ctrl, of all. In a graph: to the first or last value'],
  ['Page up, Page down', 'in the matrix: to the next site'],
  ['Enter', 'in the matrix: opens the pair'],
  ['+ −', 'in the matrix: larger and smaller cells; in a graph: zooms in and out around the cursor'],
  ['[ ]', 'in the overview: a step back and forth in time; in a graph: moves the span'],
  ['Esc', 'in a graph: back to the span before; browser back does the same'],
];

/** @type {[string, string][]} */
const marks = [
  ['number alone', 'within the limits, or as usual'],
  ['•', 'beyond the warning limit, or unusual for this pair'],
  ['×', 'beyond the bad limit, or far from usual'],
  ['+', 'better than usual for this pair'],
  ['hatched', 'no value in this time'],
  ['R, F, S, C', 'on a time line: another route, what a diagnosis found, a step of a metric, another configuration; with +, more than one'],
  ['◇', 'in a graph: measured besides the plan'],
];

/** @param {{close: () => void}} props */
export function Help({ close }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => dialog.current?.showModal(), []); // the browser keeps the focus inside, and gives it back
  return html`<dialog ref=${dialog} onClose=${close} aria-labelledby="help-title">
    <h2 id="help-title">Keys and marks</h2>
    <div class="columns">
      <dl>${keys.map(([k, what]) => html`<dt><kbd>${k}</kbd></dt><dd>${what}</dd>`)}</dl>
      <dl>${marks.map(([k, what]) => html`<dt>${k}</dt><dd>${what}</dd>`)}</dl>
    </div>
    <p>In the matrix each cell holds both directions: lower left from the row's host to the column's, upper right the way back.
      Whatever is chosen is in the address of the page: copy it to show somebody what you see.</p>
    <p>For a screen on a wall, <a href=${link(['wall'])} onClick=${close}>a view that turns</a> by itself; Escape leaves it.</p>
    <p><a href="vendor/licences.txt">Licences of what these pages are made of</a></p>
    <form method="dialog"><button>Close</button></form>
  </dialog>`;
}
