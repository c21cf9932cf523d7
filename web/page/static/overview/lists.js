// Beside the matrix: the worst pairs, what changed last, and who does not report.
import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { format, plural } from '../format.js';
import { link } from '../router.js';
import { rfc, span, when } from '../times.js';
import { useDoc, useDocs } from '../docs.js';
import { endsOf, url } from '../api.js';
import { useEvents } from '../events.js';
import { Failure } from '../state.js';
import { change, words } from './judge.js';
import { sinceQuery, worst } from './model.js';
import { beginnings } from './words.js';

const shown = 12; // what fits beside a matrix of ordinary size

/** @param {{model: import('./model.js').Model, query: Record<string, string>, at: string, may: boolean}} props at: the time that is shown; '': now; may: diagnose */
export function Worst({ model: m, query, at, may }) {
  const cells = useMemo(() => worst(m, shown), [m]);
  const turn = useTurn(m);
  const asked = sinceQuery(m, cells);
  const path = asked && url(['since'], { ...asked, at, test: query.test, tool: query.tool });
  const found = useDocs([path], turn); // without it the rest is shown all the same
  const times = /** @type {SinceDoc | null} */ (found.of === JSON.stringify([path]) && found.doc ? found.doc[0] : null);
  const beyond = m.tally[3] + m.tally[4];
  return html`<section aria-labelledby="worst">
    <h2 id="worst">${m.byPast ? 'Furthest from usual' : 'Worst pairs'}</h2>
    ${cells.length === 0
      ? html`<p class="quiet">${m.byPast ? 'All pairs are as usual.' : 'No pair is beyond its limits.'}</p>`
      : html`<ol class="rows worst">${cells.map((i, k) => {
          const [a, b] = [m.hosts[Math.floor(i / m.n)].name, m.hosts[i % m.n].name];
          const past = m.byPast ? m.past?.median[i] : null;
          const since = times && sinceWords(times.since[k], Date.now());
          return html`<li><span><a href=${link(['pair', a, b], query)}>${a} → ${b}</a>${since && html` <small>${since}</small>`}</span>
            <span class="num">${format(m.values[i], m.unit)}${past != null && html` <small>${change(m.values[i] ?? 0, past)}</small>`}</span>
            <${Mark} kind=${m.classes[i]} past=${m.byPast} />
            ${may && html`<a class="quiet" href=${link(['test'], { source: a, target: b, do: 'diagnose' })} aria-label=${`Diagnose ${a} to ${b}`}>diagnose</a>`}</li>`;
        })}</ol>`}
    ${beyond > cells.length && html`<p class="quiet">and ${plural(beyond - cells.length, 'more', 'more')}: see Table</p>`}
  </section>`;
}

/** A number that grows with each new model, so that what belongs to it is asked for anew. @param {unknown} model */
function useTurn(model) {
  const last = useRef({ model, turn: 0 });
  if (last.current.model !== model) last.current = { model, turn: last.current.turn + 1 };
  return last.current.turn;
}

/**
 * Since when, in words: with the day where that is another than now's.
 * @param {PairSince | undefined} s
 * @param {number} now
 */
export function sinceWords(s, now) {
  if (!s?.since) return '';
  if (s.longer) return `since before ${when(s.since).slice(5)}`;
  const [there, here] = [when(s.since), when(now)];
  return `since ${there.slice(0, 10) === here.slice(0, 10) ? there.slice(11) : there.slice(5)}`;
}

/** @param {{kind: number, past: boolean}} props */
export const Mark = ({ kind, past }) =>
  html`<span class=${'mark k' + kind}><span aria-hidden="true">${words[kind].mark || '·'}</span><span class="hidden">${past ? words[kind].past : words[kind].limit}</span></span>`;

/** @typedef {{key: string, at: number, text: string, href: string, times: number}} Change */

/** @param {Miss} m @returns {Change} */
const ofMiss = (m) => ({
  key: `miss ${m.source} ${m.why}`, at: Date.parse(m.start), times: 1, href: link(['pair', m.source, m.target]),
  text: `${m.source} → ${m.target}, ${m.tool}: missed, ${m.why}`,
});

/** @param {string} kind @param {EventDoc} e @returns {Change | null} */
function ofEvent(kind, e) {
  const at = Date.now();
  if (kind === 'miss' && e.miss) return ofMiss(e.miss);
  if (kind === 'host' && e.host) return { key: `host ${e.host} ${at}`, at, times: 1, href: '', text: `${e.host} is ${e.state}` };
  if (kind === 'plan' && e.plan) return { key: `plan ${e.plan}`, at, times: 1, href: '', text: `plan ${e.plan} is in force` };
  const r = e.result;
  if (r && r.status !== 'ok') {
    const [a, b] = endsOf(r);
    return { key: `fail ${a} ${b} ${r.error}`, at: Date.parse(r.started), times: 1, href: link(['result', r.id]), text: `${a} → ${b}, ${r.tool ?? r.kind}: ${r.error ?? r.status}` };
  }
  return null;
}

/**
 * Adds to a list, newest first; what is the same for the same reason is one line with a count.
 * @param {Change[]} list
 * @param {Change[]} more
 */
function added(list, more) {
  const all = [...list];
  for (const c of more) {
    const same = all.findIndex((o) => o.key === c.key);
    if (same < 0) all.push(c);
    else all[same] = { ...(c.at > all[same].at ? c : all[same]), times: all[same].times + 1 };
  }
  return all.sort((a, b) => b.at - a.at).slice(0, shown);
}

/** @param {ChangeDoc} c @returns {Change} */
export function ofChange(c) {
  const change = { key: `${c.kind} ${c.at} ${c.source ?? ''} ${c.target ?? ''} ${c.text}`, at: Date.parse(c.at), times: 1 };
  if (c.kind === 'route' && c.source && c.target) return { ...change, text: `${c.source} → ${c.target}, route: ${c.text}`, href: routesAt(c.source, c.target, change.at, c.before) };
  return { ...change, text: c.by ? `${c.text}, by ${c.by}` : c.text, href: c.result ? link(['result', c.result]) : '' };
}

/** @param {TroubleDoc} t @returns {Change[]} */
const ofTrouble = (t) => beginnings(t, Date.now()).map(({ at, text, metric }) => ({
  key: `step ${t.kind} ${t.name} ${metric}`, at: Date.parse(at), times: 1, text, href: link(['pair', t.source, t.target], { metric }) }));

const around = 1800e3; // ms beside a change that are shown at least

/**
 * The routes of a pair about a change: the one before it and the one after, each in as many traces as tell that it lasted.
 * @param {string} source
 * @param {string} target
 * @param {number} at
 * @param {string | undefined} before when the one before was seen last
 */
function routesAt(source, target, at, before) {
  const apart = Math.max(around, 5 * (at - (before ? Date.parse(before) : at)));
  return link(['pair', source, target], { from: rfc(at - apart), to: rfc(at + apart), see: 'routes' });
}

const telling = ['trace', 'diagnosis']; // kinds of Results that may tell of a change
const rest = 16000; // ms until what they tell is asked for: the server's answers are up to 15 s old

/** That all hosts report that should. @param {StatusDoc['hosts']} hosts */
function reporting(hosts) {
  const here = hosts.filter((h) => h.state === 'here').length;
  const all = ['No host has to report.', 'The only host that has to report does.', 'Both hosts that have to report do.'];
  return here < hosts.length ? all[here] ?? `All ${here} hosts that have to report do.` : ['', 'The only host reports.', 'Both hosts report.'][here] ?? `All ${here} hosts report.`;
}

/** @param {{troubles: TroubleDoc[]}} props what is wrong: since when is a change, too */
export function News({ troubles }) {
  const { doc, error, reload } = useDoc('api/v1/status');
  // Routes, findings and configurations; without them the rest is shown all the same.
  const { doc: past, reload: renew } = useDoc('api/v1/changes?from=-1d');
  const found = useRef(0);
  useEffect(() => () => clearTimeout(found.current), []);
  const [live, setLive] = useState(/** @type {Change[]} */ ([]));
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEvents((kind, e) => {
    if (kind === 'result' && e.result && telling.includes(e.result.kind) && !found.current) {
      found.current = setTimeout(() => {
        found.current = 0;
        renew();
      }, rest);
    }
    const c = ofEvent(kind, e);
    if (c) setLive((old) => added(old, [c]));
    if ((kind === 'host' || kind === 'plan' || kind === 'missed') && !timer.current) {
      timer.current = setTimeout(() => {
        timer.current = 0;
        setLive((old) => old.filter((c) => !c.key.startsWith('miss'))); // the answer has them
        reload();
      }, 2000);
    }
  });
  if (error && !doc) return html`<${Failure} error=${error} what="The state of the mesh" retry=${reload} />`;
  if (!doc) return null;
  const status = /** @type {StatusDoc} */ (doc);
  const changes = added(live, [...(status.missed ?? []).map(ofMiss), ...(past?.changes ?? []).map(ofChange), ...troubles.flatMap(ofTrouble)]);
  const silent = status.hosts.filter((h) => h.state === 'away');
  const faults = [status.trouble, status.unfiled, status.unread].filter(Boolean);
  return html`
    ${faults.map((t) => html`<p class="failure" role="alert">${t}</p>`)}
    <section aria-labelledby="news"><h2 id="news">Newest changes</h2>
      ${changes.length === 0
        ? html`<p class="quiet">Nothing was missed, no route changed and nobody came or went.</p>`
        : html`<ul class="rows news">${changes.map((c) => html`<li><time dateTime=${new Date(c.at).toISOString()}>${when(c.at).slice(5)}</time>
            <span>${c.href ? html`<a href=${c.href}>${c.text}</a>` : c.text}${c.times > 1 && html` <small>and ${c.times - 1} more like it</small>`}</span></li>`)}</ul>`}
    </section>
    <section aria-labelledby="silent"><h2 id="silent">Not reporting</h2>
      ${silent.length === 0
        ? html`<p class="quiet">${status.hosts.length === 0 ? 'The mesh file names no host.' : `${reporting(status.hosts)}`}</p>`
        : html`<ul class="rows">${silent.slice(0, 3 * shown).map((h) => html`<li><span><b>${h.name}</b> <small>${h.site ?? ''}</small></span>
            <span class="quiet">${h.heard ? `silent for ${span(Date.now() - Date.parse(h.heard))}` : 'never heard of'}</span></li>`)}</ul>
          ${silent.length > 3 * shown && html`<p class="quiet">and ${plural(silent.length - 3 * shown, 'more', 'more')}</p>`}
          <p class="quiet">Is the agent running there, and can it reach the controller? <code>systemctl status pathwise-agent</code></p>`}
    </section>`;
}
