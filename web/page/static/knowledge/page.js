// The knowledge base: what findings, metrics, formulas, faults and terms mean, with a search as one types.
import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { Drawing } from '../calc/drawing.js';
import { useDoc } from '../docs.js';
import { plural } from '../format.js';
import { change, here, link } from '../router.js';
import { Failure, Loading } from '../state.js';
import { related, search } from './search.js';

/** @type {Record<string, string>} */
const heads = { finding: 'Findings of a diagnosis', term: 'Terms', formula: 'Formulas', metric: 'Metrics', setting: 'Settings and counts of a host', fault: 'Faults that the lab can play' };
const pause = 250; // ms without a key before the URL has what is searched for
const mostFound = 60; // of a search: further ones are no help

/** @param {{route: import('../router.js').Route}} props */
export function Knowledge({ route }) {
  const { doc, error, reload } = useDoc('api/v1/knowledge');
  const id = route.path[1];
  const entry = doc?.entries.find((/** @type {KnowledgeEntry} */ e) => e.id === id);
  // The heading stays the same element when the entries come: it has the focus.
  return html`
    <h1 tabindex="-1">${!id ? 'Knowledge' : (entry?.title ?? (doc ? 'No such entry' : id))}</h1>
    ${error && html`<${Failure} error=${error} what="The knowledge base" retry=${reload} />`}
    ${!doc && !error && html`<${Loading} of="the knowledge base" />`}
    ${doc && (entry ? html`<${One} entries=${doc.entries} e=${entry} />`
      : id ? html`<p>There is no entry <code>${id}</code>. <a href=${link(['knowledge'], { q: id.replaceAll(/[-_]/g, ' ') })}>Search for it.</a></p>`
        : html`<${All} entries=${doc.entries} query=${route.query.get('q') ?? ''} />`)}`;
}

/** @param {{entries: KnowledgeEntry[], query: string}} props */
function All({ entries, query }) {
  const [typed, type] = useState(query);
  const written = useRef(query);
  useEffect(() => { // somebody went to another URL
    if (query !== written.current) type(query);
    written.current = query;
  }, [query]);
  useEffect(() => {
    const later = setTimeout(() => {
      const { path, query: shown } = here();
      if (path.join() !== 'knowledge' || (shown.get('q') ?? '') !== written.current) return; // somebody has just gone to another URL
      written.current = typed.trim();
      change({ q: typed.trim() || null }, { replace: true });
    }, pause);
    return () => clearTimeout(later);
  }, [typed]);
  const found = useMemo(() => search(entries, typed), [entries, typed]);
  const searching = typed.trim() !== '';
  return html`
    <search class="controls"><label>Search <input type="search" name="q" value=${typed} autocomplete="off" spellcheck=${false}
      onInput=${(/** @type {any} */ e) => type(e.target.value)} /></label>
      <span class="quiet" role="status">${searching ? (found.length ? plural(found.length, 'entry', 'entries') : 'Nothing has all these words.') : ''}</span></search>
    ${searching
      ? html`<${List} entries=${found.slice(0, mostFound)} kinds />`
      : Object.entries(heads).map(([kind, head]) => html`<section key=${kind} aria-labelledby=${kind}>
          <h2 id=${kind}>${head}</h2>${fieldsOf(entries.filter((e) => e.kind === kind)).map(([field, of]) => html`
            ${field && html`<h3>${field}</h3>`}<${List} entries=${of} />`)}</section>`)}`;
}

/**
 * Entries by the field that they stand under, in their order; those of no field are one list.
 * @param {KnowledgeEntry[]} entries
 * @returns {[string, KnowledgeEntry[]][]}
 */
function fieldsOf(entries) {
  const of = new Map();
  for (const e of entries) of.set(e.field ?? '', [...(of.get(e.field ?? '') ?? []), e]);
  return [...of];
}

/** @param {{entries: KnowledgeEntry[], kinds?: boolean}} props */
const List = ({ entries, kinds }) => html`<ul class="entries">${entries.map((e) => html`<li key=${e.id}>
  <a href=${link(['knowledge', e.id])}>${e.title}</a> <small>${e.id}${kinds && `, ${e.kind}`}</small></li>`)}</ul>`;

/** @param {{entries: KnowledgeEntry[], e: KnowledgeEntry}} props */
function One({ entries, e }) {
  const others = related(entries, e);
  return html`<article class="entry">
    <p class="quiet"><code>${e.id}</code>, ${e.kind}${e.also && `, also: ${e.also.join(', ')}`} · <a href=${link(['knowledge'])}>All entries</a></p>
    <p>${e.text}</p>
    ${e.shows && html`<h2>How it shows</h2><p>${e.shows}</p>`}
    ${e.cure && html`<h2>What to do</h2><p>${e.cure}</p>`}
    ${e.picture && html`<${Drawing} drawing=${e.picture} marked=${e.picture.marked} /><p>${e.picture.text}</p>`}
    ${e.kind === 'formula' && html`<p><a class="button" href=${link(['calc', e.id])}>Work it out</a></p>`}
    ${e.kind === 'metric' && html`<p><a class="button" href=${link([], { metric: e.id })}>Between all hosts</a></p>`}
    ${others.length > 0 && html`<h2>See also</h2><${List} entries=${others} kinds />`}
    ${e.source && html`<p class="quiet">Source: ${e.source}</p>`}
  </article>`;
}
