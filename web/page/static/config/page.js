// Configuration: the mesh file, checked while it is written, with what would come of it; saved as a new version; reverted.
import { html, useEffect, useRef, useState } from '../html.js';
import { send, ApiError } from '../api.js';
import { useDoc } from '../docs.js';
import { here, link } from '../router.js';
import { when, zoneName } from '../times.js';
import { Failure, Loading } from '../state.js';
import { begin, change, differ, dirty, put, replace, textOf, useDraft, withFile } from './draft.js';
import { Editor } from './editor.js';
import { Files } from './files.js';
import { History } from './history.js';
import { Consequences, Diff, Errors } from './outcome.js';
import { useCheck } from './check.js';

/** @param {{account: import('../account.js').Account}} props */
export function Configuration({ account }) {
  if (account.me && !account.me.scopes?.includes('admin')) {
    return html`<h1 tabindex="-1">Configuration</h1><div class="empty"><p><strong>The mesh file is for administrators.</strong></p>
      <p>It may hold secrets. ${account.me.name ? 'An administrator can change the role of your account.' : html`<a href=${link(['sign-in'], { then: here().href })}>Sign in</a> if you are one.`}</p></div>`;
  }
  return account.me ? html`<${Desk} />` : html`<h1 tabindex="-1">Configuration</h1><${Loading} of="your account" />`;
}

function Desk() {
  const { doc, error, reload } = useDoc('api/v1/config');
  const history = useDoc('api/v1/config/history');
  const draft = useDraft();
  useEffect(() => {
    if (doc && (!draft || (!dirty(draft) && draft.base.version !== doc.version))) put(begin(doc, draft?.shown));
  }, [doc]);
  useEffect(() => {
    // The controller looks for changes every two seconds, and says when what it found is in force.
    if (!doc || doc.trouble || doc.in_force === doc.version) return;
    const timer = setTimeout(reload, 1000);
    return () => clearTimeout(timer);
  });
  const again = () => { reload(); history.reload(); };
  if (!draft || !doc) {
    return html`<h1 tabindex="-1">Configuration</h1>
      ${error ? html`<${Failure} error=${error} what="The mesh file" retry=${again} />` : html`<${Loading} of="the mesh file" />`}`;
  }
  return html`<h1 tabindex="-1">Configuration</h1>
    ${error && html`<${Failure} error=${error} what="The mesh file as it is now" retry=${again} />`}
    <${State} doc=${doc} />
    <${Work} draft=${draft} doc=${doc} saved=${again} />
    ${history.error && html`<${Failure} error=${history.error} what="Its history" retry=${history.reload} />`}
    ${history.doc && html`<${History} doc=${history.doc} revert=${revert} />`}`;
}

/** @param {ConfigPastDoc} past */
function revert(past) {
  replace(past.files, `as it was on ${when(past.at)} ${zoneName()}`);
  document.getElementById('text')?.focus();
}

/** Whether what is on disk is in force. @param {{doc: ConfigDoc}} props */
function State({ doc }) {
  if (doc.trouble) {
    return html`<div class="failure" role="alert"><p><strong>What is on disk is not in force: the mesh goes on as it was before.</strong></p>
      ${doc.trouble.split('\n').slice(0, 5).map((l) => html`<p>${l}</p>`)}</div>`;
  }
  return html`<p class="quiet" role="status">${doc.in_force === doc.version
    ? 'What is on disk is in force.' : 'What is on disk comes into force within seconds.'}</p>`;
}

/** @param {{draft: import('./draft.js').Draft, doc: ConfigDoc, saved: () => void}} props */
function Work({ draft, doc, saved }) {
  const { outcome, error, busy, now } = useCheck(draft.files, doc.version);
  const [goto, setGoto] = useState(/** @type {{line: number, column: number} | null} */ (null));
  const [state, set] = useState({ saving: false, said: '', wrong: '' });
  const note = useRef(/** @type {HTMLElement | null} */ (null));
  const errors = outcome?.errors ?? [];
  const changed = dirty(draft);
  const overtaken = changed && draft.base.version !== doc.version;
  const text = textOf(draft.files, draft.shown);
  useEffect(() => {
    if (outcome && outcome.version !== doc.version) saved(); // somebody changed it
  }, [outcome]);
  useEffect(() => {
    if (state.wrong) note.current?.focus();
  }, [state.wrong]);
  /** @param {ConfigProblem} e */
  const show = (e) => {
    if (e.file) change({ shown: e.file });
    setGoto({ line: e.line, column: e.column });
  };
  /** @param {SubmitEvent} e */
  const save = async (e) => {
    e.preventDefault();
    set({ saving: true, said: '', wrong: '' });
    try {
      const { saved } = await send('PUT', 'api/v1/config', { version: draft.base.version, files: draft.files, comment: draft.comment });
      change({ base: { ...draft.base, version: saved.version, files: draft.files }, comment: '', aside: null });
      set({ saving: false, said: 'Saved.', wrong: '' });
    } catch (e) {
      set({ saving: false, said: '', wrong: e instanceof ApiError ? e.message : String(e) });
    }
    saved();
  };
  const ready = changed && !busy && !error && !overtaken && errors.length === 0 && !doc.read_only;
  const why = doc.read_only ? 'It cannot be saved here: ' + doc.read_only + '.' : !changed ? 'Nothing is changed.' : overtaken ? 'Somebody else changed the file meanwhile.' : busy ? 'It is being checked.'
    : error ? 'It could not be checked.' : errors.length > 0 ? 'Its errors are to be mended first.' : 'It has no errors.';
  return html`<div class="configuration">
    <section aria-label="Text">
      <${Files} draft=${draft} folder=${doc.folder} />
      ${text === undefined
        ? html`<p class="empty">There is no mesh file. Revert to a version of the history, or write one.</p>`
        : html`<${Editor} key=${draft.shown} name=${draft.shown} text=${text} errors=${errors.filter((e) => e.file === draft.shown)} goto=${goto} went=${() => setGoto(null)}
            change=${(/** @type {string} */ t) => change({ files: withFile(draft.files, draft.shown, t) })} />`}
      <p class="controls"><button type="button" onClick=${now}>Check</button>
        <button type="button" disabled=${!changed} onClick=${() => replace(draft.base.files, '')}>Begin again from disk</button>
        ${draft.aside && differ(draft.aside, draft.files) && html`<button type="button" onClick=${() => draft.aside && replace(draft.aside, draft.comment)}>Back to the text before</button>`}
        <span id="checked" role="status">${busy ? 'Checking …' : error ? '' : errors.length > 0 ? `Checked: ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}.` : 'Checked: no errors.'}</span></p>
      ${overtaken && html`<div class="failure" role="alert"><p><strong>Somebody else changed the file while you wrote.</strong> Your text is still here.</p>
        <p><button type="button" onClick=${() => change({ base: doc })}>Compare my text with theirs</button>
          <button type="button" onClick=${() => { change({ base: doc }); replace(doc.files, ''); }}>Take theirs</button></p></div>`}
      <form class="save" onSubmit=${save}>
        ${!doc.read_only && html`<label>Why, for those who look later <input name="comment" maxlength="500" value=${draft.comment} autocomplete="off"
          onInput=${(/** @type {any} */ e) => change({ comment: e.target.value })} /></label>
        <button disabled=${!ready || state.saving} aria-describedby="why">${state.saving ? 'Saving …' : 'Save'}</button>`}
        <span id="why" class="quiet" role="status">${state.said && !changed ? state.said : why}</span>
      </form>
      ${state.wrong && html`<p class="failure" role="alert" tabindex="-1" ref=${note}><strong>Not saved.</strong> ${state.wrong}</p>`}
    </section>
    <div class=${busy ? 'busy' : ''} aria-busy=${busy}>
      ${error && html`<${Failure} error=${error} what="What would come of it" retry=${now} />`}
      ${errors.length > 0 && html`<${Errors} errors=${errors} several=${doc.folder} goto=${show} />`}
      ${outcome && html`<${Consequences} outcome=${outcome} />`}
      ${outcome?.diff && html`<section aria-labelledby="diff"><h2 id="diff">Difference<small> from what is on disk</small></h2><${Diff} text=${outcome.diff} label="Difference" /></section>`}
    </div>
  </div>`;
}
