// A text area with line numbers, and marks on the lines that have errors.
import { html, useEffect, useLayoutEffect, useRef } from '../html.js';

/**
 * Where a place is in a text: the index of a column, from 1 and in characters, of a line, from 1.
 * @param {string} text
 * @param {number} line
 * @param {number} column
 */
export function indexOf(text, line, column) {
  let at = 0;
  for (let n = 1; n < line; n++) {
    const end = text.indexOf('\n', at);
    if (end < 0) return text.length;
    at = end + 1;
  }
  const end = text.indexOf('\n', at);
  const row = [...text.slice(at, end < 0 ? text.length : end)];
  return at + row.slice(0, Math.max(0, column - 1)).join('').length;
}

/**
 * The numbers of a text's lines, those with errors marked.
 * @param {string} text
 * @param {Set<number>} marked
 */
export function numbers(text, marked) {
  const n = text.split('\n').length;
  return Array.from({ length: n }, (_, i) => (marked.has(i + 1) ? '× ' : '') + (i + 1)).join('\n');
}

/**
 * @param {{name: string, text: string, errors: ConfigProblem[], goto: {line: number, column: number} | null, went: () => void,
 * change: (text: string) => void}} props
 * goto: puts the cursor to another place, which went is told
 */
export function Editor({ name, text, errors, goto, went, change }) {
  const area = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const lines = useRef(/** @type {HTMLPreElement | null} */ (null));
  const follow = () => {
    if (lines.current && area.current) lines.current.scrollTop = area.current.scrollTop;
  };
  useLayoutEffect(follow, [text, errors]);
  useEffect(() => {
    const a = area.current;
    if (!a || !goto) return;
    const at = indexOf(a.value, goto.line, goto.column);
    a.focus();
    a.setSelectionRange(at, at);
    a.scrollTop = (goto.line - 5) * parseFloat(getComputedStyle(a).lineHeight);
    follow();
    went();
  }, [goto]);
  const windows = /^.*\r\n/.test(text); // as the first line ends all do then: a text area knows one end of a line
  return html`<div class="editor">
    <pre class="lines" aria-hidden="true" ref=${lines}>${numbers(text, new Set(errors.map((e) => e.line)))}</pre>
    <textarea id="text" ref=${area} value=${text} spellcheck=${false} autocapitalize="none" autocomplete="off" wrap="off"
      aria-label=${`Text of ${name}`} aria-invalid=${errors.length > 0 ? 'true' : null} aria-describedby="checked"
      onScroll=${follow}
      onInput=${(/** @type {any} */ e) => change(windows ? e.target.value.replaceAll('\n', '\r\n') : e.target.value)}></textarea>
  </div>`;
}
