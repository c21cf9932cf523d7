// What to test: between whom, with what. All of it is in the address, so that a test can be handed on; nothing begins by itself.
import { html, useEffect, useRef, useState } from '../html.js';
import { format, plural } from '../format.js';
import { change } from '../router.js';
import { span } from '../times.js';
import { busy, start, useWork } from './work.js';

/** Seconds that a test may wait for its turn, and how people say it. @type {[number, string][]} */
const waits = [[0, 'begin at once or not at all'], [60, 'wait up to a minute'], [300, 'wait up to 5 min'], [1800, 'wait up to half an hour']];
const usual = 300; // a turn comes within minutes on a mesh that is not full

/** Why a host cannot begin a test; '' if it can. @param {HostDoc} h */
export function hindrance(h) {
  if (h.state === 'foreign') return 'answers only';
  if (h.state === 'offline') return 'offline by the mesh file';
  if (h.state === 'away') return h.heard ? `silent for ${span(Date.now() - Date.parse(h.heard))}` : 'never heard of';
  return '';
}

/**
 * The test that a form asks for.
 * @param {FormData} form
 * @param {ToolDoc} tool
 * @param {'test' | 'diagnose'} what
 * @returns {import('./run.js').Ask}
 */
export function askOf(form, tool, what) {
  const text = (/** @type {string} */ name) => String(form.get(name) ?? '').trim();
  /** @type {Record<string, string>} */
  const parameters = {};
  for (const p of tool.parameters) if (text('p.' + p.name)) parameters[p.name] = text('p.' + p.name);
  const source = text('source');
  return {
    what, source, target: tool.kind === 'host' && what === 'test' ? source : text('target'), tool: tool.name, kind: tool.kind,
    parameters, patience: Number(text('wait')), seconds: Object.keys(parameters).length ? 0 : tool.duration_seconds,
  };
}

/** @param {{query: URLSearchParams, hosts: HostDoc[], tools: ToolDoc[]}} props */
export function Form({ query, hosts, tools }) {
  const tool = tools.find((t) => t.name === query.get('tool')) ?? tools.find((t) => t.kind === 'ping') ?? tools[0];
  const [wrong, setWrong] = useState('');
  const diagnose = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const work = useWork();
  useEffect(() => {
    if (query.get('do') === 'diagnose') diagnose.current?.focus();
  }, []);
  const [source, target] = [query.get('source') ?? '', query.get('target') ?? ''];
  /** @param {SubmitEvent} e */
  const submit = (e) => {
    e.preventDefault();
    const form = /** @type {HTMLFormElement} */ (e.target);
    const what = /** @type {HTMLButtonElement | null} */ (e.submitter)?.value === 'diagnose' ? 'diagnose' : 'test';
    const ask = askOf(new FormData(form), tool, what);
    const [text, field] = busy() ? ['A test is under way. Stop it first, or wait for its end.', ''] : flaw(ask);
    setWrong(text);
    if (field) /** @type {HTMLElement | null} */ (form.elements.namedItem(field))?.focus();
    if (!text) start(ask);
  };
  /** @param {any} e */
  const keep = (e) => {
    setWrong('');
    change({ [e.target.name]: e.target.value }, { replace: true });
  };
  if (!hosts.length) return html`<p class="empty">The mesh file names no host, so there is nothing to test between.</p>`;
  return html`<form class="ask" onSubmit=${submit} aria-busy=${String(work?.state === 'going')}>
    <div class="controls">
      <${Hosts} label="From" name="source" value=${source} hosts=${hosts} keep=${keep} why=${hindrance} />
      <button type="button" aria-label="Swap both hosts" onClick=${() => change({ source: target, target: source }, { replace: true })}>⇄</button>
      <${Hosts} label="To" name="target" value=${target} hosts=${hosts} keep=${keep}
        why=${(/** @type {HostDoc} */ h) => (h.state === 'foreign' ? '' : hindrance(h))} />
      <label>With <select name="tool" value=${tool.name} onChange=${keep}>
        ${[['Tools of the mesh', true], ['As they are', false]].map(([label, ofMesh]) => html`<optgroup label=${label}>
          ${tools.filter((t) => t.of_mesh === ofMesh).map((t) => html`<option value=${t.name}>${t.name}${t.name === t.kind ? '' : ` (${t.kind})`}</option>`)}</optgroup>`)}
      </select></label>
      <label><span class="hidden">Waiting</span> <select name="wait" value=${query.get('wait') ?? String(usual)} onChange=${keep}>
        ${waits.map(([s, text]) => html`<option value=${s}>${text}</option>`)}</select></label>
    </div>
    <${Parameters} tool=${tool} query=${query} keep=${keep} />
    <p class="go"><button name="do" value="test">Test</button> <button name="do" value="diagnose" ref=${diagnose}>Diagnose</button></p>
    ${wrong && html`<p class="failure" role="alert">${wrong}</p>`}
    <p class="quiet"><b>Test</b> runs ${tool.name}: ${tool.usage || 'a program'}${tool.duration_seconds ? `, ${format(tool.duration_seconds, 'seconds')}` : ''}${tool.exclusive ? '; it needs both ends alone, so it may have to wait' : ''}${tool.kind === 'host' ? '; it measures the first host alone' : ''}.
      <b> Diagnose</b> says why the path is slow: it measures round trips, the route, the capacity and a transfer each way, which fills the path for a while.</p>
  </form>`;
}

/** What is wrong with a request, and in which field. @param {import('./run.js').Ask} a @returns {[string, string]} */
function flaw(a) {
  if (!a.source) return ['Choose the host that the test begins at.', 'source'];
  if (!a.target) return ['Choose the host that the test goes to.', 'target'];
  if (a.source === a.target && !(a.what === 'test' && a.kind === 'host')) return ['Choose two different hosts.', 'target'];
  return ['', ''];
}

/**
 * @param {{label: string, name: string, value: string, hosts: HostDoc[], keep: (e: any) => void, why: (h: HostDoc) => string}} props
 * why: what keeps a host from it
 */
const Hosts = ({ label, name, value, hosts, keep, why }) => html`<label>${label} <select name=${name} value=${value} onChange=${keep}>
  <option value="">choose a host</option>
  ${value && !hosts.some((h) => h.name === value) && html`<option value=${value}>${value} (not in the mesh file)</option>`}
  ${[...hosts].sort((a, b) => Number(!!why(a)) - Number(!!why(b)) || a.name.localeCompare(b.name)).map((h) => html`<option key=${h.name} value=${h.name}
    disabled=${!!why(h) && h.name !== value}>${h.name}${why(h) ? ` (${why(h)})` : h.site ? `, ${h.site}` : ''}</option>`)}</select></label>`;

/** @param {{tool: ToolDoc, query: URLSearchParams, keep: (e: any) => void}} props */
function Parameters({ tool, query, keep }) {
  const given = tool.parameters.filter((p) => query.get('p.' + p.name)).length;
  if (!tool.parameters.length) return html`<p class="quiet">${tool.kind === 'command' ? 'A program of the mesh file, which has its command: there is nothing to set.' : 'There is nothing to set.'}</p>`;
  const words = { 'yes or no': ['true', 'false'] };
  return html`<details open=${given > 0}><summary>Parameters <span class="quiet">of ${tool.name}: ${given ? plural(given, 'set', 'set') : 'all as by default'}</span></summary>
    <div class="parameters">${tool.parameters.map((p) => html`<label key=${tool.name + p.name}><span>${p.name} <small>${p.usage}</small></span>
      ${p.type in words
        ? html`<select name=${'p.' + p.name} value=${query.get('p.' + p.name) ?? ''} onChange=${keep}><option value="">${p.default}, as by default</option>
            ${words[/** @type {'yes or no'} */ (p.type)].map((w) => html`<option>${w}</option>`)}</select>`
        : html`<input name=${'p.' + p.name} defaultValue=${query.get('p.' + p.name) ?? ''} placeholder=${p.default} title=${p.type} onChange=${keep}
            inputmode=${p.type === 'whole number' ? 'numeric' : null} autocomplete="off" spellcheck=${false} />`}</label>`)}</div></details>`;
}
