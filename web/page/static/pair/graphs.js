// One row of graphs: the same metric there and back, on one scale, so that the directions can be compared by eye.
import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { url } from '../api.js';
import { useDocs } from '../docs.js';
import { change } from '../router.js';
import { rfc } from '../times.js';
import { inText, scaleOf, unitOf } from '../format.js';
import { definitionOf } from '../metrics.js';
import { Failure, Loading } from '../state.js';
import { within } from './columns.js';
import { pairOf, waysOf, wayText } from './compare.js';
import { Plot } from './plot.js';
import { besides, isGenerated, isOf, pictureOf, planned, quantiles, toolsOf } from './rows.js';
import { oneSeries } from './seams.js';

/** @typedef {import('./range.js').Range} Range */
/** @typedef {import('./compare.js').Compared} Compared */

const mostTools = 3; // whose values one graph has: each costs a question
// leastGap is the part of its span below which a gap is not told of: a pixel or two.
const leastGap = 400;

/**
 * The URL of a series.
 * @param {[string, string]} pair
 * @param {string} metric
 * @param {{tool: string, test: string}} of
 * @param {{from: number, to: number, step: number}} range step 0: all in one bucket
 * @param {number[]} wanted quantiles
 * @param {{gaps?: boolean, role?: string, weights?: boolean}} [how] gaps: with their reasons, which cost more than the values; role: why it was
 *   measured; weights: what each value counts for beside the others
 */
export const seriesUrl = ([source, target], metric, of, range, wanted, { gaps = false, role = '', weights = false } = {}) =>
  url(['pairs', source, target, 'series'], {
    metric, tool: of.tool, test: of.test, role, from: rfc(range.from), to: rfc(range.to), step: range.step ? range.step + 'ms' : '', quantiles: wanted.join(','), gaps: gaps ? '' : 'false', weights: weights ? 'true' : '',
    least_gap: gaps ? Math.round((range.to - range.from) / leastGap) + 'ms' : '',
  });

/**
 * @param {{row: import('./rows.js').Row, pair: [string, string], keys: Key[][], measured: Measured[], of: {tool: string, test: string}, range: Range,
 *   compared: Compared, whole: boolean, generated?: string, zoom: (from: number, to: number) => void, press: (e: KeyboardEvent, at: number) => void, turn: number | null,
 *   changes: import('./happened.js').Change[], drew: (id: string, range: Range) => void}} props
 * keys: of the way there and of the way back; measured: how often each tool ran; whole: what is not of the plan is shown, too; generated: until when nobody measured; turn: null while the range is not yet the one that is wanted; drew: it stands, or never will
 */
export function Graphs({ row, pair, keys, measured, of, range, compared, whole, generated, zoom, press, turn, changes, drew }) {
  const tools = toolsOf(keys.flat().filter(planned), row.metrics[0], measured);
  const tool = tools.includes(of.tool) ? of.tool : tools[0] ?? '';
  const chosen = { tool, test: of.test };
  const ways = waysOf(pair);
  const there = new Set(keys.flat().filter((k) => k.tool === tool && planned(k)).map((k) => k.metric));
  // Where the same tool measured it the other way, all may have been lost this way.
  /** @param {number} i @param {string} m */
  const has = (i, m) => there.has(m) && keys[i].some((k) => k.tool === tool && planned(k));
  /** @param {string[]} metrics one way after the other */
  const series = (metrics) => ways.flatMap((w, i) => metrics.map((m) => (has(i, m) ? seriesUrl(w, m, chosen, range, quantiles, { weights: Boolean(definitionOf(m)?.of) }) : null)));
  const gaps = ways.map((w, i) => (has(i, row.metrics[0]) ? seriesUrl(w, row.metrics[0], chosen, { ...range, step: 0 }, [0.5], { gaps: true }) : null));
  // Where nobody chose a tool, others tell of the times of which the one that is shown knows nothing.
  const fillers = of.tool || of.test ? [] : tools.slice(1, mostTools);
  const fills = ways.flatMap((w, i) => fillers.map((t) => (keys[i].some((k) => k.tool === t && planned(k) && k.metric === row.metrics[0])
    ? seriesUrl(w, row.metrics[0], { tool: t, test: '' }, range, quantiles) : null)));
  const points = ways.flatMap((w, i) => besides.filter(([role]) => whole && keys[i].some((k) => k.metric === row.metrics[0] && isOf(k.role, role)))
    .map(([role, name]) => ({ i, name, path: seriesUrl(w, row.metrics[0], { tool: '', test: '' }, range, quantiles, { role }) })));
  const others = ways.map((w, i) => {
    if (!compared || (compared.tool && !tools.includes(compared.tool))) return null;
    const before = { ...range, from: range.from - compared.earlier, to: range.to - compared.earlier };
    const by = compared.tool ? { tool: compared.tool, test: '' } : compared.test ? { tool: '', test: compared.test } : chosen;
    return seriesUrl(pairOf(compared, w, i === 1), row.metrics[0], by, before, quantiles);
  });
  // What the row is about is asked for and drawn alone; its shades and its gaps, which cost more, follow. Until they come, those
  // that were there serve: gaps wherever they lie in the range, shades where the steps are the same.
  const main = useDocs([...series(row.metrics.slice(0, 1)), ...others, ...points.map((p) => p.path)], turn);
  const [painted, paint] = useState('');
  useEffect(() => paint(main.of), [main.of]); // after the frame that shows it
  const more = useDocs([...series(row.metrics.slice(1)), ...gaps, ...fills], main.busy || painted !== main.of ? null : turn);
  const busy = main.busy || more.busy || turn === null;
  const error = main.error ?? more.error;
  const drawn = useDrawn(range, main.busy); // axes stay with their data until the next data is there
  const by = JSON.stringify([chosen, fillers]);
  const kept = useRef({ by, docs: /** @type {any[] | null} */ (null) });
  if (!busy && !error && more.doc) kept.current = { by, docs: more.doc };
  const docs = main.doc;
  const shades = kept.current.by === by ? kept.current.docs : null;
  const pictures = useMemo(() => docs && ways.map((_, i) => {
    const n = row.metrics.length - 1;
    const other = docs[ways.length + i];
    const beside = compared && other ? { doc: other, later: compared.earlier / 1e3, name: compared.name } : null;
    const filled = ways.length * (n + 1) + fillers.length * i;
    const { doc: one, seams } = oneSeries([{ tool, doc: docs[i] }, ...fillers.map((t, k) => ({ tool: t, doc: shades?.[filled + k] }))], (t) => isGenerated(keys[i].filter(planned), t));
    const doc = one && { ...one, gaps: within(shades?.[ways.length * n + i]?.gaps, drawn) };
    return pictureOf(row, [doc, ...(shades ?? []).slice(i * n, (i + 1) * n).map((s) => (s?.step_seconds === doc?.step_seconds ? s : null))], beside,
      docs.length === 2 * ways.length + points.length // else they are of other points
        ? points.flatMap((p, k) => (p.i === i ? [{ doc: docs[2 * ways.length + k], name: p.name }] : [])) : [],
      generated ? [...seams, { at: Date.parse(generated) / 1e3, tool: 'generated until here' }] : seams);
  }), [docs, shades, drawn.from, drawn.to, row.id, compared?.name, generated]);
  if (pictures) share(pictures);
  const marks = useMemo(() => ways.map((_, i) => changes.filter((c) => c.way === null || c.way === i)), [changes]);
  useEffect(() => {
    if (!busy) drew(row.id, range);
  }, [busy, range]);
  const unit = unitOf(row.metrics[0]);
  const scale = pictures ? scaleOf(pictures[0].y[1], unit)[1] : '';
  return html`<section class=${'row' + (busy ? ' busy' : '')} aria-labelledby=${'row-' + row.id} aria-busy=${String(busy)}>
    <h2 id=${'row-' + row.id}>${row.title}${scale && html`<small>, ${scale}</small>`}
      ${tools.length > 1
        ? html` <label><span class="hidden">Tool</span> <select value=${tool} onChange=${(/** @type {any} */ e) => change({ tool: e.target.value })}>
            ${tools.map((t) => html`<option>${t}</option>`)}</select></label>`
        : html` <small class="quiet">${tool ? `by ${tool}` : 'besides the plan'}</small>`}</h2>
    ${error && html`<${Failure} error=${error} what=${row.title} retry=${() => [main, more].forEach((d) => d.reload())} />`}
    ${!pictures && !error && html`<${Loading} of=${inText(row.title)} />`}
    ${pictures && html`<div class=${ways.length > 1 ? 'ways' : ''}>${pictures.map((p, i) => html`<figure key=${i}>
      ${ways.length > 1 && html`<figcaption>${wayText(ways[i])}</figcaption>`}
      <${Plot} picture=${p} range=${drawn} name=${ways.length > 1 ? `${row.title}, ${ways[i][0]} to ${ways[i][1]}` : row.title} zoom=${zoom} keys=${press} changes=${marks[i]} pair=${pair} high=${row.high} />
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
  const some = pictures.filter((p) => [p.columns[p.line], ...p.marks].some((c) => c.some((v) => v != null)));
  const y = /** @type {[number, number]} */ ([Math.min(...some.map((p) => p.y[0]), Infinity), Math.max(...some.map((p) => p.y[1]), 0)]);
  if (!(y[0] < y[1])) [y[0], y[1]] = [0, pictures[0].unit === 'ratio' ? 0.01 : 1]; // nothing, or nothing but zeros
  for (const p of pictures) p.y = y;
}
