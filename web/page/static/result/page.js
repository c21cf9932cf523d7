// One Result, whole: what was asked, what came out, the samples behind it, and what the clock was worth.
import { html, useState } from '../html.js';
import { endsOf, url } from '../api.js';
import { useDoc } from '../docs.js';
import { format } from '../format.js';
import { link } from '../router.js';
import { when, zoneName } from '../times.js';
import { Failure, Loading } from '../state.js';
import { wayText } from '../pair/compare.js';
import { Diagnosis, diagnosisOf, Findings, Numbers } from './diagnosis.js';
import { unaskedWords } from './unasked.js';
import { Asked } from './asked.js';
import { Members } from './members.js';
import { Paths } from './paths.js';
import { hasRoute, RouteOf } from './route.js';
import { Echoes, Intervals } from './samples.js';
import { Beside } from './beside.js';
import { SweepOf } from './sweep.js';
import { Flows } from './flows.js';

/** @param {{route: import('../router.js').Route}} props */
export function Result({ route }) {
  const path = url(['results', route.path[1]]);
  const { doc, error, reload } = useDoc(path);
  if (error) return html`<h1 tabindex="-1">Result</h1><${Failure} error=${error} what="This result" retry=${reload} />`;
  if (!doc) return html`<h1 tabindex="-1">Result</h1><${Loading} of="the result" />`;
  const r = /** @type {ResultDoc} */ (doc);
  const [a, b] = endsOf(r);
  const at = Date.parse(r.started);
  const unasked = r.kind === 'diagnosis' && unaskedWords(r.parameters?.trouble);
  const around = { from: new Date(at - 3600e3).toISOString(), to: new Date(at + 3600e3).toISOString(), tool: r.tool ?? r.kind };
  const asked = Object.entries(r.parameters ?? {}).filter(([k]) => r.kind !== 'diagnosis' || !['results', 'segments', 'trouble'].includes(k)); // which are shown above
  return html`
    <h1 tabindex="-1">${r.tool ?? r.kind}: ${wayText([a, b])}</h1>
    <p class="screen"><a href=${link(['pair', a, b], around)}>${a === b ? 'This host' : 'This pair'}, an hour before and after</a>
      <span class="quiet"> · </span><a href=${link(['test'], r.kind === 'diagnosis' ? { source: a, target: b, do: 'diagnose' } : { source: a, target: b, tool: r.tool ?? r.kind })}>Test it again</a></p>
    ${unasked && html`<p class="unasked">Nobody asked for this diagnosis: it was ${unasked}, at ${when(at)}.</p>`}
    ${r.error && html`<p class="failure" role="note"><strong>${r.status}:</strong> ${r.error}</p>`}
    ${r.kind === 'diagnosis' && r.parameters.verdict ? html`<${Diagnosis} ...${diagnosisOf(r)} /><${Report} id=${r.id} />` : (r.notes ?? []).map((n) => html`<p class="note">${n}</p>`)}
    <div class="facts">
      <section aria-labelledby="what"><h2 id="what">What and when</h2><dl>
        <dt>Began</dt><dd>${when(at, 'ms')} ${zoneName()}</dd>
        <dt>Took</dt><dd>${format(r.duration_seconds, 'seconds')}</dd>
        <dt>Ended</dt><dd class=${'is-' + r.status}>${r.status}</dd>
        <dt>From</dt><dd>${r.source.name} <span class="quiet">${r.source.address}</span></dd>
        <dt>To</dt><dd>${r.target.name} <span class="quiet">${r.target.address}</span></dd>
        <dt>Kind</dt><dd>${r.kind}</dd>
        ${r.test && html`<dt>Test</dt><dd>${r.test}</dd>`}
        ${r.kind !== 'diagnosis' && html`<dt>Clock</dt><dd>${r.clock?.synchronized ? `synchronised, to ${format(r.clock.error_seconds, 'seconds')}` : 'not known to be synchronised: one-way times mean nothing'}</dd>`}
        <dt>ID</dt><dd><code>${r.id}</code> <a href=${path}>JSON</a></dd></dl></section>
      <section aria-labelledby="metrics"><h2 id="metrics">Metrics</h2>
        <${Numbers} result=${r} /></section>
      <section aria-labelledby="asked"><h2 id="asked">Parameters</h2>
        ${asked.length === 0 ? html`<p class="quiet">All as by default.</p>` : html`<${Asked} kind=${r.kind} parameters=${asked} />`}</section>
    </div>
    ${r.kind !== 'diagnosis' && r.samples?.findings?.length && html`<section aria-labelledby="findings"><h2 id="findings">What was found</h2><${Findings} findings=${r.samples.findings} audit /></section>`}
    ${r.samples?.port && html`<section aria-labelledby="port"><h2 id="port">The port, as ${a} sees it</h2><p>${r.samples.port.says}.</p>
      <ul>${r.samples.port.evidence.map((line) => html`<li>${line}</li>`)}</ul>
      ${r.samples.port.unknown && html`<p class="quiet">Not known: ${r.samples.port.unknown}.</p>`}</section>`}
    ${r.kind === 'beacon' && r.samples?.members && html`<${Members} members=${r.samples.members} pairs=${r.samples.pairs ?? []} />
      ${r.test && html`<p class="screen"><a href=${link(['group', r.test])}>The newest of this group</a></p>`}`}
    ${r.samples?.beside?.length && html`<${Beside} samples=${r.samples.beside} />`}
    ${r.samples?.sweep && html`<${SweepOf} sweep=${r.samples.sweep} />`}
    ${r.samples?.flows?.length && html`<${Flows} flows=${r.samples.flows} />`}
    ${r.samples?.echoes?.length && html`<${Echoes} echoes=${r.samples.echoes} />`}
    ${r.samples?.intervals?.length && html`<${Intervals} intervals=${r.samples.intervals} />`}
    ${r.samples?.paths?.vertices?.length && html`<${Paths} paths=${r.samples.paths} of=${r.id} />`}
    ${hasRoute(r) && html`<${RouteOf} result=${r} />`}
    ${r.samples?.output && html`<section aria-labelledby="output"><h2 id="output">What the program printed</h2>
      <pre tabindex="0">${'$ ' + r.samples.output.command.join(' ')}
${r.samples.output.stdout}${r.samples.output.stderr}</pre>
      <p class="quiet">Exit code ${r.samples.output.exit_code}${r.samples.output.truncated ? '; it printed more than is kept' : ''}</p></section>`}
    <${Json} doc=${r} />`;
}

/** The problem report of a diagnosis, as files. @param {{id: string}} props */
function Report({ id }) {
  const [mask, set] = useState(false);
  const file = (/** @type {string} */ format) => url(['results', id, 'report'], mask ? { format, mask: 'true' } : { format });
  return html`<section class="screen" aria-labelledby="report"><h2 id="report">Problem report</h2>
    <p>For those who run the network and the hosts: <a href=${file('html')} download>page with drawings and samples</a>, <a href=${file('md')} download>Markdown</a>, <a href=${file('json')} download>JSON</a></p>
    <p><label><input type="checkbox" checked=${mask} onChange=${(/** @type {any} */ e) => set(e.target.checked)} /> with addresses and names of hosts masked</label></p></section>`;
}

/** A document as text, which is not made before somebody wants it: it may be some megabytes. @param {{doc: any}} props */
function Json({ doc }) {
  const [open, set] = useState(false);
  return html`<details onToggle=${(/** @type {any} */ e) => set(e.target.open)}><summary>All of it, as JSON</summary>
    ${open && html`<pre tabindex="0">${JSON.stringify(doc, null, 2)}</pre>`}</details>`;
}
