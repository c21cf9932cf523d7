// The head of the page: both ends, what was last found of the path, and where one tests it.
import { html } from '../html.js';
import { url } from '../api.js';
import { useDoc, useDocs } from '../docs.js';
import { link } from '../router.js';
import { when } from '../times.js';
import { exactly } from './graphs.js';

/** @typedef {[string, string]} Pair */

/** @param {{pair: Pair, query: URLSearchParams, wanted: boolean, turn: number}} props wanted: the first graph stands */
export const Head = ({ pair, query, wanted, turn }) => html`
  <h1 tabindex="-1">${pair[0]} → ${pair[1]} <a class="button" href=${link(['pair', pair[1], pair[0]], Object.fromEntries(query))}>Reverse</a>
    ${' '}<a class="button" href=${link(['test'], { source: pair[0], target: pair[1] })}>Test or diagnose this path</a></h1>
  <div class="ends"><${Ends} pair=${pair} wanted=${wanted} /><${Verdict} pair=${pair} wanted=${wanted} turn=${turn} /></div>`;

/** Where both ends are, and whether they report. @param {{pair: Pair, wanted: boolean}} props */
function Ends({ pair, wanted }) {
  const { doc } = useDoc(wanted ? 'api/v1/hosts' : null);
  const hosts = /** @type {HostDoc[] | null} */ (doc?.hosts ?? null);
  return pair.map((name) => {
    const h = hosts?.find((o) => o.name === name);
    const state = !hosts ? '' : !h ? 'not in the mesh file' : { here: 'reports', away: 'does not report', foreign: 'answers only', offline: 'offline by the mesh file' }[h.state];
    return html`<span><b>${name}</b> ${h?.site ?? ''} <span class=${hosts && (h?.state === 'away' || !h) ? 'is-failed' : 'quiet'}>${state}</span></span>`;
  });
}

/** What the newest diagnosis of either direction said. @param {{pair: Pair, wanted: boolean, turn: number}} props */
function Verdict({ pair: [a, b], wanted, turn }) {
  const { doc } = useDocs([[a, b], [b, a]].map(([source, target]) => (wanted
    ? url(['results'], { kind: 'diagnosis', source: exactly(source), target: exactly(target), limit: 1 }) : null)), turn);
  /** @type {ResultDoc | undefined} */
  const r = doc?.flatMap((/** @type {ResultsDoc | null} */ d) => d?.results ?? []).sort((x, y) => Date.parse(y.started) - Date.parse(x.started))[0];
  if (!r) return null;
  const verdict = r.status === 'failed' ? 'it failed' : String(r.parameters?.verdict ?? 'no verdict');
  const way = r.source.name === a ? '' : `, ${r.source.name} → ${r.target.name}`;
  return html`<span>Last diagnosis: <a href=${link(['result', r.id])}>${verdict}</a> <span class="quiet">${when(r.started)}${way}</span></span>`;
}
