// One row of graphs: the same metric there and back, on one scale, so that the directions can be compared by eye.
import { html, useMemo } from '../html.js';
import { url } from '../api.js';
import { useDocs } from '../docs.js';
import { change } from '../router.js';
import { parseLength, rfc } from '../times.js';
import { scaleOf, unitOf } from '../format.js';
import { Failure, Loading } from '../state.js';
import { Plot } from './plot.js';
import { pictureOf, quantiles, toolsOf } from './rows.js';

/** @typedef {import('./range.js').Range} Range */
/**
 * What is compared with: an earlier time, or another pair; null: nothing.
 * @typedef {{earlier: number, pair: [string, string] | null, name: string} | null} Compared
 */

/**
 * @param {string | null} text of the URL: -7d, reverse, or a pair a/b
 * @returns {Compared}
 */
export function comparedOf(text) {
  if (!text) return null;
  const earlier = text.startsWith('-') ? parseLength(text.slice(1)) : null;
  if (earlier) return { earlier, pair: null, name: `${text.slice(1)} before` };
  const [a, b] = text.split('/');
  return a && b ? { earlier: 0, pair: [a, b], name: `${a} → ${b}` } : null;
}

/**
 * The URL of a series.
 * @param {[string, string]} pair
 * @param {string} metric
 * @param {{tool: string, test: string}} of
 * @param {{from: number, to: number, step: number}} range step 0: all in one bucket
 * @param {number[]} wanted quantiles
 */
export const seriesUrl = ([source, target], metric, of, range, wanted) =>
  url(['pairs', source, target, 'series'], {
    metric, tool: of.tool, test: of.test, from: rfc(range.from), to: rfc(range.to), step: range.step ? range.step + 'ms' : '', quantiles: wanted.join(','),
  });

/**
 * @param {{row: import('./rows.js').Row, pair: [string, string], keys: Key[][], of: {tool: string, test: string}, range: Range,
 *   compared: Compared, zoom: (from: number, to: number) => void, press: (e: KeyboardEvent, at: number) => void, turn: number}} props
 * keys: of the way there and of the way back
 */
export function Graphs({ row, pair, keys, of, range, compared, zoom, press, turn }) {
  const tools = toolsOf(keys.flat(), row.metrics[0]);
  const tool = tools.includes(of.tool) ? of.tool : tools[0] ?? '';
  const chosen = { tool, test: of.test };
  /** @type {[string, string][]} */
  const ways = [pair, [pair[1], pair[0]]];
  const there = new Set(keys.flat().filter((k) => k.tool === tool).map((k) => k.metric));
  const paths = ways.flatMap((w, i) => row.metrics.map((m) => (keys[i].length && there.has(m) ? seriesUrl(w, m, chosen, range, quantiles) : null)));
  const before = compared && { ...range, from: range.from - compared.earlier, to: range.to - compared.earlier };
  const others = ways.map((w, i) => {
    if (!before) return null;
    const [a, b] = compared?.pair ?? w;
    return seriesUrl(i === 0 || !compared?.pair ? [a, b] : [b, a], row.metrics[0], chosen, before, quantiles);
  });
  const { doc, error, busy, reload } = useDocs([...paths, ...others], turn);
  const drawn = useDrawn(range, busy); // axes stay with their data until the next data is there
  const pictures = useMemo(() => doc && ways.map((_, i) => {
    const docs = doc.slice(i * row.metrics.length, (i + 1) * row.metrics.length);
    const other = doc[2 * row.metrics.length + i];
    return pictureOf(row, docs, compared && other ? { doc: other, later: compared.earlier / 1e3, name: compared.name } : null);
  }), [doc, row.id]);
  if (pictures) share(pictures);
  const unit = unitOf(row.metrics[0]);
  const scale = pictures ? scaleOf(pictures[0].y[1], unit)[1] : '';
  return html`<section class=${'row' + (busy ? ' busy' : '')} aria-labelledby=${'row-' + row.id} aria-busy=${String(busy)}>
    <h2 id=${'row-' + row.id}>${row.title}${scale && html`<small>, ${scale}</small>`}
      ${tools.length > 1
        ? html` <label><span class="hidden">Tool</span> <select value=${tool} onChange=${(/** @type {any} */ e) => change({ tool: e.target.value })}>
            ${tools.map((t) => html`<option>${t}</option>`)}</select></label>`
        : html` <small class="quiet">by ${tool}</small>`}</h2>
    ${error && html`<${Failure} error=${error} what=${row.title} retry=${reload} />`}
    ${!pictures && !error && html`<${Loading} of=${row.title.toLowerCase()} />`}
    ${pictures && html`<div class="ways">${pictures.map((p, i) => html`<figure key=${i}>
      <figcaption>${ways[i][0]} → ${ways[i][1]}</figcaption>
      <${Plot} picture=${p} range=${drawn} name=${`${row.title}, ${ways[i][0]} to ${ways[i][1]}`} zoom=${zoom} keys=${press} high=${row.high} />
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
