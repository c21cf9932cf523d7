// Tools that measured what the pair carries, beside each other: what they found, how their runs differ, and what a run costs.
import { html } from '../html.js';
import { url } from '../api.js';
import { useDocs } from '../docs.js';
import { format, inText, unitOf } from '../format.js';
import { labelOf } from '../metrics.js';
import { rfc } from '../times.js';
import { Failure } from '../state.js';
import { waysOf, wayText } from './compare.js';

/** How far a figure is from the reference, with its sign. @param {number | null} ratio */
export const deviation = (ratio) => (ratio === null ? 'not known' : `${ratio < 0 ? '−' : '+'}${format(Math.abs(ratio), 'ratio')}`);

/** @param {{pair: [string, string], range: import('./range.js').Range, turn: number | null}} props */
export function Tools({ pair, range, turn }) {
  const ways = waysOf(pair);
  const { doc, error, reload } = useDocs(ways.map(([source, target]) => url(['pairs', source, target, 'tools'], { from: rfc(range.from), to: rfc(range.to) })), turn);
  /** @type {ComparedTool[][]} */
  const found = (doc ?? []).map((/** @type {ComparedDoc} */ d) => d.tools ?? []);
  const some = found.some((tools) => new Set(tools.map((t) => t.tool)).size > 1); // one is beside no other
  return html`<section aria-labelledby="tools"><h2 id="tools">Tools beside each other<small>, of what the path carries</small></h2>
    ${error && html`<${Failure} error=${error} what="The comparison of tools" retry=${reload} />`}
    ${doc && !some && html`<p class="quiet">No two tools measured in this span what the path carries.</p>`}
    ${some && html`<p class="quiet">Of the newest runs of each, at most 30: those that move least first. Capacity counts packets, throughput what a program got: headers are some 5 % between the two.</p>
      ${found.map((tools, i) => tools.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label=${`Tools, ${wayText(ways[i])}`}><table class="list">
        <caption>${wayText(ways[i])}</caption>
        <thead><tr><th scope="col">Tool</th><th scope="col">Measures</th><th scope="col" class="num">Runs</th><th scope="col" class="num">Failed</th><th scope="col" class="num">Median</th><th scope="col" class="num">Half of the runs</th>
          <th scope="col" class="num">From the reference</th><th scope="col" class="num">Takes</th><th scope="col" class="num">Moves</th></tr></thead>
        <tbody>${tools.map((t) => html`<tr><th scope="row">${t.tool}</th><td>${inText(labelOf(t.metric))}</td><td class="num">${t.runs}</td><td class="num">${t.failed}</td><td class="num">${format(t.median, unitOf(t.metric))}</td>
          <td class="num">${t.runs > 1 ? `within ${format(t.spread_ratio, 'ratio')}` : ''}</td><td class="num">${t.reference ? 'the reference' : deviation(t.deviation_ratio)}</td>
          <td class="num">${format(t.seconds, 'seconds')}</td><td class="num">${t.bytes === null ? 'not told' : format(t.bytes, 'bytes')}</td></tr>`)}</tbody></table></div>`)}`}</section>`;
}
