// The singletons behind a Result: drawn, and as a table.
import { html } from '../html.js';
import { format, plural, scaleOf, short } from '../format.js';

const most = 500; // rows of a table
const fine = 2000; // marks of a drawing, which is 1000 wide

/**
 * As many points as can be told apart: of neighbours the one that took longest, or was lost. Pure.
 * @template {{x: number, y: number | null}} P @param {P[]} points
 */
export function thinned(points) {
  const each = Math.ceil(points.length / fine);
  return Array.from({ length: Math.ceil(points.length / each) }, (_, i) =>
    points.slice(i * each, (i + 1) * each).reduce((a, b) => (a.y === null || (b.y !== null && a.y >= b.y) ? a : b)));
}

/**
 * A drawing of values over time, from 0, as wide as there is room: at once, or on its way to an end. What has no value is lost.
 * @param {{points: {x: number, y: number | null, width?: number}[], unit: string, text: string, form?: 'stems' | 'line' | 'dots' | 'bars', until?: number}} props
 * width: of what y is the value of, in seconds before x: a line has steps there
 */
export function Drawing({ points: all, unit, text, form = 'stems', until = 0 }) {
  const points = form === 'stems' || form === 'dots' ? thinned(all) : all;
  const high = points.reduce((most, p) => Math.max(most, p.y ?? 0), 0) * 1.1 || 1;
  const end = points.reduce((last, p) => Math.max(last, p.x), until || 1e-9);
  const [factor, name] = scaleOf(high, unit);
  /** @param {number} v */
  const x = (v) => ((v / end) * 980 + 10).toFixed(1);
  /** @param {number} v */
  const y = (v) => (195 - (v / high) * 185).toFixed(1);
  const values = /** @type {{x: number, y: number, width?: number}[]} */ (points.filter((p) => p.y !== null));
  const one = {
    stems: (/** @type {any} */ p) => html`<path class="stem" d=${`M${x(p.x)} 195V${y(p.y)}`} />`,
    dots: (/** @type {any} */ p) => html`<path class="point" d=${`M${x(p.x)} ${y(p.y)}h.01`} />`,
    bars: (/** @type {any} */ p) => html`<path class="bar" d=${`M${x(p.x - p.width)} 195V${y(p.y)}H${x(p.x - p.width * 0.06)}V195z`} />`,
    line: () => null,
  }[form];
  return html`<div class="drawing"><p class="quiet">0 to ${short(high, factor)} ${name || unit}, over ${format(end, 'seconds')}</p>
    <svg viewBox="0 0 1000 200" preserveAspectRatio="none" role="img" aria-label=${text}>
      <path class="axis" d="M10 195H990" />
      ${form === 'line' && html`<polyline points=${values.flatMap((p) => [p.x - (p.width ?? 0), p.x].map((at) => `${x(at)},${y(p.y)}`)).join(' ')} />`}
      ${values.map(one)}
      ${points.filter((p) => p.y === null).map((p) => html`<path class="lost" d=${`M${x(p.x)} 10V195`} />`)}
    </svg></div>`;
}

/** @param {{echoes: Echo[]}} props */
export function Echoes({ echoes }) {
  const lost = echoes.filter((e) => e.rtt_seconds === null).length;
  const text = `${plural(echoes.length, 'packet')}, ${lost} lost`;
  return html`<section aria-labelledby="echoes"><h2 id="echoes">Packets<small>: ${text}</small></h2>
    <${Drawing} points=${echoes.map((e) => ({ x: e.sent_seconds, y: e.rtt_seconds }))} unit="seconds" text=${text} />
    <details><summary>As a table</summary><table><thead><tr><th scope="col">No.</th><th scope="col" class="num">Sent after</th><th scope="col" class="num">Round trip</th><th scope="col">Remark</th></tr></thead>
      <tbody>${echoes.slice(0, most).map((e) => html`<tr><th scope="row">${e.seq}</th><td class="num">${format(e.sent_seconds, 'seconds')}</td>
        <td class="num">${e.rtt_seconds === null ? html`<span class="is-failed">lost</span>` : format(e.rtt_seconds, 'seconds')}</td><td>${[e.from, e.error].filter(Boolean).join(' ')}</td></tr>`)}</tbody></table>
      ${echoes.length > most && html`<p class="quiet">The first ${most}; the JSON has all.</p>`}</details></section>`;
}

const settled = 0.4; // of a test, from its start: slow start and the first losses are over, as diagnoses take it

/**
 * The rate of the whole of a test and of its steady part, by what was moved in each interval; null: no interval lies in it. Pure.
 * @param {Interval[]} intervals of one end, in order
 */
export function ratesOf(intervals) {
  const end = intervals.reduce((last, i) => Math.max(last, i.end_seconds), 0);
  const rate = (/** @type {Interval[]} */ of) => {
    const seconds = of.reduce((n, i) => n + i.end_seconds - i.start_seconds, 0);
    return seconds > 0 ? of.reduce((n, i) => n + i.bits_per_second * (i.end_seconds - i.start_seconds), 0) / seconds : null;
  };
  return { whole: rate(intervals), steady: rate(intervals.filter((i) => i.start_seconds >= settled * end - 1e-9)) };
}

/** @param {{intervals: Interval[]}} props */
export function Intervals({ intervals }) {
  const ends = [...new Set(intervals.map((i) => `${i.direction}, counted by the ${i.end}`))];
  return html`<section aria-labelledby="intervals"><h2 id="intervals">Rate over time</h2>
    ${ends.map((end) => {
      const of = intervals.filter((i) => `${i.direction}, counted by the ${i.end}` === end);
      const all = of.some((i) => i.stream === 0) ? of.filter((i) => i.stream === 0) : of;
      const { whole, steady } = ratesOf(all);
      return html`<h3>${end}: whole test ${format(whole, 'bits_per_second')}${steady !== null && `, steady part ${format(steady, 'bits_per_second')} (without its first 40 %)`}</h3><${Drawing} form="line" unit="bits_per_second" text=${`Rate ${end}`}
        points=${all.map((i) => ({ x: i.end_seconds, y: i.bits_per_second, width: i.end_seconds - i.start_seconds }))} />`;
    })}
    <details><summary>As a table</summary><table><thead><tr><th scope="col">Until</th><th scope="col">Direction</th><th scope="col">End</th><th scope="col" class="num">Stream</th><th scope="col" class="num">Rate</th><th scope="col" class="num">Sent again</th></tr></thead>
      <tbody>${intervals.slice(0, most).map((i) => html`<tr><th scope="row">${format(i.end_seconds, 'seconds')}</th><td>${i.direction}</td><td>${i.end}</td><td class="num">${i.stream || 'all'}</td>
        <td class="num">${format(i.bits_per_second, 'bits_per_second')}</td><td class="num">${i.retransmits_packets ?? ''}</td></tr>`)}</tbody></table></details></section>`;
}
