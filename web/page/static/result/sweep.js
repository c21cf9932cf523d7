// A sweep: a metric at several values of one parameter or two, drawn and as a table.
import { html } from '../html.js';
import { format, plural } from '../format.js';
import { Drawing } from '../calc/drawing.js';

/** @param {{name: string, unit?: string}} parameter @param {number | string} v */
const say = (parameter, v) => (typeof v === 'number' ? format(v, parameter.unit ?? '') : v);

/**
 * The drawings of a sweep: the means over the last parameter that has numbers, one for each value of the other. None, where
 * both have words. Pure.
 * @param {Sweep} sweep
 * @returns {CalcDrawing[]}
 */
export function drawingsOf(sweep) {
  const over = sweep.parameters.map((p) => Boolean(p.unit)).lastIndexOf(true);
  if (over < 0) return [];
  const [x, other] = [sweep.parameters[over], sweep.parameters[1 - over]];
  /** @type {Map<string, SweepPoint[]>} */
  const groups = new Map();
  for (const p of sweep.points.filter((p) => p.n > 0)) {
    const name = other ? ` with ${other.name} ${say(other, p.values[1 - over])}` : '';
    groups.set(name, [...(groups.get(name) ?? []), p]);
  }
  return [...groups].map(([name, points]) => {
    const means = points.map((p) => /** @type {[number, number]} */ ([Number(p.values[over]), p.mean]));
    means.sort((a, b) => a[0] - b[0]); // they are in the order that they were asked for in
    return {
      title: `Throughput over ${x.name}${name}`, x: { label: x.name, unit: x.unit ?? '', log: true }, y: { label: 'throughput', unit: sweep.unit, log: false },
      mark: means.reduce((a, b) => (b[1] > a[1] ? b : a)), series: [{ label: 'mean', points: means }],
    };
  });
}

const ends = { narrow: 'every point that could be measured is known as narrowly as was asked for', budget: 'its time was spent', failed: 'nothing could be measured', broken: 'it was ended' };

/** @param {{sweep: Sweep}} props */
export function SweepOf({ sweep }) {
  const windows = sweep.points.some((p) => p.window);
  const lossy = sweep.points.some((p) => p.metrics?.loss_ratio !== undefined);
  return html`<section aria-labelledby="sweep"><h2 id="sweep">Sweep<small>: ${plural(sweep.order.length, 'run')} in random order, until ${ends[sweep.ended] ?? sweep.ended}</small></h2>
    ${drawingsOf(sweep).map((d) => html`<${Drawing} drawing=${d} marked="the highest" />`)}
    <div class="scroll" tabindex="0" role="region" aria-label="Points of the sweep"><table>
      <thead><tr>${sweep.parameters.map((p) => html`<th scope="col">${p.name}</th>`)}${windows && html`<th scope="col" class="num">Usable window</th><th scope="col" class="num">Allows</th>`}
        <th scope="col" class="num">Runs</th><th scope="col" class="num">Mean</th><th scope="col" class="num">95 % interval</th>${lossy && html`<th scope="col" class="num">Lost</th>`}<th scope="col">Remark</th></tr></thead>
      <tbody>${sweep.points.map((p) => html`<tr>${p.values.map((v, i) => html`<td>${say(sweep.parameters[i], v)}</td>`)}
        ${windows && html`<td class="num">${format(p.window?.usable_bytes, 'bytes')}</td><td class="num">${format(p.window?.allows_bits_per_second, 'bits_per_second')}</td>`}
        <td class="num">${p.n}</td><td class="num">${p.n ? format(p.mean, sweep.unit) : ''}</td><td class="num">${p.n ? `${format(p.low, sweep.unit)} to ${format(p.high, sweep.unit)}` : ''}</td>
        ${lossy && html`<td class="num">${format(p.metrics?.loss_ratio, 'ratio')}</td>`}<td>${p.failure ?? (p.narrow ? '' : 'not known narrowly')}</td></tr>`)}</tbody></table></div></section>`;
}
