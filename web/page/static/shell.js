// The frame around every page: skip link, head, help, focus. A page is a component under a route.
import { html, useEffect, useRef, useState } from './html.js';
import { useRoute, link } from './router.js';
import { useSettings, choose } from './settings.js';
import { useLive } from './events.js';
import { zoneName } from './times.js';
import { useAccount, SignIn, Welcome, Who } from './account.js';
import { Overview } from './overview/page.js';
import { Pair } from './pair/page.js';
import { Result } from './result/page.js';
import { Hosts } from './hosts/page.js';
import { Test } from './test/page.js';
import { People } from './people/page.js';
import { Calculator } from './calc/page.js';
import { Knowledge } from './knowledge/page.js';
import { Configuration } from './config/page.js';
import { Lab } from './lab/page.js';
import { Help } from './help.js';
import { Generated } from './generated.js';

/**
 * The pages by the first part of their route. length: how many parts the route has, at least and at most; nav: its name in the
 * head; scope: who may not do that is not led there; shown: nor where there is no such thing.
 * @type {Record<string, {of: any, length: number | [number, number], title: (path: string[]) => string, nav?: string, scope?: string, shown?: (me: MeDoc) => boolean}>}
 */
const pages = {
  '': { of: Overview, length: 0, title: () => 'Overview', nav: 'Overview' },
  pair: { of: Pair, length: 3, title: (p) => `${p[1]} → ${p[2]}` },
  result: { of: Result, length: 2, title: (p) => `Result ${p[1]}` },
  test: { of: Test, length: 1, title: () => 'Test', nav: 'Test', scope: 'run' },
  hosts: { of: Hosts, length: [1, 2], title: (p) => (p[1] ? `Host ${p[1]}` : 'Hosts'), nav: 'Hosts' },
  account: { of: People, length: 1, title: () => 'Account' },
  calc: { of: Calculator, length: [1, 2], title: (p) => (p[1] ? `Calculator: ${p[1]}` : 'Calculator'), nav: 'Calculator' },
  knowledge: { of: Knowledge, length: [1, 2], title: (p) => p[1] ?? 'Knowledge', nav: 'Knowledge' },
  config: { of: Configuration, length: 1, title: () => 'Configuration', nav: 'Configuration', scope: 'admin' },
  lab: { of: Lab, length: [1, 2], title: (p) => (p[1] ? `Lab ${p[1]}` : 'Lab'), nav: 'Lab', scope: 'read', shown: (me) => me.labs },
  'sign-in': { of: SignIn, length: 1, title: () => 'Sign in' },
  welcome: { of: Welcome, length: 1, title: () => 'Welcome' },
};

export function Shell() {
  const route = useRoute();
  const settings = useSettings();
  const account = useAccount();
  const [help, setHelp] = useState(false);
  const page = pages[route.path[0] ?? ''];
  const [least, most] = page ? [page.length].flat() : [];
  const found = page && route.path.length >= least && route.path.length <= (most ?? least) ? page : null;
  const title = found ? found.title(route.path) : 'No such page';
  useFocus(route.path.join('/'), title);
  useEffect(() => {
    /** @param {KeyboardEvent} e */
    const press = (e) => {
      const typing = e.target instanceof Element && e.target.matches('input, select, textarea');
      if (e.key === '?' && !typing && !e.ctrlKey && !e.altKey) setHelp(true);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header class="head">
      <a class="brand" href="#/">Pathwise</a>
      <${Pages} here=${route.path[0] ?? ''} account=${account} />
      <${Live} />
      <span class="tools">
        <button type="button" onClick=${() => choose({ zone: settings.zone === 'utc' ? 'local' : 'utc' })}
          aria-label=${`Time zone: ${zoneName()}. Change to ${settings.zone === 'utc' ? 'local time' : 'UTC'}`}>${zoneName()}</button>
        <label><span class="hidden">Theme</span>
          <select value=${settings.theme} onChange=${(/** @type {any} */ e) => choose({ theme: e.target.value })}>
            <option value="auto">System</option><option value="light">Light</option><option value="dark">Dark</option>
          </select></label>
        <button type="button" onClick=${() => setHelp(true)} aria-label="Help: keys and marks">?</button>
        <${Who} account=${account} />
      </span>
    </header>
    <main id="main" tabindex="-1">
      <${Generated} account=${account} />
      ${found
        ? html`<${found.of} key=${route.path.join('/')} route=${route} account=${account} />`
        : html`<h1 tabindex="-1">No such page</h1>
          <p>The link may be old or cut short. <a href=${link([])}>Begin at the overview.</a></p>`}
    </main>
    ${help && html`<${Help} close=${() => setHelp(false)} />`}`;
}

/** A link to an element would be taken for a route. @param {Event} e */
function skip(e) {
  e.preventDefault();
  document.getElementById('main')?.focus();
}

/**
 * When another page is shown, its heading gets the focus, so that keyboard and screen reader begin there.
 * @param {string} page
 * @param {string} title
 */
function useFocus(page, title) {
  const first = useRef(true);
  useEffect(() => {
    document.title = title + ' · Pathwise';
    if (!first.current) {
      document.querySelector('h1')?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    first.current = false;
  }, [page]);
}

/** @param {{here: string, account: import('./account.js').Account}} props */
function Pages({ here, account }) {
  const may = (/** @type {string | undefined} */ scope) => !scope || account.me?.scopes?.includes(scope);
  return html`<nav aria-label="Pages">
    ${Object.entries(pages).filter(([, p]) => p.nav && may(p.scope) && (!p.shown || (account.me && p.shown(account.me)))).map(([name, p]) =>
      html`<a key=${name} href=${link(name ? [name] : [])} aria-current=${name === here ? 'page' : null}>${p.nav}</a>`)}
  </nav>`;
}

function Live() {
  const state = useLive();
  const text = { waiting: 'connecting', open: 'live', lost: 'not live: trying again' }[state];
  return html`<span class=${'live ' + state} role="status">${text}</span>`;
}
