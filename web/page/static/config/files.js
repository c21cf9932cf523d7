// Which of the files is shown, where there are several; to add one, and to take one away.
import { html, useState } from '../html.js';
import { change, textOf, withFile } from './draft.js';

/**
 * What is wrong with the name of a new file; '' if nothing is.
 * @param {string} name
 * @param {FileDoc[]} files
 */
export function wrongName(name, files) {
  if (!/^[^./\\\s][^/\\]*\.ya?ml$/.test(name)) return 'Want NAME.yaml, without a folder.';
  return textOf(files, name) === undefined ? '' : 'There is one of that name.';
}

/** @param {{draft: import('./draft.js').Draft, folder: boolean}} props */
export function Files({ draft, folder }) {
  const [wrong, set] = useState('');
  if (!folder) return html`<h2>${draft.shown || 'Mesh file'}</h2>`;
  /** @param {SubmitEvent} e */
  const add = (e) => {
    e.preventDefault();
    const form = /** @type {HTMLFormElement} */ (e.target);
    const name = String(new FormData(form).get('name')).trim();
    const why = wrongName(name, draft.files);
    set(why);
    if (why) return;
    change({ files: withFile(draft.files, name, '# ' + name + '\n'), shown: name });
    form.reset();
  };
  const takeAway = () => {
    const left = withFile(draft.files, draft.shown, null);
    change({ files: left, shown: left[0]?.name ?? '', aside: draft.files });
  };
  return html`<div class="controls">
    <span class="choice" role="group" aria-label="Files">${draft.files.map((f) => html`<button type="button" key=${f.name} aria-pressed=${f.name === draft.shown}
      onClick=${() => change({ shown: f.name })}>${f.name}${mark(draft, f)}</button>`)}</span>
    ${draft.files.length > 1 && html`<button type="button" onClick=${takeAway}>Remove ${draft.shown}</button>`}
    <form onSubmit=${add}><label>New file <input name="name" placeholder="NAME.yaml" autocapitalize="none" autocomplete="off" spellcheck=${false} size="14" /></label> <button>Add</button></form>
    ${wrong && html`<span role="alert">${wrong}</span>`}
  </div>`;
}

/** @param {import('./draft.js').Draft} draft @param {FileDoc} f */
function mark(draft, f) {
  const was = textOf(draft.base.files, f.name);
  return was === undefined ? ' (new)' : was === f.text ? '' : ' (changed)';
}
