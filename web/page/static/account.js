// Who looks at the page, and how they sign in or accept an invitation.
import { html, useEffect, useRef, useState } from './html.js';
import { send, ApiError } from './api.js';
import { useDoc } from './docs.js';
import { permit } from './events.js';
import { go, link, here } from './router.js';

/** @typedef {{me: MeDoc | null, reload: () => void}} Account */

/** @returns {Account} */
export function useAccount() {
  const { doc, error, reload } = useDoc('api/v1/me');
  useEffect(() => {
    // A session that ended while the page was open.
    const gone = () => doc?.name && reload();
    addEventListener('pathwise-unknown', gone);
    return () => removeEventListener('pathwise-unknown', gone);
  }, [doc]);
  // Where nobody knows who looks, since the controller does not answer, it is asked for events until it does.
  useEffect(() => permit(error !== null || mayRead(doc)), [doc, error]);
  return { me: error ? null : doc, reload };
}

/** Whether somebody may see what the mesh measured. @param {MeDoc | null} me null: nobody knows */
export const mayRead = (me) => Boolean(me?.scopes?.includes('read'));

/** What who may not look sees in place of a page. */
export const Stranger = () => html`<h1 tabindex="-1">Sign in to see this mesh</h1>
  <p>It is shown to people with an account only.</p>
  <p><a class="button" href=${link(['sign-in'], { then: here().href })}>Sign in</a></p>
  <p class="quiet">Nobody has a password yet? <code>pathwise serve</code> printed a link, where it was started, by which the first one is set; started again, it prints a new
    one. Everybody else gets a link from an administrator.</p>`;

/** @param {{account: Account}} props */
export function Who({ account }) {
  const me = account.me;
  const [trouble, tell] = useState('');
  if (!me?.name) {
    const path = here().path[0];
    return path === 'sign-in' || path === 'welcome' ? null : html`<a href=${link(['sign-in'], { then: here().href })}>Sign in</a>`;
  }
  const leave = async () => {
    try {
      await send('DELETE', 'api/v1/session');
    } catch (e) {
      const gone = e instanceof ApiError && [401, 404].includes(e.status); // which was wanted
      if (!gone) return tell(e instanceof Error ? e.message : String(e));
    }
    location.reload();
  };
  return html`<span class="who"><span class="hidden">Signed in as </span><a href=${link(['account'])} title=${`Signed in as ${me.name}; role: ${me.role}`}>${me.name}</a>
    <button type="button" onClick=${leave}>Sign out</button>
    ${trouble && html`<span class="is-failed" role="alert">You are still signed in: ${trouble}</span>`}</span>`;
}

/**
 * A form that sends one document. Its error is told where the focus goes.
 * @param {{title?: string, action: string, busy: string, submit: (form: FormData) => Promise<void>, children: any, why?: string}} props
 */
export function Form({ title, action, busy, submit, children, why }) {
  const [state, set] = useState({ busy: false, error: '' });
  const note = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (state.error) note.current?.focus();
  }, [state.error]);
  /** @param {SubmitEvent} e */
  const send = async (e) => {
    e.preventDefault();
    set({ busy: true, error: '' });
    try {
      const form = /** @type {HTMLFormElement} */ (e.target);
      await submit(new FormData(form));
      form.reset();
      set({ busy: false, error: '' });
    } catch (error) {
      set({ busy: false, error: error instanceof Error ? error.message : String(error) });
    }
  };
  return html`<form class="form" onSubmit=${send}>
    ${title && html`<h1 tabindex="-1">${title}</h1>`}
    ${why && html`<p>${why}</p>`}
    ${state.error && html`<p class="failure" role="alert" tabindex="-1" ref=${note}>${state.error}</p>`}
    ${children}
    <button disabled=${state.busy}>${state.busy ? busy : action}</button>
  </form>`;
}

/** How one signs in where no password is taken, since others can read it. @param {{title: string}} props */
function InTheOpen({ title }) {
  const { hostname, port, pathname, hash, protocol } = location;
  const near = `http://127.0.0.1:8080${pathname}${hash}`;
  if (protocol === 'https:') {
    return html`<h1 tabindex="-1">${title}</h1><p class="note">No password is taken here yet: you came by HTTPS, but the controller cannot know.</p>
      <p>Let the proxy before it send the header <code>X-Forwarded-Proto</code>, and name the proxy in the mesh file: <code>controller: {proxies: [ADDRESS/32]}</code>.</p>`;
  }
  return html`<h1 tabindex="-1">${title}</h1><p class="note">No password is taken here: this page came by plain HTTP, so others on the way can read what is typed.</p>
    <p>One of these is needed:</p><ul>
      <li>a tunnel from your machine: <code>ssh -L 8080:${hostname}:${port || '80'} ${hostname}</code>, then open <a href=${near}>${near}</a></li>
      <li>HTTPS by the controller itself: in the mesh file <code>controller: {tls: {certificate: FILE, key: FILE}}</code></li>
      <li>a proxy with HTTPS before it, which the mesh file names: <code>controller: {proxies: [ADDRESS/32]}</code></li></ul>`;
}

const lastName = 'pathwise-name';

/** Who signed in last is kept by this browser alone: a controller tells strangers no names. @param {string} name */
function remember(name) {
  try {
    localStorage.setItem(lastName, name);
  } catch {
    // It is typed the next time, then.
  }
}

function remembered() {
  try {
    return localStorage.getItem(lastName) ?? '';
  } catch {
    return '';
  }
}

/** @param {{route: import('./router.js').Route, account: Account}} props */
export function SignIn({ route, account }) {
  /** @param {FormData} form */
  const submit = async (form) => {
    try {
      await send('POST', 'api/v1/session', { name: form.get('name'), password: form.get('password') });
    } catch (e) {
      throw e instanceof ApiError && e.status === 401
        ? new Error('Name and password do not belong together. An administrator can send you a new link if you forgot yours.')
        : e;
    }
    remember(String(form.get('name')));
    account.reload();
    const then = route.query.get('then') ?? '';
    go(then.startsWith('#/') ? then : '#/', { replace: true });
  };
  if (account.me?.insecure) return html`<${InTheOpen} title="Sign in" />`;
  const why = remembered() ? 'The name is the one that signed in here last.'
    : 'The account that the first link of a controller makes is called admin. Whoever invited you chose another name, which the link showed.';
  return html`<${Form} title="Sign in" action="Sign in" busy="Signing in …" submit=${submit} why=${why}>
    <label>Name <input name="name" autocomplete="username" required autocapitalize="none" spellcheck=${false} value=${remembered()} /></label>
    <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
  <//>`;
}

/** @param {{route: import('./router.js').Route, account: Account}} props */
export function Welcome({ route, account }) {
  const given = route.query.get('token');
  const kept = useRef('');
  const token = kept.current = given || kept.current;
  const insecure = account.me?.insecure ?? true; // until it is known
  const [whose, tell] = useState({ name: '', trouble: '' });
  useEffect(() => {
    if (given && !insecure) go(link(['welcome']), { replace: true }); // it is a secret: out of address and history
  }, [given, insecure]);
  useEffect(() => {
    if (!token || insecure) return;
    send('POST', 'api/v1/invitation/name', { token }).then((d) => tell({ name: d.name, trouble: '' }), (e) => tell({ name: '', trouble: String(e.message ?? e) }));
  }, [token, insecure]);
  if (!token) {
    return html`<h1 tabindex="-1">Welcome</h1>
      <p>This page needs the whole link that you were sent, and the link works once. Ask an administrator for a new one, or
        <a href=${link(['sign-in'])}>sign in</a> if you have set your password.</p>`;
  }
  if (account.me?.insecure) return html`<${InTheOpen} title="Welcome" />`;
  /** @param {FormData} form */
  const submit = async (form) => {
    const password = String(form.get('password'));
    const shortest = account.me?.shortest_password ?? 0;
    if (password.length < shortest) throw new Error(`The password is too short: want at least ${shortest} characters, such as four words.`);
    if (password !== form.get('again')) throw new Error('The two passwords differ. Type the same one twice.');
    const { name } = await send('POST', 'api/v1/invitation', { token, password }); // which signs in, too
    remember(name);
    account.reload();
    go('#/', { replace: true });
  };
  return html`<${Form} title="Welcome" action="Set password and sign in" busy="Setting it …" submit=${submit}
    why="Choose your password. The link that brought you here works once.">
    ${whose.trouble && html`<p class="failure" role="alert">${whose.trouble}</p>`}
    <label>Name, by which you sign in <input name="name" autocomplete="username" readonly value=${whose.name} /></label>
    <label>Password <input name="password" type="password" autocomplete="new-password" required /></label>
    <label>The same again <input name="again" type="password" autocomplete="new-password" required /></label>
  <//>`;
}
