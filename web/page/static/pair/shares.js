// The distribution of values: from quantiles of the whole span, which are exact to 1 %, to the share of each of equal intervals.
import { html } from '../html.js';
import { format, inText, plural, short, scaleOf, unitOf } from '../format.js';
import { useDocs } from '../docs.js';
import { Failure } from '../state.js';
import { waysOf, wayText } from './compare.js';
import { seriesUrl } from './graphs.js';

const asked = Array.from({ length: 51 }, (_, i) => i / 50);
const bars = 40;

/**
 * Shares of equal intervals. Between two quantiles values are taken to lie evenly. Pure.
 * @param {number[]} qs values at asked
 * @param {number} low
 * @param {number} high
 */
export function sharesOf(qs, low, high) {
  const out = new Array(bars).fill(0);
  const width = (high - low) / bars || 1;
  for (let i = 0; i + 1 < qs.length; i++) {
    const [a, b] = [qs[i], qs[i + 1]];
    for (let k = Math.max(0, Math.floor((a - low) / width)); k < bars; k++) {
      const [from, to] = [low + k * width, low + (k + 1) * width];
      if (from > b) break;
      const part = b > a ? (Math.min(b, to) - Math.max(a, from)) / (b - a) : a < to || k === bars - 1 ? 1 : 0;
      out[k] += Math.max(0, part) / (qs.length - 1);
      if (b <= a && part) break;
    }
  }
  return out;
}

/** Whether its quantiles are of samples, such as packets, and not of runs. @param {Bucket} b */
const ofSamples = (b) => b.quantiles_of === 'samples';

/** @param {{metric: string, label: string, pair: [string, string], of: {tool: string, test: string}, range: import('./range.js').Range, turn: number | null}} props */
export function Shares({ metric, label, pair, of, range, turn }) {
  const ways = waysOf(pair);
  const { doc, error, reload } = useDocs(ways.map((w) => seriesUrl(w, metric, of, { ...range, step: 0 }, asked)), turn);
  if (error) return html`<${Failure} error=${error} what=${`The distribution of ${inText(label)}`} retry=${reload} />`;
  if (!doc) return null;
  const unit = unitOf(metric);
  /** @type {(Bucket | undefined)[]} */
  const all = doc.map((d) => d?.buckets[0]);
  const some = all.filter((b) => b !== undefined);
  if (!some.length) return null;
  const low = Math.min(...some.map((b) => b.quantiles?.[0] ?? b.min));
  const high = Math.max(...some.map((b) => b.quantiles?.[49] ?? b.max)); // the last 2 % would leave no room for the rest
  const [factor, name] = scaleOf(high, unit);
  const what = some.some(ofSamples) ? label.split(',')[0] : label; // the samples are those of the median and of all percentiles
  return html`<section class="shares-part" aria-labelledby="shares"><h2 id="shares">Distribution of ${inText(what)}<small>, ${name || unit}</small></h2>
    <div class="ways">${all.map((b, i) => html`<figure key=${i}><figcaption>${wayText(ways[i])}</figcaption>
      ${b ? html`<${Bars} b=${b} low=${low} high=${high} factor=${factor} unit=${unit} />` : html`<p class="quiet">No value in this span.</p>`}</figure>`)}</div>
  </section>`;
}

/** @param {{b: Bucket, low: number, high: number, factor: number, unit: string}} props */
function Bars({ b, low, high, factor, unit }) {
  const shares = sharesOf(b.quantiles ?? [], low, high);
  const most = Math.max(...shares);
  const q = b.quantiles ?? [];
  const text = `${plural(ofSamples(b) ? b.samples ?? 0 : b.count, 'value')}: median ${format(q[25], unit)}, 90 % within ${format((q[2] + q[3]) / 2, unit)} and ${format((q[47] + q[48]) / 2, unit)}, minimum ${format(q[0], unit)}, maximum ${format(q[50], unit)}`;
  return html`<svg class="bars" viewBox="0 0 400 100" preserveAspectRatio="none" role="img" aria-label=${text}>
      ${shares.map((s, k) => html`<rect x=${k * 10 + 0.5} width="9" y=${100 - (s / most) * 96} height=${(s / most) * 96} />`)}
    </svg>
    <p class="scale" aria-hidden="true"><span>${short(low, factor)}</span><span>${short((low + high) / 2, factor)}</span><span>${short(high, factor)}</span></p>
    <p class="quiet">${text}</p>`;
}
