// What a diagnosis found: the verdict as a headline, the causes with their evidence, what to do about each, and what that brings.
import { html, useRef, useState } from '../html.js';
import { endsOf, url } from '../api.js';
import { useDoc } from '../docs.js';
import { format, share, unitOf } from '../format.js';
import { definitionOf, inOrder, labelOf } from '../metrics.js';
import { link } from '../router.js';
import { inputsOf } from '../calc/form.js';
import { wayText } from '../pair/compare.js';
import { gist } from '../pair/results.js';
import { Parts } from './parts.js';
import { useTitles } from './titles.js';

/** The way that a finding is about, as its source sees it. @type {Record<string, string>} */
const ways = { forward: 'on the way there', reverse: 'on the way back', both: 'both ways' };

/** Where a finding is, and on which way. @param {Finding} f */
export const whereOf = (f) => [f.where, ways[f.way ?? '']].filter(Boolean).join(', ');

/** What evidence is of, where it is of no metric. @type {Record<string, string>} */
const measured = {
  snd_wnd_bytes: 'Window that the receiver offered',
  tcp_rmem_max_bytes: 'Receive buffer, at most',
  send_buffer_bytes: 'Send buffer',
  send_buffer_room_ratio: 'Room in the send buffer',
  delivery_rate_app_limited: 'Waited for the program',
  rtt_seconds: 'Round trip',
  silent_packet_bytes: 'Size of packets that vanish',
  allowed_bits_per_second: 'Allowed by this limit',
};

/** @param {string} metric */
export const measuredOf = (metric) => measured[metric] ?? labelOf(metric);

/** The units of evidence that have prefixes or a sign, as the pages call them. @type {Record<string, string>} */
const units = { 'bit/s': 'bits_per_second', 'packets/s': 'packets_per_second', s: 'seconds', bytes: 'bytes', ratio: 'ratio' };

/** Of things that are counted, 1 is singular: 3 packets, 1 packet. @param {{value: number, unit: string}} e */
export function evidenceValue({ value, unit }) {
  if (units[unit]) return format(value, units[unit]);
  const thing = unit === 'count' ? '' : value === 1 ? unit.replace(/s$/, '') : unit;
  return `${format(value, 'count')} ${thing}`.trim();
}

const severities = /** @type {const} */ ({ problem: ['×', 'k4'], warning: ['•', 'k3'], info: ['i', 'k0'] });

/**
 * @param {{verdict: string, findings: Finding[], achieved: number, expected: number, results: (string | ResultDoc)[], notes: string[] | null, parts: PartsDoc | null}} props
 * results: what it rests on, or their IDs; notes: what limits how far it can be trusted; parts: of the path, null: it was not divided
 */
export function Diagnosis({ verdict, findings, achieved, expected, results, notes, parts }) {
  const title = useTitles();
  const first = findings.find((f) => f.id === verdict);
  const others = findings.filter((f) => f !== first);
  return html`<section class="diagnosis" aria-labelledby="verdict">
    <h2 id="verdict" tabindex="-1">${title(verdict)}</h2>
    <p>${achieved > 0 && html`Achieved <b class="num">${format(achieved, 'bits_per_second')}</b>`}${expected > 0 && html` of <b class="num">${format(expected, 'bits_per_second')}</b> that the narrowest link can carry`}
      ${achieved > 0 && expected > 0 && html`<span class="quiet">, ${Math.round((100 * achieved) / expected)} %</span>`}</p>
    ${(notes ?? []).map((n) => html`<p class="note">${n}</p>`)}
    ${verdict === 'healthy' && html`<p>Nothing that Pathwise knows holds transfers back here.</p>`}
    ${first && html`<${Cause} finding=${first} title=${title} main />`}
    ${parts && html`<${Parts} parts=${parts} />`}
    ${others.length > 0 && html`<h3>${first ? 'Also seen' : 'What was seen'}</h3><${Findings} findings=${others} />`}
    ${results.length > 0 && html`<${Measured} results=${results} title=${title} />`}
    ${parts?.results?.length && html`<${Measured} results=${parts.results} title=${title} of="the parts" />`}
  </section>`;
}

/** Findings, each folded; of an audit, of whose settings the knowledge base has no entries. @param {{findings: Finding[], audit?: boolean}} props */
export function Findings({ findings, audit }) {
  const title = useTitles();
  return html`${findings.map((f) => html`<details class="other"><summary><${Severity} of=${f.severity} /> ${title(f.id)} <span class="quiet">${whereOf(f)}</span></summary><${Cause} finding=${f} title=${title} audit=${audit} /></details>`)}`;
}

/** @param {{of: Finding['severity']}} props */
function Severity({ of }) {
  const [mark, kind] = severities[of] ?? severities.info;
  return html`<span class=${'mark ' + kind} aria-hidden="true">${mark}</span><span class="hidden">${of}:</span>`;
}

/** @param {{finding: Finding, title: (id: string) => string, main?: boolean, audit?: boolean}} props */
function Cause({ finding: f, title, main, audit }) {
  const evidence = f.evidence ?? [];
  const advice = f.advice ?? [];
  return html`
    <p>${main && html`<${Severity} of=${f.severity} /> `}<b>${whereOf(f)}</b> <span class="quiet">confidence ${Math.round(100 * f.confidence)} %</span></p>
    <p>${f.explanation}${!audit && html` <a class="screen" href=${link(['knowledge', f.id])}>More about this<span class="hidden">: ${title(f.id)}</span></a>`}</p>
    ${evidence.length > 0 && html`<h3>Evidence</h3><div class="scroll" tabindex="0" role="region" aria-label=${'Evidence: ' + title(f.id)}><table>
      <thead><tr><th scope="col">Measured</th><th scope="col" class="num">Value</th><th scope="col">What it means</th></tr></thead>
      <tbody>${evidence.map((e) => html`<tr><th scope="row" title=${e.metric}>${measuredOf(e.metric)}</th><td class="num">${evidenceValue(e)}</td><td>${meaning(e.means)}</td></tr>`)}</tbody></table></div>`}
    ${advice.length > 0 && html`<h3>What to do</h3><ol class="cure">${advice.map((a) => html`<li>
      ${a.command ? html`On <b>${a.host}</b>: <${Command} text=${a.command} />` : html`<b>${a.host}</b>: `}<span>${a.why}</span></li>`)}</ol>`}
    ${f.predicted && html`<p class="predicted">Then expect <b>${format(f.predicted.throughput_bits_per_second, 'bits_per_second')}</b>: <span class="quiet">${f.predicted.basis}</span></p>`}`;
}

/** What evidence means; a call of the calculator in it leads to that, filled in. @param {string} text */
export function meaning(text) {
  const [call, name, inputs] = text.match(/pathwise calc (\w+)((?: --\w+ \S+)+)/) ?? [];
  if (!call) return text;
  const at = text.indexOf(call);
  return html`${text.slice(0, at)}<a href=${link(['calc', name], inputsOf(inputs.trim()))}>${call}</a>${text.slice(at + call.length)}`;
}

/** A command, to be copied. @param {{text: string}} props */
function Command({ text }) {
  const [said, say] = useState('');
  const code = useRef(/** @type {HTMLElement | null} */ (null));
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied');
    } catch { // without HTTPS a page may not write there
      if (code.current) getSelection()?.selectAllChildren(code.current);
      say('Selected: copy it with Ctrl+C');
    }
  };
  return html`<span class="command"><code ref=${code}>${text}</code>
    <button type="button" onClick=${copy} aria-label=${'Copy: ' + text}>Copy</button> <span role="status" class="quiet">${said}</span></span>`;
}

/** What a step of a diagnosis is called; a Result of before says its kind alone. @param {ResultDoc} r */
const stepOf = (r) => (r.role?.startsWith('diagnosis/') ? r.role.split('/').at(-1)?.replaceAll('-', ' ') : `${r.kind}${r.parameters.reverse ? ', reverse' : ''}`);

/** What a diagnosis rests on. @param {{results: (string | ResultDoc)[], title: (id: string) => string, of?: string}} props */
const Measured = ({ results, title, of = 'this' }) => html`<h3>Measured for ${of}</h3><ul class="rows measured">${results.map((r) => (typeof r === 'string'
  ? html`<${Fetched} key=${r} id=${r} title=${title} />` : html`<${One} key=${r.id} id=${r.id} result=${r} title=${title} />`))}</ul>`;

/** @param {{id: string, title: (id: string) => string}} props */
const Fetched = ({ id, title }) => html`<${One} id=${id} title=${title} result=${useDoc(url(['results', id])).doc} />`;

/** @param {{id: string, result: ResultDoc | null, title: (id: string) => string}} props */
const One = ({ id, result: r, title }) => html`<li>
  <a href=${link(['result', id])}>${r ? `${stepOf(r)}: ${wayText(endsOf(r))}` : id}</a>
  <span>${r && (r.error ?? gist(r, title))}</span></li>`;

/** The diagnosis that a Result holds. @param {ResultDoc} r */
export const diagnosisOf = (r) => ({
  verdict: String(r.parameters.verdict), findings: r.samples?.findings ?? [],
  achieved: r.metrics.achieved_bits_per_second ?? 0, expected: r.metrics.expected_bits_per_second ?? 0,
  results: Array.isArray(r.parameters.results) ? r.parameters.results.map(String) : [], notes: r.notes,
  parts: /** @type {PartsDoc | null} */ (r.parameters.segments ?? null),
});

/** Numbers of a Result that say most, first. @param {{result: ResultDoc}} props */
export function Numbers({ result: r }) {
  const names = Object.keys(r.metrics).sort((a, b) => rank(a) - rank(b) || inOrder(a, b));
  if (!names.length) return html`<p class="quiet">Nothing was measured.</p>`;
  return html`<table><thead><tr><th scope="col">Metric</th><th scope="col" class="num">Value</th></tr></thead>
    <tbody>${names.map((m) => html`<tr><th scope="row" title=${m}>${measuredOf(m)}</th><td class="num">${share(r.metrics[m], r.metrics[definitionOf(m)?.of ?? ''], false, unitOf(m))}</td></tr>`)}</tbody></table>`;
}

const first = ['throughput_bits_per_second', 'reverse_throughput_bits_per_second', 'capacity_bits_per_second', 'rtt_median_seconds', 'rtt_min_seconds',
  'rtt_max_seconds', 'loss_ratio', 'jitter_seconds', 'retransmits_packets', 'hop_count', 'path_mtu_bytes'];

/** @param {string} m */
const rank = (m) => (first.includes(m) ? first.indexOf(m) : first.length);
