// The frame around every page: skip link, head, help, focus.
import { html, useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from './html.js';
import { ApiError } from './api.js';
import { useRoute, link } from './router.js';
import { useSettings, choose } from './settings.js';
import { useLive } from './events.js';
import { zoneName } from './times.js';
import { mayRead, Stranger, useAccount, Who } from './account.js';
import { pages, pageOf, useComponent } from './pages.js';
import { Help } from './help.js';
import { Generated } from './generated.js';
import { Join } from './join.js';
import { Failure, Loading } from './state.js';

export function Shell() {
  const route = useRoute();
  const settings = useSettings();
  const account = useAccount();
  const [help, setHelp] = useState(false);
  const found = pageOf(route.path);
  const title = found ? found.title(route.path) : 'No such page';
  const stranger = Boolean(account.me && !mayRead(account.me) && found && !found.open);
  const missing = useComponent(found);
  useFocus(route.path.join('/'), title, !found || Boolean(found.of));
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
    ${found?.bare ? html`<div class="corner"><${Live} /></div>` : html`<header class="head">
      <a class="brand" href="#/">Pathwise</a>
      <${Pages} here=${route.path[0] ?? ''} account=${account} />
      ${!stranger && html`<${Live} />`}
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
    </header>`}
    <main id="main" tabindex="-1">
      <${Generated} account=${account} />
      ${stranger ? html`<${Stranger} />` : found?.of
        ? html`<${Guarded} key=${route.path.join('/')} of=${found.of} title=${title} route=${route} account=${account} />`
        : html`<h1 tabindex="-1">${title}</h1>
          ${!found ? html`<p>The link may be old or cut short. <a href=${link([])}>Begin at the overview.</a></p>`
            : missing ? html`<${Failure} error=${missing} what="This page" retry=${() => location.reload()} />` : html`<${Loading} of="this page" />`}`}
      ${['', 'hosts'].includes(route.path.join('/')) && html`<${Join} account=${account} />`}
    </main>
    ${help && html`<${Help} close=${() => setHelp(false)} />`}`;
}

/** A link to an element would be taken for a route. @param {Event} e */
function skip(e) {
  e.preventDefault();
  document.getElementById('main')?.focus();
}

/** A page, or what to do when it fails in a way that nobody thought of. @param {{of: any, title: string, route: import('./router.js').Route, account: import('./account.js').Account}} props */
function Guarded({ of, title, ...props }) {
  const [error] = useErrorBoundary((e) => reportError(e));
  return error
    ? html`<h1 tabindex="-1">${title}</h1><${Failure} error=${new ApiError(-1, String(error))} what="This page" retry=${() => location.reload()} />`
    : html`<${of} ...${props} />`;
}

/**
 * When another page is shown, its heading gets the focus, so that keyboard and screen reader begin there.
 * @param {string} page
 * @param {string} title
 * @param {boolean} there it is not only on its way
 */
function useFocus(page, title, there) {
  const last = useRef(page);
  useLayoutEffect(() => { // at once: who types by then types there
    document.title = title + ' · Pathwise';
    if (last.current === page || !there) return;
    last.current = page;
    document.querySelector('h1')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [page, there]);
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
