// The tokens of programs.
import { html, useState } from '../html.js';
import { useDoc } from '../docs.js';
import { send } from '../api.js';
import { when } from '../times.js';
import { Failure } from '../state.js';
import { Form } from '../account.js';
import { Secret, Sure } from './parts.js';

/** @param {{scopes: string[], all: boolean}} props */
export function Tokens({ scopes, all }) {
  const { doc, error, reload } = useDoc('api/v1/tokens');
  const [made, show] = useState(/** @type {{name: string, token: string} | null} */ (null));
  /** @param {FormData} form */
  const submit = async (form) => {
    show(await send('POST', 'api/v1/tokens', { name: form.get('name'), scopes: form.getAll('scope') }));
    reload();
  };
  const tokens = /** @type {TokenDoc[]} */ (doc?.tokens ?? []);
  return html`<section aria-labelledby="tokens"><h2 id="tokens">${all ? 'Tokens' : 'Your tokens'}</h2>
    <p class="quiet">A program shows a token in place of a password: <code>Authorization: Bearer TOKEN</code>.</p>
    ${error && html`<${Failure} error=${error} what="The list of tokens" retry=${reload} />`}
    ${tokens.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="Tokens"><table class="list">
      <thead><tr><th scope="col">Name</th><th scope="col">May</th><th scope="col">Made by</th><th scope="col">Made</th><th scope="col">Used last</th><th scope="col"><span class="hidden">Remove</span></th></tr></thead>
      <tbody>${tokens.map((t) => html`<tr key=${t.name}><th scope="row">${t.name}</th><td>${t.scopes.join(', ')}</td><td>${t.made_by || 'the owner'}</td><td>${when(t.made)}</td>
        <td>${t.used ? when(t.used) : 'never'}</td>
        <td><${Sure} what=${`token ${t.name}`} action="Remove" act=${() => send('DELETE', `api/v1/tokens/${encodeURIComponent(t.name)}`).then(reload)} /></td></tr>`)}</tbody></table></div>`}
    ${made && html`<${Secret} what=${`The token ${made.name}`} text=${made.token} />`}
    <${Form} action="Make a token" busy="Making it …" submit=${submit}>
      <label>Name <input name="name" required autocapitalize="none" spellcheck=${false} /></label>
      <fieldset><legend>It may</legend>${scopes.map((s) => html`<label><input type="checkbox" name="scope" value=${s} checked=${s === 'read'} /> ${s}</label>`)}</fieldset>
    <//>
  </section>`;
}
