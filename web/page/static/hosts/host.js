// Everything that is known of one host: how it is, what it can do, what it does now and next, and what went wrong.
import { html } from '../html.js';
import { endsOf, exactly, url } from '../api.js';
import { useDoc } from '../docs.js';
import { format, plural } from '../format.js';
import { link } from '../router.js';
import { span, when, zoneName } from '../times.js';
import { Past } from '../pair/page.js';
import { commonOf, healthWords } from '../overview/health.js';
import { Found } from '../overview/summary.js';
import { nameOf, paths, signWords } from '../overview/words.js';
import { Findings } from '../result/diagnosis.js';
import { Failure } from '../state.js';
import { clockOf, stateOf } from './model.js';

const rows = 12; // of each list: what fits a screen

/** @param {{host: import('./model.js').Shown, route: import('../router.js').Route}} props */
export function Host({ host: h, route }) {
  const now = Date.now();
  const s = h.status;
  const state = stateOf(h, now);
  return html`
    <${Health} host=${h} />
    <p><span class=${'mark ' + state.kind} aria-hidden="true">${state.mark}</span><b>${state.text}</b></p>
    ${h.state === 'away' && html`<p class="note">Is the agent running there, and can it reach the controller? <code>systemctl status pathwise-agent</code> on ${h.address} says so.</p>`}
    <p><a class="button" href=${link(['test'], { source: h.state === 'foreign' ? '' : h.name, target: h.state === 'foreign' ? h.name : '' })}>Test from here</a> <a class="button" href=${link(['hosts'])}>All hosts</a></p>
    <div class="facts">
      <section aria-labelledby="what"><h2 id="what">What it is</h2><dl>
        <dt>Address</dt><dd>${h.address}</dd>
        ${h.site && html`<dt>Site</dt><dd>${h.site}</dd>`}
        <dt>Reach</dt><dd>${{ agent: 'by its agent, which calls the controller', ssh: 'by SSH, over which the controller starts its agent', responder: 'it only answers tests of others' }[h.reach] ?? h.reach}</dd>
        ${h.heard && html`<dt>Last heard</dt><dd>${when(h.heard, 'second')} ${zoneName()}, ${span(now - Date.parse(h.heard))} ago</dd>`}
        ${s && html`<dt>Version</dt><dd>${s.version} <span class="quiet">${s.platform}</span></dd>
          ${h.out_of_date && html`<dt>Out of date</dt><dd>Put the controller’s build there: the agent does not know <${Unknown} all=${h.out_of_date} /></dd>`}
          <dt>Clock</dt><dd>${clockOf(h)}</dd>
          <dt>Not yet filed</dt><dd>${plural(s.spooled, 'result')}, which the agent keeps until the controller has them</dd>`}</dl></section>
      ${s && html`<section aria-labelledby="now"><h2 id="now">When it was last heard</h2><p>It ran ${plural((s.running ?? []).length, 'test')}${(s.open ?? []).length > 0 && ` and answered ${plural((s.open ?? []).length, 'test')} of others`}.</p></section>`}
      ${s && html`<section aria-labelledby="lacks"><h2 id="lacks">Cannot do</h2>${(s.lacks ?? []).length === 0
        ? html`<p class="quiet">Nothing is missing.</p>`
        : html`<dl>${(s.lacks ?? []).map((l) => html`<dt>${l.what}${l.kind && html` <small>for ${l.kind}</small>`}</dt><dd>${l.why}</dd>`)}</dl>`}</section>`}
    </div>
    <${Settings} name=${h.name} />
    <div class="foot"><${Next} name=${h.name} /><${Failures} name=${h.name} /><${Misses} name=${h.name} /><${Pairs} name=${h.name} /></div>
    ${h.state !== 'foreign' && html`<section class="itself" aria-labelledby="itself"><h2 id="itself">What it measures of itself</h2><${Past} route=${route} pair=${[h.name, h.name]} /></section>`}`;
}

const told = 5; // of what an agent does not know: an old one does not know dozens of things

/** What an agent does not know: some of it at once, the rest when somebody wants it. @param {{all: string[]}} props */
const Unknown = ({ all }) => (all.length <= told + 1 ? html`${all.join(', ')}.`
  : html`${all.slice(0, told).join(', ')}, and <details><summary>${plural(all.length - told, 'more thing')}</summary>${all.slice(told).join(', ')}.</details>`);

/** Whether something is wrong with the host, and why. @param {{host: import('./model.js').Shown}} props */
function Health({ host: h }) {
  const now = Date.now();
  if (!h.health || (!h.health.known && h.state !== 'here')) return null;
  if (!h.health.own.length) return html`<p class="health">${healthWords(h.health, h.name)}</p>`;
  return h.health.own.map((t) => html`<div class="health"><p class="is-failed">${signs(t, now)}. ${commonOf(t)}</p>
    ${t.diagnosis && html`<p><${Found} of=${t.diagnosis} now=${now} trouble=${t} /></p>`}</div>`);
}

/** In which respects something is worse. @param {TroubleDoc} t @param {number} now */
const signs = (t, now) => nameOf(t) + ': ' + t.signs.map((s) => signWords(s, now) + (paths(s) && `, ${paths(s)}`)).join('; ');

/** What the newest audit of the host found. @param {{name: string}} props */
function Settings({ name }) {
  const { doc: newest } = useDoc(url(['results'], { kind: 'audit', source: exactly(name), limit: 1 }));
  const id = newest?.results[0]?.id;
  const { doc: r } = useDoc(id ? url(['results', id]) : null);
  if (!r) return null;
  const found = r.samples?.findings ?? [];
  return html`<section aria-labelledby="settings"><h2 id="settings">What it is set to</h2>
    <p><a href=${link(['result', id])}>Audited ${when(r.started, 'second')}</a> for ${format(r.parameters.rate, 'bits_per_second')} over ${format(r.parameters.rtt, 'seconds')}: ${found.length === 0 ? 'nothing is in the way.' : plural(found.length, 'setting') + ' to look at. Whether one of them is what holds a transfer back, a diagnosis of its path says.'}</p>
    <${Findings} findings=${found} audit /></section>`;
}

/**
 * A list of its own document.
 * @param {{id: string, title: string, path: string, what: string, none: string, of: (doc: any) => any[], head: string[], row: (x: any) => any}} props
 */
function List({ id, title, path, what, none, of, head, row }) {
  const { doc, error, reload } = useDoc(path);
  const all = doc ? of(doc) : [];
  return html`<section aria-labelledby=${id}><h2 id=${id}>${title}</h2>
    ${error && html`<${Failure} error=${error} what=${what} retry=${reload} />`}
    ${doc && all.length === 0 && html`<p class="quiet">${none}</p>`}
    ${all.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label=${title}><table class="list">
      <thead><tr>${head.map((t) => html`<th scope="col">${t}</th>`)}</tr></thead><tbody>${all.map(row)}</tbody></table></div>`}</section>`;
}

/** @param {{name: string}} props */
const Next = ({ name }) => html`<${List} id="next" title="Now and next" what="What comes next" none="Nothing is planned." path=${url(['plan'], { host: name, limit: rows })}
  of=${(/** @type {{runs: PlannedRun[] | null}} */ d) => d.runs ?? []} head=${['Begins', 'Path', 'Tool', 'Takes']}
  row=${(/** @type {PlannedRun} */ r) => html`<tr key=${r.run}><th scope="row">${Date.parse(r.start) < Date.now() ? html`<b>now</b>, since ` : ''}${when(r.start, 'second')}</th><td><${Path} a=${r.source} b=${r.target} /></td><td>${r.tool}</td>
    <td>${format((Date.parse(r.end) - Date.parse(r.start)) / 1e3, 'seconds')}${r.exclusive ? ', alone' : ''}</td></tr>`} />`;

/** @param {{name: string}} props */
const Failures = ({ name }) => html`<${List} id="failures" title="Last failures" what="The list of failures" none="None of its runs failed." path=${url(['results'], { status: 'failed', source: exactly(name), limit: rows })}
  of=${(/** @type {ResultsDoc} */ d) => d.results} head=${['Began', 'Path', 'Tool', 'Why']}
  row=${(/** @type {ResultDoc} */ r) => html`<tr key=${r.id}><th scope="row"><a href=${link(['result', r.id])}>${when(r.started, 'second')}</a></th>
    <td><${Path} a=${endsOf(r)[0]} b=${endsOf(r)[1]} /></td><td>${r.tool ?? r.kind}</td><td class="is-failed">${(r.error ?? '').slice(0, 200)}</td></tr>`} />`;

/** @param {{name: string}} props */
const Misses = ({ name }) => html`<${List} id="misses" title="Last misses" what="The list of misses" none="None of its runs was missed." path=${url(['misses'], { source: exactly(name), limit: rows })}
  of=${(/** @type {{misses: Miss[] | null}} */ d) => d.misses ?? []} head=${['Was due', 'Path', 'Tool', 'Why']}
  row=${(/** @type {Miss} */ m) => html`<tr key=${m.run}><th scope="row">${when(m.start, 'second')}</th><td><${Path} a=${m.source} b=${m.target} /></td><td>${m.tool}</td><td>${m.why}</td></tr>`} />`;

/** @param {{a: string, b: string}} props */
const Path = ({ a, b }) => (a === b ? a : html`<a href=${link(['pair', a, b])}>${a} → ${b}</a>`);

/** @param {{name: string}} props */
function Pairs({ name }) {
  const { doc, error, reload } = useDoc('api/v1/pairs');
  const all = /** @type {{source: string, target: string}[]} */ (doc?.pairs ?? []);
  const others = [...new Set(all.flatMap((p) => (p.source === name ? [p.target] : p.target === name ? [p.source] : [])))].filter((o) => o !== name).sort();
  return html`<section aria-labelledby="pairs"><h2 id="pairs">Its pairs</h2>
    ${error && html`<${Failure} error=${error} what="The list of pairs" retry=${reload} />`}
    ${doc && others.length === 0 && html`<p class="quiet">It was not measured with any other host yet.</p>`}
    <ul class="partners">${others.map((o) => html`<li key=${o}><a href=${link(['pair', name, o])} aria-label=${`${name} and ${o}`}>${o}</a></li>`)}</ul></section>`;
}
