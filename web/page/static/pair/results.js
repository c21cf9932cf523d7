// The newest Results of a pair, both ways, each with a link to all that is known of it.
import { html } from '../html.js';
import { format, inText, plural, share, unitOf } from '../format.js';
import { inOrder, labelOf } from '../metrics.js';
import { link } from '../router.js';
import { useDocs } from '../docs.js';
import { endsOf, exactly, url } from '../api.js';
import { rfc, when } from '../times.js';
import { Failure } from '../state.js';
import { useTitles } from '../result/titles.js';
import { waysOf, wayText } from './compare.js';

const most = 12; // of each direction

/** What says most about a Result of any kind, in this order. */
const telling = ['rtt_median_seconds', 'loss_ratio', 'throughput_bits_per_second', 'capacity_bits_per_second', 'hop_count', 'path_mtu_bytes', 'transaction_median_seconds'];

/** @param {ResultDoc} r @param {(id: string) => string} title how a verdict is called */
export function gist(r, title) {
  const verdict = r.kind === 'diagnosis' && r.parameters?.verdict;
  if (verdict) return `verdict: ${title(String(verdict))}`;
  const some = telling.filter((m) => m in r.metrics);
  if (!some.length) return Object.keys(r.metrics).sort(inOrder).slice(0, 2).map((m) => `${inText(labelOf(m))}: ${format(r.metrics[m], unitOf(m))}`).join(', ');
  return some.map((m) => (m === 'loss_ratio' ? 'loss ' + share(r.metrics[m], r.metrics.sent_packets, true)
    : m === 'hop_count' ? plural(r.metrics[m], 'hop') : format(r.metrics[m], unitOf(m)))).join(', ');
}

/** @param {{pair: [string, string], range: import('./range.js').Range, turn: number | null}} props */
export function Results({ pair, range, turn }) {
  const title = useTitles();
  const at = range.live ? {} : { from: rfc(range.from), to: rfc(range.to) };
  const paths = waysOf(pair).map(([source, target]) => url(['results'], { source: exactly(source), target: exactly(target), limit: most, ...at }));
  const { doc, error, reload } = useDocs(paths, turn);
  const all = doc ? doc.flatMap((/** @type {ResultsDoc} */ d) => d.results).sort((a, b) => Date.parse(b.started) - Date.parse(a.started)) : [];
  return html`<section id="results-part" aria-labelledby="results"><h2 id="results">${range.live ? 'Newest results' : 'Last results of this span'}</h2>
    ${error && html`<${Failure} error=${error} what="The list of results" retry=${reload} />`}
    ${doc && all.length === 0 && html`<p class="quiet">There is none.</p>`}
    ${all.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="Results"><table class="list">
      <thead><tr><th scope="col">Began</th><th scope="col">Path</th><th scope="col">Tool</th><th scope="col">Ended</th><th scope="col">Showed</th></tr></thead>
      <tbody>${all.map((r) => html`<tr key=${r.id}><th scope="row"><a href=${link(['result', r.id])}>${when(r.started, 'second')}</a></th>
        <td>${wayText(endsOf(r))}</td><td>${r.tool ?? r.kind}</td>
        <td class=${'is-' + r.status}>${r.status}</td><td>${r.error ? r.error.slice(0, 120) : gist(r, title)}</td></tr>`)}</tbody></table></div>`}
  </section>`;
}
