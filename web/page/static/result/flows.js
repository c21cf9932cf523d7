// Flows of a script: what became of each, drawn over the time of the script and as a table.
import { html, useState } from '../html.js';
import { format, plural } from '../format.js';
import { Drawing } from './samples.js';

const drawn = 4; // flows that are drawn at once; the others when somebody wants them

/**
 * What became of a flow in each interval of its time: its rate, the share that was lost, and the largest delay above its least one. No
 * loss where nothing was sent; null is the delay of packets that were all lost. Pure.
 * @param {Flow} f
 * @returns {{rate: Mark[], loss: Mark[], delay: Mark[]}}
 */
export function linesOf(f) {
  const lines = { rate: /** @type {Mark[]} */ ([]), loss: /** @type {Mark[]} */ ([]), delay: /** @type {Mark[]} */ ([]) };
  const over = f.arrived?.over_time;
  if (!over) return lines;
  const width = over.interval_seconds;
  over.sent_packets.forEach((sent, i) => {
    const [from, until] = [Math.max(f.start_seconds, i * width), Math.min(f.end_seconds, (i + 1) * width)];
    if (until - from < 1e-9) return;
    const at = { x: until, width: until - from };
    const lost = Math.max(0, sent - over.received_packets[i]);
    lines.rate.push({ ...at, y: (8 * over.received_bytes[i]) / at.width });
    lines.loss.push({ ...at, y: sent ? lost / sent : 0 });
    lines.delay.push({ ...at, y: over.delay_max_seconds[i] ?? (sent ? null : 0) });
  });
  return lines;
}

/** @param {{flow: Flow, until: number}} props until: when the script ends, in seconds */
function Over({ flow, until }) {
  const { rate, loss, delay } = linesOf(flow);
  if (rate.length < 2) return null;
  const figures = [['Rate', rate, 'bits_per_second', 'line'], ['Loss', loss, 'ratio', 'bars'], ['Delay above its minimum', delay, 'seconds', 'line']];
  return html`<h3>${flow.name}, ${flow.direction}</h3>${figures.map(([name, points, unit, form]) => html`<p class="quiet">${name}</p>
    <${Drawing} points=${points} unit=${unit} form=${form} until=${until} text=${`${name} of ${flow.name} over time`} />`)}`;
}

/** @param {{flows: Flow[]}} props */
export function Flows({ flows }) {
  const [open, set] = useState(false);
  const until = flows.reduce((last, f) => Math.max(last, f.end_seconds), 0);
  const rest = flows.slice(drawn);
  return html`<section aria-labelledby="flows"><h2 id="flows">Flows</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Flows"><table>
      <thead><tr><th scope="col">Flow</th><th scope="col">Direction</th>${['Sent', 'Unsent', 'Lost', 'Loss', 'In a row', 'Copies', 'Reordered', 'Rate', 'Variation, p95', 'Sent late, p95'].map((n) => html`<th scope="col" class="num">${n}</th>`)}</tr></thead>
      <tbody>${flows.map((f) => {
        const a = f.arrived;
        const of = a ? [a.lost_packets, f.sent_packets ? format(a.lost_packets / f.sent_packets, 'ratio') : '', a.loss_burst_max_packets, a.duplicate_packets, a.reordered_packets,
          format(a.throughput_bits_per_second, 'bits_per_second'), format(a.ipdv_p95_seconds, 'seconds')] : ['?', '?', '?', '?', '?', '?', '?'];
        return html`<tr><th scope="row">${f.name}</th><td>${f.direction}</td>
          ${[f.sent_packets, f.skipped_packets + f.refused_packets, ...of, format(f.late_p95_seconds, 'seconds')].map((v) => html`<td class="num">${v}</td>`)}</tr>`;
      })}</tbody></table></div>
    ${flows.slice(0, drawn).map((f) => html`<${Over} flow=${f} until=${until} />`)}
    ${rest.length > 0 && html`<details onToggle=${(/** @type {any} */ e) => set(e.target.open)}><summary>${plural(rest.length, 'further flow')}, drawn</summary>
      ${open && rest.map((f) => html`<${Over} flow=${f} until=${until} />`)}</details>`}</section>`;
}
