// What hours and weekdays look like: a table shaded by value, over up to four weeks before the end of the span.
import { html, useMemo } from '../html.js';
import { format, short, scaleOf, unitOf } from '../format.js';
import { useDocs } from '../docs.js';
import { parts, zoneName } from '../times.js';
import { Failure } from '../state.js';
import { seriesUrl } from './graphs.js';
import { valueOf } from './rows.js';

const hour = 3600e3;
const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/**
 * For each hour of the week what it came to in each week, by the weight of each: of a loss, what was lost of all that was sent in that
 * hour of all weeks. 7 rows of 24.
 * @param {Bucket[]} buckets of an hour each
 * @param {(ms: number) => {weekday: string, hour: string}} clock
 * @returns {(number | null)[][]}
 */
export function profileOf(buckets, clock) {
  const sums = days.map(() => Array.from({ length: 24 }, () => [0, 0]));
  for (const b of buckets) {
    const { weekday, hour } = clock(Date.parse(b.start));
    const sum = sums[days.indexOf(weekday)]?.[Number(hour)];
    if (sum) {
      const weight = b.weight ?? 0;
      sum[0] += valueOf(b) * weight;
      sum[1] += weight;
    }
  }
  return sums.map((row) => row.map(([sum, n]) => (n ? sum / n : null)));
}

/** @param {{metric: string, label: string, pair: [string, string], of: {tool: string, test: string}, range: import('./range.js').Range, turn: number | null}} props */
export function Profile({ metric, label, pair, of, range, turn }) {
  const to = Math.ceil(range.to / hour) * hour;
  const { doc, error, reload } = useDocs([seriesUrl(pair, metric, of, { from: to - 28 * 24 * hour, to, step: hour }, [0.5], { weights: true })], turn);
  const zone = zoneName();
  /** @type {(number | null)[][] | null} */
  const table = useMemo(() => doc?.[0] && profileOf(doc[0].buckets, (ms) => /** @type {any} */ (parts(ms))), [doc, zone]);
  if (error) return html`<${Failure} error=${error} what="The profile by hour and weekday" retry=${reload} />`;
  if (!table) return null;
  const values = /** @type {number[]} */ (table.flat().filter((v) => v !== null)).sort((a, b) => a - b);
  if (!values.length) return null;
  const unit = unitOf(metric);
  const [low, high] = [values[0], values[values.length - 1]];
  const [factor, name] = scaleOf(values[values.length >> 1], unit);
  /** @param {number} v */
  const shade = (v) => ({ '--share': `${high > low ? Math.round((35 * (v - low)) / (high - low)) : 0}%` });
  return html`<section aria-labelledby="profile"><h2 id="profile">By hour and weekday<small>, ${name || unit}, ${zone}</small></h2>
    <p class="quiet">${label} ${pair[0] === pair[1] ? pair[0] : pair.join(' → ')}: what each hour came to in four weeks, each week by how much was measured in it: ${format(low, unit)} to ${format(high, unit)}; the stronger the shade, the higher.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="By hour and weekday"><table class="profile">
      <thead><tr><td></td>${table[0].map((_, h) => html`<th scope="col">${h}</th>`)}</tr></thead>
      <tbody>${table.map((row, d) => html`<tr><th scope="row">${days[d]}</th>${row.map((v) => v === null
        ? html`<td class="none"><span class="hidden">none</span></td>` : html`<td style=${shade(v)}>${short(v, factor)}</td>`)}</tr>`)}</tbody>
    </table></div></section>`;
}
