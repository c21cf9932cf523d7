// Any two metrics of the pair against each other: do they go together? One point for each step in which both have a value.
import { html, useMemo } from '../html.js';
import { useDocs } from '../docs.js';
import { format, plural, scaleOf, short, unitOf } from '../format.js';
import { labelOf } from '../metrics.js';
import { change } from '../router.js';
import { parseLength, span, stepOf, when } from '../times.js';
import { Failure, Loading } from '../state.js';
import { extent } from './columns.js';
import { turned, waysOf } from './compare.js';
import { seriesUrl } from './graphs.js';
import { inWords, joined, pearson, spearman } from './relation.js';
import { valueOf } from './rows.js';

/** @typedef {[string, string]} Pair */
/** One choice: metric by tool, there or back; id is what the URL says: back:metric@tool. @typedef {{id: string, metric: string, tool: string, back: boolean}} Axis */

const room = 200; // points that can still be told apart
const choices = ['5m', '15m', '1h', '6h', '1d'];

/**
 * All that the pair has, there and back. A tool is named where two measure the same.
 * @param {Key[][]} keys there, back
 * @returns {Axis[]}
 */
export function axesOf(keys) {
  const tools = (/** @type {string} */ m) => new Set(keys.flat().filter((k) => k.metric === m).map((k) => k.tool)).size;
  return keys.flatMap((some, i) => [...new Map(some.map((k) => {
    const id = (i ? 'back:' : '') + k.metric + (tools(k.metric) > 1 ? '@' + k.tool : '');
    return [id, { id, metric: k.metric, tool: k.tool, back: i === 1 }];
  })).values()].sort((a, b) => a.id.localeCompare(b.id)));
}

/** What is compared where nobody chose. @param {Axis[]} axes @param {string | null} x @param {string | null} y */
export function chosenOf(axes, x, y) {
  const find = (/** @type {(string | null)[]} */ ids) => ids.map((id) => axes.find((a) => a.id === id || a.metric === id)).find(Boolean);
  const a = find([x, 'rtt_median_seconds', 'owd_forward_median_seconds']) ?? axes[0];
  const others = axes.filter((o) => o !== a);
  const wanted = axes.find((o) => o.id === y) ?? others.find((o) => o.metric === y);
  return { x: a, y: wanted ?? others.find((o) => o.metric === 'throughput_bits_per_second') ?? others.find((o) => o.metric === 'loss_ratio') ?? others[0] ?? a };
}

/** @param {{pair: Pair, keys: Key[][], range: import('./range.js').Range, route: import('../router.js').Route, turn: number | null}} props */
export function Scatter({ pair, keys, range, route, turn }) {
  const axes = useMemo(() => axesOf(keys), [keys]);
  const { x, y } = chosenOf(axes, route.query.get('x'), route.query.get('y'));
  const every = route.query.get('every') ?? '';
  const step = Math.max(parseLength(every) ?? 0, every ? range.step : stepOf(range.to - range.from, room));
  const docs = useDocs([x, y].map((a) => seriesUrl(a.back ? turned(pair) : pair, a.metric, { tool: a.tool, test: '' }, { ...range, step }, [0.5])), turn);
  // Axes stay with their points until the next ones are there.
  const found = useMemo(() => docs.doc && { x, y, step, points: joined(docs.doc[0], docs.doc[1], valueOf, valueOf) }, [docs.doc]);
  /** @param {'x' | 'y'} name @param {Axis} a */
  const select = (name, a) => html`<label>${name === 'x' ? 'x axis' : 'y axis'} <select name=${name} value=${a.id} onChange=${(/** @type {any} */ e) => change({ [name]: e.target.value })}>
    ${[false, true].slice(0, waysOf(pair).length).map((back) => html`<optgroup label=${(back ? turned(pair) : pair).join(' → ')}>${axes.filter((o) => o.back === back).map((o) =>
      html`<option value=${o.id}>${labelOf(o.metric)}${o.id.includes('@') ? ` by ${o.tool}` : ''}</option>`)}</optgroup>`)}</select></label>`;
  return html`<section id="scatter-part" aria-labelledby="scatter" class=${docs.busy ? 'busy' : ''} aria-busy=${String(docs.busy)}><h2 id="scatter">Do two metrics go together?</h2>
    <div class="controls">${select('x', x)} ${select('y', y)}
      <label>In steps of <select name="every" value=${every} onChange=${(/** @type {any} */ e) => change({ every: e.target.value })}>
        <option value="">${span(stepOf(range.to - range.from, room))}, as fits</option>
        ${choices.filter((c) => Number(parseLength(c)) >= range.step).map((c) => html`<option value=${c}>${span(Number(parseLength(c)))}</option>`)}</select></label></div>
    ${docs.error && html`<${Failure} error=${docs.error} what="This comparison" retry=${docs.reload} />`}
    ${!found && !docs.error && html`<${Loading} of="both metrics" />`}
    ${found && html`<${Found} ...${found} pair=${pair} />`}
  </section>`;
}

/** @param {{points: import('./relation.js').Point[], x: Axis, y: Axis, pair: Pair, step: number}} props */
function Found({ points, x, y, pair, step }) {
  if (!points.length) return html`<p class="quiet">No step of ${span(step)} has a value of both: choose longer steps, or a longer span.</p>`;
  const [xs, ys] = [points.map((p) => p.x), points.map((p) => p.y)];
  const [r, rho] = [pearson(xs, ys), spearman(xs, ys)];
  const words = inWords(r, rho, points.length);
  const name = (/** @type {Axis} */ a) => `${labelOf(a.metric)} ${(a.back ? turned(pair) : pair).join(' → ')}`;
  const two = (/** @type {number | null} */ v) => (v === null ? 'none' : v.toFixed(2).replace('-', '−'));
  const [ux, uy] = [unitOf(x.metric), unitOf(y.metric)];
  const text = `${plural(points.length, 'point')} (n): Pearson’s r ${two(r)}, Spearman’s ρ ${two(rho)}: ${words}.`;
  return html`<p class="verdict">${text.charAt(0).toUpperCase() + text.slice(1)}</p>
    <${Drawing} points=${points} ux=${ux} uy=${uy} across=${name(x)} up=${name(y)} />
    <details><summary>These points as a table</summary><div class="scroll changes" tabindex="0" role="region" aria-label="Points"><table>
      <thead><tr><th scope="col">From</th><th scope="col" class="num">${name(x)}</th><th scope="col" class="num">${name(y)}</th></tr></thead>
      <tbody>${points.map((p) => html`<tr key=${p.at}><th scope="row">${when(p.at)}</th><td class="num">${format(p.x, ux)}</td>
        <td class="num">${format(p.y, uy)}</td></tr>`)}</tbody></table></div></details>`;
}

/** @param {{points: import('./relation.js').Point[], ux: string, uy: string, across: string, up: string}} props */
function Drawing({ points, ux, uy, across, up }) {
  const columns = [points.map((p) => p.x), points.map((p) => p.y)];
  const [[x0, x1], [y0, y1]] = columns.map((v) => extent([v], false)).map(([a, b]) => (a < b ? [a, b] : [0, 1]));
  const [[fx, nx], [fy, ny]] = [scaleOf(x1, ux), scaleOf(y1, uy)];
  const reach = (/** @type {number[]} */ v, /** @type {string} */ unit) => `${format(Math.min(...v), unit)} to ${format(Math.max(...v), unit)}`;
  const ticks = [0, 0.5, 1];
  return html`<figure class="scatter"><figcaption>y: ${up}${ny && `, ${ny}`}</figcaption>
    <svg viewBox="-8 -8 656 346" role="img" aria-label=${`${up} over ${across}: ${reach(columns[1], uy)} over ${reach(columns[0], ux)}`}>
      <path class="axis" d="M40 0V300H640" />
      ${ticks.map((t) => html`<text x="34" y=${304 - t * 300} text-anchor="end">${short(y0 + t * (y1 - y0), fy)}</text>
        <text x=${40 + t * 600} y="318" text-anchor=${t === 1 ? 'end' : 'middle'}>${short(x0 + t * (x1 - x0), fx)}</text>`)}
      ${points.map((p) => html`<circle r="3.5" cx=${40 + (600 * (p.x - x0)) / (x1 - x0)} cy=${300 - (300 * (p.y - y0)) / (y1 - y0)}>
        <title>${when(p.at)}: ${format(p.x, ux)}, ${format(p.y, uy)}</title></circle>`)}
    </svg><p class="scale"><span></span><span>x: ${across}${nx && `, ${nx}`}</span></p></figure>`;
}
