// What is wrong, for whom, since when and why: the first look at a mesh. A line for each thing that is wrong, whatever it is of.
import { html } from '../html.js';
import { go, link } from '../router.js';
import { unaskedWords } from '../result/unasked.js';
import { commonOf, isOfHost } from './health.js';
import { format } from '../format.js';
import { basis, moment, nameOf, paths, signWords, spentWords } from './words.js';

/** @param {{doc: SummaryDoc, account: import('../account.js').Account}} props */
export function Summary({ doc, account }) {
  const may = account.me?.scopes?.includes('run');
  const now = Date.parse(doc.at);
  const spent = spentWords(doc);
  return html`<section class="summary" aria-label="What is wrong">
    ${doc.troubles.length > 0 && html`<ol class="troubles">${doc.troubles.map((t) => html`<${Trouble} key=${t.kind + t.name} of=${t} now=${now} may=${may} />`)}</ol>`}
    ${doc.more > 0 && html`<p class="quiet">and ${doc.more} more: see the matrix</p>`}
    ${spent && html`<p class="quiet spent">${spent}</p>`}
    <p class="quiet basis">${basis(doc)}</p>
  </section>`;
}

/** @param {{of: TroubleDoc, now: number, may: boolean | undefined}} props */
function Trouble({ of: t, now, may }) {
  const first = t.signs[0];
  const pair = link(['pair', t.source, t.target], { metric: first.metric });
  const common = commonOf(t);
  return html`<li>
    <${Spark} of=${t.spark} />
    <div>
      <p><a href=${isOfHost(t) ? link(['hosts', t.name]) : pair}><b>${nameOf(t)}</b></a>: ${t.signs.map((s, i) => html`${i > 0 && '; '}${signWords(s, now)}${paths(s) && `, ${paths(s)}`}`)}${t.kind !== 'pair' && html`, such as <a href=${pair}>${t.source} → ${t.target}</a>`}.${common && ` ${common}`}</p>
      <p>${t.diagnosis ? html`<${Found} of=${t.diagnosis} now=${now} trouble=${t} />` : !t.begun && html`<span class="quiet">Not diagnosed yet.</span>`}
        ${t.begun && html` <span class="quiet begun">The controller diagnoses it by itself, ${t.begun.source} → ${t.begun.target}, since ${moment(t.begun.at, now)}.</span>`}</p>
    </div>
    ${may
      ? html`<button type="button" onClick=${() => diagnose(t)} aria-label=${`Diagnose ${t.source} to ${t.target} now`}>Diagnose now</button>`
      : html`<a class="button" href=${link(['test'], { source: t.source, target: t.target, do: 'diagnose' })} aria-label=${`Sign in to diagnose ${t.source} to ${t.target}`}>Sign in to diagnose</a>`}
  </li>`;
}

/** What a diagnosis found, and what to do first. @param {{of: FoundDoc, now: number, trouble: TroubleDoc}} props */
export const Found = ({ of: f, now, trouble: t }) => html`<a href=${link(['result', f.result])}>${f.title}</a> <span class="quiet">(${f.source} → ${f.target}, ${moment(f.at, now)}${f.unasked && `, ${unaskedWords(f.trouble)}`})</span>.${' '}
  ${f.cause}${(f.command || f.cure) && html` <b>Cure</b>${f.host && ` on ${commonOf(t) && f.host.startsWith('path ') ? `the links of ${t.name}` : f.host}`}: ${f.command && html`<code>${f.command}</code> `}${f.cure}.`}${expected(f)}${
  f.verdict === 'healthy' && t.signs.some((s) => s.declared) && ` So nothing else holds transfers back. Ask who provides the line why it carries less than is declared, or correct rate in the mesh file.`}`;

/** What the cure is to bring. @param {FoundDoc} f */
const expected = (f) => (f.predicted_bits_per_second === undefined || f.achieved_bits_per_second === undefined ? ''
  : ` Then expect ${format(f.predicted_bits_per_second, 'bits_per_second')} in place of ${format(f.achieved_bits_per_second, 'bits_per_second')}.`);

/** Starts a diagnosis at once, and shows it. @param {TroubleDoc} t */
async function diagnose(t) {
  const { start } = await import('../test/work.js');
  void start({ what: 'diagnose', source: t.source, target: t.target, tool: '', kind: '', parameters: {}, patience: 300, seconds: 0 });
  go(link(['test'], { source: t.source, target: t.target, do: 'diagnose' }));
}

const [wide, high] = [120, 28]; // px

/** What a line is of. @type {Record<string, string>} */
const lines = { loss_ratio: 'loss', throughput_bits_per_second: 'throughput', rtt_median_seconds: 'round trip' };

/** A line of what was before and is now; it says nothing that the words beside it do not. @param {{of: SparkDoc}} props */
function Spark({ of: s }) {
  const values = s.values.map((v) => v ?? NaN);
  const most = Math.max(...values.filter((v) => !Number.isNaN(v)), 1e-12);
  const x = (/** @type {number} */ i) => 2 + (i * (wide - 6)) / Math.max(1, values.length - 1);
  const y = (/** @type {number} */ v) => high - 3 - (v / most) * (high - 6);
  let path = '';
  values.forEach((v, i) => {
    if (!Number.isNaN(v)) path += `${i === 0 || Number.isNaN(values[i - 1]) ? 'M' : 'L'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`;
  });
  const last = values.length - 1;
  const hours = Math.round((s.values.length * s.step_seconds) / 3600);
  return html`<div class="sparked" aria-hidden="true"><svg class="spark" width=${wide} height=${high} viewBox=${`0 0 ${wide} ${high}`} aria-hidden="true">
    <path d=${path} />${last >= 0 && !Number.isNaN(values[last]) && html`<circle cx=${x(last)} cy=${y(values[last])} r="2.5" />`}</svg><small class="quiet">${lines[s.metric] ?? ''}, ${hours} h</small></div>`;
}
