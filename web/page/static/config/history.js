// The versions that were saved, on these pages or with an editor; what each changed, and a way back to it.
import { html, useState } from '../html.js';
import { get, url } from '../api.js';
import { when, zoneName } from '../times.js';
import { Diff } from './outcome.js';

const few = 10; // versions are shown at first

/** @param {{doc: ConfigHistoryDoc, revert: (past: ConfigPastDoc) => void}} props */
export function History({ doc, revert }) {
  const [all, showAll] = useState(false);
  const versions = doc.versions ?? [];
  return html`<section aria-labelledby="history"><h2 id="history">History<small>: the last ${doc.kept} versions are kept</small></h2>
    ${versions.length === 0 && html`<p class="quiet">No version was noted yet.</p>`}
    <ol class="versions">${(all ? versions : versions.slice(0, few)).map((v) => html`<${Entry} key=${v.id} version=${v} revert=${revert} />`)}</ol>
    ${!all && versions.length > few && html`<button type="button" onClick=${() => showAll(true)}>Show all ${versions.length}</button>`}
  </section>`;
}

/** @param {{version: ConfigVersionDoc, revert: (past: ConfigPastDoc) => void}} props */
function Entry({ version: v, revert }) {
  const [past, set] = useState(/** @type {ConfigPastDoc | null} */ (null));
  const [open, setOpen] = useState(false);
  const [wrong, setWrong] = useState('');
  const at = `${when(v.at)} ${zoneName()}`;
  /** @param {(past: ConfigPastDoc) => void} then */
  const load = async (then) => {
    try {
      const got = past ?? await get(url(['config', 'history', v.id]));
      set(got);
      setWrong('');
      then(got);
    } catch (e) {
      setWrong(e instanceof Error ? e.message : String(e));
    }
  };
  return html`<li>
    <p><time datetime=${v.at}>${at}</time> <strong>${v.by || 'with an editor on the controller\'s machine'}</strong>
      ${v.comment && html`<span class="comment">${v.comment}</span>`} ${v.current && html`<em>on disk now</em>`}</p>
    <p><button type="button" aria-expanded=${open} aria-label=${`What changed, ${at}`} onClick=${() => load(() => setOpen(!open))}>What changed</button>
      ${!v.current && html` <button type="button" aria-label=${`Revert to this, ${at}`} onClick=${() => load(revert)}>Revert to this</button>`}</p>
    ${wrong && html`<p class="failure" role="alert">${wrong}</p>`}
    ${open && past && (past.diff ? html`<${Diff} text=${past.diff} label=${`What changed, ${at}`} />` : html`<p class="quiet">There is no version before it to compare it with.</p>`)}
  </li>`;
}
