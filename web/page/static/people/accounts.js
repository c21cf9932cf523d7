// Who can sign in, for administrators.
import { html, useState } from '../html.js';
import { useDoc } from '../docs.js';
import { send } from '../api.js';
import { when } from '../times.js';
import { Failure } from '../state.js';
import { Form } from '../account.js';
import { Secret, Sure } from './parts.js';

const roles = ['viewer', 'operator', 'admin'];

/** The link by which an invitation is taken up, of this page. @param {string} invitation */
const welcome = (invitation) => `${location.href.split('#')[0]}#/welcome?token=${encodeURIComponent(invitation)}`;

export function Accounts() {
  const { doc, error, reload } = useDoc('api/v1/accounts');
  const [invited, show] = useState(/** @type {{name: string, invitation: string} | null} */ (null));
  const [wrong, complain] = useState('');
  /** @param {Promise<any>} done */
  const then = (done) => done.then(() => complain(''), (e) => complain(e.message)).finally(reload);
  /** @param {string} name */
  const at = (name) => `api/v1/accounts/${encodeURIComponent(name)}`;
  /** @param {FormData} form */
  const submit = async (form) => {
    show(await send('POST', 'api/v1/accounts', { name: form.get('name'), role: form.get('role') }));
    reload();
  };
  const accounts = /** @type {AccountDoc[]} */ (doc?.accounts ?? []);
  return html`<section aria-labelledby="accounts"><h2 id="accounts">Who can sign in</h2>
    ${error && html`<${Failure} error=${error} what="The list of accounts" retry=${reload} />`}
    ${wrong && html`<p class="failure" role="alert">${wrong}</p>`}
    ${doc && html`<div class="scroll" tabindex="0" role="region" aria-label="Accounts"><table class="list">
      <thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">State</th><th scope="col">Made</th><th scope="col"><span class="hidden">Change</span></th></tr></thead>
      <tbody>${accounts.map((a) => html`<tr key=${a.name}><th scope="row">${a.name}</th>
        <td><select aria-label=${`Role of ${a.name}`} value=${a.role} onChange=${(/** @type {any} */ e) => then(send('PATCH', at(a.name), { role: e.target.value }))}>
          ${roles.map((r) => html`<option value=${r}>${r}</option>`)}</select></td>
        <td>${stateOf(a)}</td><td>${when(a.made)}</td>
        <td><button type="button" onClick=${() => then(send('PATCH', at(a.name), { disabled: !a.disabled }))}>${a.disabled ? 'Let in again' : 'Let in no more'}</button>${' '}
          <button type="button" disabled=${a.disabled} onClick=${() => then(send('POST', at(a.name) + '/invitation').then(show))}>New link</button>${' '}
          <${Sure} what=${`account ${a.name}`} action="Remove" act=${() => then(send('DELETE', at(a.name)))} /></td></tr>`)}</tbody></table></div>`}
    ${invited && html`<${Secret} what=${`The link for ${invited.name}, which works once, for 24 h`} text=${welcome(invited.invitation)} />`}
    <${Form} action="Invite" busy="Making the link …" submit=${submit}>
      <label>Name <input name="name" required autocapitalize="none" spellcheck=${false} /></label>
      <label>Role <select name="role">${roles.map((r) => html`<option value=${r}>${r}</option>`)}</select></label>
    <//>
  </section>`;
}

/** @param {AccountDoc} a */
function stateOf(a) {
  if (a.disabled) return 'not let in';
  if (a.invited_until && Date.parse(a.invited_until) > Date.now()) return `${a.password ? 'has a password, and ' : ''}a link until ${when(a.invited_until)}`;
  return a.password ? 'has a password' : 'its link has run out';
}
