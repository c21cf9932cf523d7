// The parts of a path: what each leaves to the whole, and which one is to blame.
import { html } from '../html.js';
import { format } from '../format.js';

const outcomes = /** @type {const} */ ({ pass: ['✓', 'k2', 'pass'], fail: ['×', 'k4', 'fail'], unknown: ['?', 'k0', 'cannot tell'] });

/** A number, or a dash where there is none. @param {number | null | undefined} v @param {string} unit */
const ifKnown = (v, unit) => (v === null || v === undefined ? '–' : format(v, unit));

/** @param {PartDoc} part */
const nameOf = (part) => `${part.from} – ${part.to}`;

/** @param {{parts: PartsDoc}} props */
export function Parts({ parts }) {
  const rows = parts.segments ?? [];
  const most = Math.max(parts.needed_bits_per_second, ...rows.map((s) => s.could_reach_bits_per_second?.high ?? 0)) || 1;
  const away = (parts.points ?? []).filter((p) => p.state !== 'used');
  return html`<h3>By its parts${parts.way === 'reverse' ? ', on the way back' : ''}</h3>
    <p><b>${parts.says}</b></p>
    <div class="scroll" tabindex="0" role="region" aria-label="Parts of the path"><table class="parts">
      <thead><tr><th scope="col">Part</th><th scope="col" class="num">Round trip</th><th scope="col" class="num">Loss</th><th scope="col" class="num">Rate</th>
        <th scope="col" class="num">Leaves the whole</th><th scope="col"><span class="hidden">Drawn</span></th><th scope="col">Outcome</th><th scope="col">Why</th></tr></thead>
      <tbody>${rows.map((s) => html`<tr key=${nameOf(s)}><th scope="row">${nameOf(s)}</th><td class="num">${ifKnown(s.rtt_seconds, 'seconds')}</td>
        <td class="num" title=${s.loss_ratio ? `${format(s.loss_ratio.low, 'ratio')} to ${format(s.loss_ratio.high, 'ratio')}, by 95 %` : ''}>${ifKnown(s.loss_ratio?.value, 'ratio')}</td>
        <td class="num">${ifKnown(s.throughput_bits_per_second, 'bits_per_second')}</td>
        <td class="num">${ifKnown(s.could_reach_bits_per_second?.value, 'bits_per_second')}</td>
        <td><${Bar} part=${s} needed=${parts.needed_bits_per_second / most} most=${most} /></td>
        <td><span class=${'mark ' + outcomes[s.outcome][1]} aria-hidden="true">${outcomes[s.outcome][0]}</span>${outcomes[s.outcome][2]}</td><td>${s.means}</td></tr>`)}</tbody></table></div>
    <p class="quiet">The whole reaches ${format(parts.achieved_bits_per_second, 'bits_per_second')} over ${format(parts.rtt_seconds, 'seconds')}; a part that would let it reach ${format(parts.needed_bits_per_second, 'bits_per_second')}, the line in each bar, is cleared.</p>
    ${away.map((p) => html`<p class="note">${p.name} does not divide the path: ${p.means}</p>`)}`;
}

/** What the whole could reach through a part, as a share of the most. @param {{part: PartDoc, needed: number, most: number}} props */
const Bar = ({ part: s, needed, most }) => html`<svg class="part-bar" viewBox="0 0 100 10" aria-hidden="true" preserveAspectRatio="none">
  <rect class=${s.outcome} width=${100 * (s.could_reach_bits_per_second?.value ?? 0) / most} height="10" /><path d=${`M${100 * needed} 0V10`} /></svg>`;
