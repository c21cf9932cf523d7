// The lane above the graphs: what happened when, as marks that one walks through by arrow keys, and as a list.
import { html, useMemo, useRef, useState } from '../html.js';
import { url } from '../api.js';
import { useDocs } from '../docs.js';
import { plural } from '../format.js';
import { link } from '../router.js';
import { rfc, when } from '../times.js';
import { Failure } from '../state.js';
import { waysOf } from './compare.js';
import { grouped, kinds, letterOf, merged, mostChanges, sentence } from './happened.js';
import { drawn } from './range.js';

/** @typedef {import('./happened.js').Change} Change */
/** @typedef {[string, string]} Pair */
/** @typedef {import('../router.js').Route} Route */

/**
 * What happened in a span; changes is null before it is known.
 * @param {Pair} pair
 * @param {import('./range.js').Range} range
 * @param {number | null} turn
 */
export function useChanges(pair, range, turn) {
  const at = { from: rfc(range.from), to: rfc(range.to) };
  const paths = waysOf(pair).map(([source, target]) => url(['changes'], { source, target, ...at }));
  const { doc, error, reload } = useDocs(paths, turn);
  const changes = useMemo(() => (doc?.[0] ? merged(doc) : null), [doc]);
  const cut = Boolean(doc?.some((/** @type {ChangesDoc | null} */ d) => (d?.changes?.length ?? 0) >= mostChanges));
  return { changes, cut, error, reload };
}

/**
 * @param {{happened: ReturnType<typeof useChanges>, pair: Pair, range: import('./range.js').Range, route: Route}} props
 */
export function Lane({ happened: { changes, cut, error, reload }, pair, range, route }) {
  const [chosen, choose] = useState(-1); // the time of the mark that is told of: marks come and go while it is read
  const [open, setOpen] = useState(false);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const groups = useMemo(() => grouped(changes ?? [], range, Math.max(8, Math.floor(innerWidth / 36))), [changes, range.from, range.to]);
  const at = groups.findIndex((g) => g.at === chosen);
  const stop = at < 0 ? groups.length - 1 : at; // the mark that Tab leads to
  /** @param {KeyboardEvent} e @param {number} i */
  const press = (e, i) => {
    const to = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: groups.length - 1 }[e.key];
    if (to === undefined || e.ctrlKey || e.altKey || e.metaKey) return;
    e.preventDefault();
    /** @type {HTMLElement | undefined} */ (box.current?.children[Math.max(0, Math.min(groups.length - 1, to))])?.focus();
  };
  /** @param {Change} c */
  const toList = (c) => {
    setOpen(true);
    requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(idOf(c))?.focus()));
  };
  const group = groups[at];
  return html`<section class="lane" aria-label="What happened">
    ${error && html`<${Failure} error=${error} what="What happened" retry=${reload} />`}
    <div class="marks" ref=${box} role="group" aria-label="Marks on the time line; arrow keys go through them, Enter leads to the list">
      ${groups.map((g, i) => html`<button type="button" key=${g.at} class=${'event ' + g.worst.severity} tabindex=${i === stop ? 0 : -1}
        style=${{ left: `${(100 * (g.at - range.from)) / (range.to - range.from)}%` }} aria-label=${`${letterOf(g)}: ${wording(g, pair)}`}
        onKeyDown=${(/** @type {KeyboardEvent} */ e) => press(e, i)} onFocus=${() => choose(g.at)} onMouseEnter=${() => choose(g.at)}
        onClick=${() => toList(g.changes[0])}><${Mark} kind=${g.worst.kind} letter=${letterOf(g)} /></button>`)}
    </div>
    <p class="told">${group ? html`<${Told} group=${group} pair=${pair} route=${route} />` : !changes ? html`<span class="quiet">What happened: ${error ? 'not known' : 'loading …'}</span>`
      : !groups.length ? html`<span class="quiet">No route change, finding, change of what is measured or change of configuration is known in this span.</span>`
      : html`<span class="quiet">${Object.entries(kinds).map(([kind, k]) => html`<${Mark} kind=${kind} letter=${k.letter} /> ${k.word} `)}</span>`}</p>
    ${groups.length > 0 && html`<details open=${open} onToggle=${(/** @type {any} */ e) => setOpen(e.target.open)}><summary>All ${plural(changes?.length ?? 0, 'change')}, newest first</summary>
      ${open && html`<${List} changes=${changes ?? []} pair=${pair} route=${route} />`}${cut && html`<p class="quiet">There are more: the newest ${mostChanges} are shown.</p>`}</details>`}
  </section>`;
}

/** @param {import('./happened.js').Group} g @param {Pair} pair */
const wording = (g, pair) => g.changes.slice(0, 5).map((c) => `${when(c.t, 'second')}: ${sentence(c, pair)}`).join('. ')
  + (g.changes.length > 5 ? `. And ${g.changes.length - 5} more` : '');

/** @param {{group: import('./happened.js').Group, pair: Pair, route: Route}} props */
function Told({ group: { changes: [c, ...more] }, pair, route }) {
  return html`${when(c.t, 'second')} <${Links} c=${c} route=${route} /> <b>${sentence(c, pair)}</b>${more.length > 0 && ` and ${plural(more.length, 'more change')} near it`}`;
}

/** Where one goes from a change: to what it was, and to the graphs around it. @param {{c: Change, route: Route}} props */
function Links({ c, route }) {
  const about = c.kind === 'configuration' ? ['config'] : c.result ? ['result', c.result] : null;
  const around = { ...Object.fromEntries(route.query), ...drawn(c.t - 1800e3, c.t + 1800e3) };
  return html`${about && html`<a href=${link(about)}>${c.kind === 'configuration' ? 'Configuration' : 'Result'}</a> `}
    <a href=${link(route.path, around)}>Hour<span class="hidden"> around ${when(c.t)}</span></a>`;
}

/** @param {{changes: Change[], pair: Pair, route: Route}} props */
const List = ({ changes, pair, route }) => html`<div class="scroll changes" tabindex="0" role="region" aria-label="All that happened"><table class="list">
  <thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Path</th><th scope="col">Severity</th><th scope="col">See</th><th scope="col">In words</th></tr></thead>
  <tbody>${[...changes].reverse().map((c) => html`<tr key=${idOf(c) + c.text} id=${idOf(c)} tabindex="-1"><th scope="row">${when(c.t, 'second')}</th>
    <td><${Mark} kind=${c.kind} letter=${kinds[c.kind].letter} /> ${kinds[c.kind].word}</td><td>${c.way === null ? 'both ways' : `${pair[c.way]} → ${pair[1 - c.way]}`}</td>
    <td class=${{ info: '', warning: 'is-partial', problem: 'is-failed' }[c.severity]}>${c.severity}</td><td><${Links} c=${c} route=${route} /></td>
    <td>${c.text}${c.by && html` <span class="quiet">by ${c.by}</span>`}</td></tr>`)}</tbody></table></div>`;

/** @param {Change} c */
const idOf = (c) => `change-${c.kind}-${c.t}-${c.way ?? 2}`;

/** A shape and a letter. @param {{kind: Change['kind'], letter: string}} props */
const Mark = ({ kind, letter }) => html`<svg class="glyph" viewBox="0 0 24 24" aria-hidden="true"><path d=${kinds[kind].shape} />
  <text x="12" y=${kind === 'finding' ? 19 : 16.5} text-anchor="middle" style=${{ fontSize: letter.length > 1 ? '10px' : null }}>${letter}</text></svg>`;
