// The head of the page: both ends, what was last found of the path, and where one tests it.
import { html } from '../html.js';
import { exactly, url } from '../api.js';
import { useDocs } from '../docs.js';
import { link } from '../router.js';
import { when } from '../times.js';
import { useTitles } from '../result/titles.js';
import { unaskedWords } from '../result/unasked.js';

/** @typedef {[string, string]} Pair */

/** @param {{pair: Pair, query: URLSearchParams}} props */
export const Head = ({ pair, query }) => (pair[0] === pair[1]
  ? html`<h1 tabindex="-1">${pair[0]}, by itself</h1><p><a class="button" href=${link(['hosts', pair[0]])}>All of this host</a></p>` : html`
  <h1 tabindex="-1">${pair[0]} → ${pair[1]} <a class="button" href=${link(['pair', pair[1], pair[0]], Object.fromEntries(query))}>Reverse</a>
    ${' '}<a class="button" href=${link(['test'], { source: pair[0], target: pair[1] })}>Test or diagnose this path</a></h1>`);

/** What is known of both ends, and was last found of the path. @param {{pair: Pair, turn: number | null}} props */
export const About = ({ pair, turn }) => html`<div class="ends"><${Ends} pair=${pair} turn=${turn} /><${Verdict} pair=${pair} turn=${turn} /></div>`;

/** Where both ends are, and whether they report. @param {{pair: Pair, turn: number | null}} props */
function Ends({ pair, turn }) {
  const { doc, error } = useDocs(['api/v1/hosts'], turn && 0); // once: it has all hosts of the mesh
  const hosts = /** @type {HostDoc[] | null} */ (doc?.[0].hosts ?? null);
  return pair.map((name) => {
    const h = hosts?.find((o) => o.name === name);
    const state = error ? 'its state is not known' : !hosts ? '' : !h ? 'not in the mesh file' : { here: 'reports', away: 'does not report', foreign: 'answers only', offline: 'offline by the mesh file' }[h.state];
    return html`<span>${h ? html`<a href=${link(['hosts', name])}><b>${name}</b></a>` : html`<b>${name}</b>`} ${h?.site ?? ''} <span class=${hosts && (h?.state === 'away' || !h) ? 'is-failed' : 'quiet'}>${state}</span></span>`;
  });
}

/** What the newest diagnosis of either direction said. @param {{pair: Pair, turn: number | null}} props */
function Verdict({ pair: [a, b], turn }) {
  const { doc, error } = useDocs([[a, b], [b, a]].map(([source, target]) =>
    url(['results'], { kind: 'diagnosis', source: exactly(source), target: exactly(target), limit: 1 })), turn);
  const title = useTitles();
  /** @type {ResultDoc | undefined} */
  const r = doc?.flatMap((/** @type {ResultsDoc} */ d) => d.results).sort((x, y) => Date.parse(y.started) - Date.parse(x.started))[0];
  if (error) return html`<span class="quiet">Last diagnosis: not known, ${error.message}</span>`;
  if (!r) return null;
  const verdict = r.status === 'failed' ? 'it failed' : r.parameters?.verdict ? title(String(r.parameters.verdict)) : 'no verdict';
  const way = r.source.name === a ? '' : `, ${r.source.name} → ${r.target.name}`;
  const unasked = unaskedWords(r.parameters?.trouble);
  return html`<span>Last diagnosis: <a href=${link(['result', r.id])}>${verdict}</a> <span class="quiet">${when(r.started)}${way}${unasked && `, ${unasked}`}</span></span>`;
}
