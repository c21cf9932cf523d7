// One's own password and tokens; for administrators, who else can sign in, and who did what.
import { html } from '../html.js';
import { useDoc } from '../docs.js';
import { send } from '../api.js';
import { link, here } from '../router.js';
import { when, zoneName } from '../times.js';
import { Failure } from '../state.js';
import { Form } from '../account.js';
import { Tokens } from './tokens.js';
import { Accounts } from './accounts.js';

/** @param {{account: import('../account.js').Account}} props */
export function People({ account }) {
  const me = account.me;
  if (!me) return null;
  const admin = me.scopes?.includes('admin');
  return html`<h1 tabindex="-1">${me.name ? `Account ${me.name}` : 'Account'}</h1>
    ${me.kind !== 'account'
      ? html`<p>You have not signed in. <a href=${link(['sign-in'], { then: here().href })}>Sign in</a></p>`
      : html`<p class="quiet">Role: ${me.role}. It may ${listed((me.scopes ?? []).map((s) => may[s]))}.</p>`}
    ${admin && html`<${Accounts} />`}
    ${me.kind === 'account' && html`<${Tokens} scopes=${me.scopes ?? []} all=${admin} /><${Password} me=${me} />`}
    ${admin && html`<${Audit} />`}`;
}

/** Some things as a part of a sentence: a, and b. @param {string[]} all */
const listed = (all) => [all.slice(0, -1).join(', '), all.at(-1)].filter(Boolean).join(', and ');

/** @type {Record<string, string>} */
const may = { read: 'look', run: 'start tests and diagnoses', admin: 'change the configuration and let others in' };

/** @param {{me: MeDoc}} props */
function Password({ me }) {
  /** @param {FormData} form */
  const submit = async (form) => {
    const password = String(form.get('password'));
    if (password.length < me.shortest_password) throw new Error(`The password is too short: want at least ${me.shortest_password} characters, such as four words.`);
    if (password !== form.get('again')) throw new Error('The two passwords differ. Type the same one twice.');
    await send('POST', 'api/v1/password', { old: form.get('old'), password });
    location.assign(link(['sign-in'])); // all sessions have ended, this one too
    location.reload();
  };
  return html`<section aria-labelledby="password"><h2 id="password">Another password</h2>
    <${Form} action="Change password" busy="Changing it …" submit=${submit}>
      <label>The one you have <input name="old" type="password" autocomplete="current-password" required /></label>
      <label>The new one <input name="password" type="password" autocomplete="new-password" required /></label>
      <label>The same again <input name="again" type="password" autocomplete="new-password" required /></label>
      <p class="quiet">You sign in anew then, everywhere.</p>
    <//></section>`;
}

/** Who did what, newest first: a page of it. */
function Audit() {
  const { doc, error, reload } = useDoc('api/v1/audit?limit=50');
  const entries = /** @type {AuditEntry[]} */ (doc?.entries ?? []);
  return html`<section aria-labelledby="audit"><h2 id="audit">Who did what</h2>
    ${error && html`<${Failure} error=${error} what="The audit log" retry=${reload} />`}
    ${doc && html`<p class="quiet">The newest 50; all of them: <code>api/v1/audit</code>. Times are ${zoneName()}.</p>
      <div class="scroll" tabindex="0" role="region" aria-label="Audit log"><table class="list">
        <thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">From</th><th scope="col">What</th><th scope="col">Outcome</th></tr></thead>
        <tbody>${entries.map((e) => html`<tr><th scope="row">${when(e.time, 'second')}</th><td>${e.who || e.kind}</td><td>${e.from ?? 'this machine'}</td>
          <td>${e.what}${e.on && ` ${e.on}`}</td><td class=${e.outcome === 'ok' || e.outcome === 'asked' ? '' : 'is-failed'}>${e.outcome}</td></tr>`)}</tbody></table></div>`}
  </section>`;
}
