// A transfer alone and beside competing ones: shares, as bars and figures.
import { html } from '../html.js';
import { format } from '../format.js';

/** @param {{samples: BesideSample[]}} props */
export function Beside({ samples }) {
  return html`<section aria-labelledby="beside"><h2 id="beside">Beside a competing flow<small>: tested ${samples[0].tested.congestion_control ?? 'flow'}, alone and beside others that began with it</small></h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Shares of both flows"><table>
      <thead><tr><th scope="col">Beside</th><th scope="col" class="num">Got</th><th scope="col" class="num">The other</th><th scope="col">Share of the tested flow</th><th scope="col" class="num">Fairness</th>
        <th scope="col" class="num">Round trip</th><th scope="col" class="num">Buffer delay</th><th scope="col" class="num">Resent</th><th scope="col" class="num">The other</th></tr></thead>
      <tbody>${samples.map((s) => html`<tr><td>${s.congestion_control ?? 'alone'}</td>${s.failure ? html`<td colspan="8">${s.failure}</td>` : html`<${Figures} of=${s} />`}</tr>`)}</tbody></table></div></section>`;
}

/** @param {{of: BesideSample}} props */
function Figures({ of }) {
  const { tested, competing, metrics } = of;
  return html`<td class="num">${format(tested.bits_per_second, 'bits_per_second')}</td><td class="num">${competing ? format(competing.bits_per_second, 'bits_per_second') : ''}</td>
    <td>${competing && html`<meter min="0" max="1" value=${tested.share_ratio}></meter> ${format(tested.share_ratio, 'ratio')}`}</td>
    <td class="num">${metrics?.fairness_ratio?.toFixed(3)}</td>
    <td class="num">${format(metrics?.loaded_rtt_median_seconds, 'seconds')}</td><td class="num">${format(metrics?.buffer_delay_seconds, 'seconds')}</td>
    <td class="num">${format(tested.retransmitted_ratio, 'ratio')}</td><td class="num">${competing ? format(competing.retransmitted_ratio, 'ratio') : ''}</td>`;
}
