// One row of graphs: the same metric there and back, on one scale, so that the directions can be compared by eye.
import { html, useEffect, useMemo, useRef } from '../html.js';
import { url } from '../api.js';
import { useDocs } from '../docs.js';
import { change } from '../router.js';
import { rfc } from '../times.js';
import { scaleOf, unitOf } from '../format.js';
import { Failure, Loading } from '../state.js';
import { pairOf, turned } from './compare.js';
import { Plot } from './plot.js';
import { pictureOf, quantiles, toolsOf } from './rows.js';

/** @typedef {import('./range.js').Range} Range */
/** @typedef {import('./compare.js').Compared} Compared */

/** A name as a pattern that matches it alone, where the API takes patterns. @param {string} name */
export const exactly = (name) => name.replace(/[\\*?[]/g, '\\$&');

/**
 * The URL of a series.
 * @param {[string, string]} pair
 * @param {string} metric
 * @param {{tool: string, test: string}} of
 * @param {{from: number, to: number, step: number}} range step 0: all in one bucket
 * @param {number[]} wanted quantiles
 * @param {boolean} [gaps] with the reasons of gaps, which cost more than the values
 */
export const seriesUrl = ([source, target], metric, of, range, wanted, gaps = false) =>
  url(['pairs', source, target, 'series'], {
    metric, tool: of.tool, test: of.test, from: rfc(range.from), to: rfc(range.to), step: range.step ? range.step + 'ms' : '', quantiles: wanted.join(','), gaps: gaps ? '' : 'false',
  });

/**
 * @param {{row: import('./rows.js').Row, pair: [string, string], keys: Key[][], of: {tool: string, test: string}, range: Range,
 *   compared: Compared, zoom: (from: number, to: number) => void, press: (e: KeyboardEvent, at: number) => void, turn: number,
 *   changes: import('./happened.js').Change[], waits: boolean, drew: (id: string, range: Range) => void}} props
 * keys: of the way there and of the way back; waits: the range is not yet the one that is wanted; drew: it stands, or never will
 */
export function Graphs({ row, pair, keys, of, range, compared, zoom, press, turn, changes, waits, drew }) {
  const tools = toolsOf(keys.flat(), row.metrics[0]);
  const tool = tools.includes(of.tool) ? of.tool : tools[0] ?? '';
  const chosen = { tool, test: of.test };
  const ways = [pair, turned(pair)];
  const there = new Set(keys.flat().filter((k) => k.tool === tool).map((k) => k.metric));
  /** @param {string[]} metrics one way after the other */
  const series = (metrics) => ways.flatMap((w, i) => metrics.map((m) => (keys[i].length && there.has(m) ? seriesUrl(w, m, chosen, range, quantiles, m === row.metrics[0]) : null)));
  const others = ways.map((w, i) => {
    if (!compared || (compared.tool && !tools.includes(compared.tool))) return null;
    const before = { ...range, from: range.from - compared.earlier, to: range.to - compared.earlier };
    const by = compared.tool ? { tool: compared.tool, test: '' } : compared.test ? { tool: '', test: compared.test } : chosen;
    return seriesUrl(pairOf(compared, w, i === 1), row.metrics[0], by, before, quantiles);
  });
  // The first time, what the row is about is asked for and drawn alone, and its shades follow. Later both come at once.
  const kept = useRef(/** @type {any[][] | null} */ (null));
  const main = useDocs([...series(row.metrics.slice(0, 1)), ...others], turn);
  const more = useDocs(main.busy && !kept.current ? [] : series(row.metrics.slice(1)), turn);
  const busy = main.busy || more.busy;
  const error = main.error ?? more.error;
  const drawn = useDrawn(range, busy); // axes stay with their data until the next data is there
  if (!busy && !error && main.doc && more.doc) kept.current = [main.doc, more.doc];
  const [docs, shades] = kept.current ?? [main.busy ? null : main.doc, null];
  const pictures = useMemo(() => docs && ways.map((_, i) => {
    const n = row.metrics.length - 1;
    const other = docs[2 + i];
    const beside = compared && other ? { doc: other, later: compared.earlier / 1e3, name: compared.name } : null;
    return pictureOf(row, [docs[i], ...(shades ?? []).slice(i * n, (i + 1) * n)], beside);
  }), [docs, shades, row.id, compared?.name]);
  if (pictures) share(pictures);
  const marks = useMemo(() => ways.map((_, i) => changes.filter((c) => c.way === null || c.way === i)), [changes]);
  useEffect(() => {
    if (!busy) drew(row.id, range);
  }, [busy, range]);
  const unit = unitOf(row.metrics[0]);
  const scale = pictures ? scaleOf(pictures[0].y[1], unit)[1] : '';
  return html`<section class=${'row' + (busy || waits ? ' busy' : '')} aria-labelledby=${'row-' + row.id} aria-busy=${String(busy || waits)}>
    <h2 id=${'row-' + row.id}>${row.title}${scale && html`<small>, ${scale}</small>`}
      ${tools.length > 1
        ? html` <label><span class="hidden">Tool</span> <select value=${tool} onChange=${(/** @type {any} */ e) => change({ tool: e.target.value })}>
            ${tools.map((t) => html`<option>${t}</option>`)}</select></label>`
        : html` <small class="quiet">by ${tool}</small>`}</h2>
    ${error && html`<${Failure} error=${error} what=${row.title} retry=${() => [main, more].forEach((d) => d.reload())} />`}
    ${!pictures && !error && html`<${Loading} of=${row.title.toLowerCase()} />`}
    ${pictures && html`<div class="ways">${pictures.map((p, i) => html`<figure key=${i}>
      <figcaption>${ways[i][0]} → ${ways[i][1]}</figcaption>
      <${Plot} picture=${p} range=${drawn} name=${`${row.title}, ${ways[i][0]} to ${ways[i][1]}`} zoom=${zoom} keys=${press} changes=${marks[i]} pair=${pair} high=${row.high} />
    </figure>`)}</div>`}
  </section>`;
}

/** @type {{range: Range | null}} */
const nothing = { range: null };

/** @param {Range} range @param {boolean} busy */
function useDrawn(range, busy) {
  const kept = useMemo(() => ({ ...nothing }), []);
  if (!busy || !kept.range) kept.range = range;
  return kept.range;
}

/** Gives both directions one scale. @param {import('./plot.js').Picture[]} pictures */
function share(pictures) {
  const some = pictures.filter((p) => p.columns[0].some((v) => v !== null));
  const y = /** @type {[number, number]} */ ([Math.min(...some.map((p) => p.y[0]), Infinity), Math.max(...some.map((p) => p.y[1]), 0)]);
  if (!(y[0] < y[1])) [y[0], y[1]] = [0, pictures[0].unit === 'ratio' ? 0.01 : 1]; // nothing, or nothing but zeros
  for (const p of pictures) p.y = y;
}
