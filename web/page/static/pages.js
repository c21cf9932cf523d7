// The table of all pages. A page is a component under a route; all but those that somebody may see first are fetched when they are
// wanted, or a little later.
import { useEffect, useLayoutEffect, useState } from './html.js';
import { ApiError } from './api.js';
import { SignIn, Welcome } from './account.js';
import { Overview } from './overview/page.js';

/**
 * of: the component, which load fetches; length: how many parts the route has, at least and at most; nav: its name in the head;
 * scope: who may not do that is not led there; shown: nor where there is no such thing; bare: without the head of the page; open: to who may see nothing else.
 * @typedef {{of?: any, load?: () => Promise<any>, length: number | [number, number], title: (path: string[]) => string, nav?: string,
 *   scope?: string, shown?: (me: MeDoc) => boolean, bare?: boolean, open?: boolean}} Page
 */

/** By the first part of their route. @type {Record<string, Page>} */
export const pages = {
  '': { of: Overview, length: 0, title: () => 'Overview', nav: 'Overview' },
  pair: { load: () => import('./pair/page.js').then((m) => m.Pair), length: 3, title: (p) => `${p[1]} → ${p[2]}` },
  wall: { load: () => import('./overview/wall.js').then((m) => m.Wall), length: 1, title: () => 'Wall', bare: true },
  result: { load: () => import('./result/page.js').then((m) => m.Result), length: 2, title: (p) => `Result ${p[1]}` },
  group: { load: () => import('./result/group.js').then((m) => m.Group), length: 2, title: (p) => `Group ${p[1]}` },
  test: { load: () => import('./test/page.js').then((m) => m.Test), length: 1, title: () => 'Test', nav: 'Test', scope: 'run' },
  routes: { load: () => import('./routes/page.js').then((m) => m.RouteGraph), length: 1, title: () => 'Routes', nav: 'Routes' },
  hosts: { load: () => import('./hosts/page.js').then((m) => m.Hosts), length: [1, 2], title: (p) => (p[1] ? `Host ${p[1]}` : 'Hosts'), nav: 'Hosts' },
  account: { load: () => import('./people/page.js').then((m) => m.People), length: 1, title: () => 'Account' },
  calc: { load: () => import('./calc/page.js').then((m) => m.Calculator), length: [1, 2], title: (p) => (p[1] ? `Calculator: ${p[1]}` : 'Calculator'), nav: 'Calculator' },
  knowledge: { load: () => import('./knowledge/page.js').then((m) => m.Knowledge), length: [1, 2], title: (p) => p[1] ?? 'Knowledge', nav: 'Knowledge' },
  config: { load: () => import('./config/page.js').then((m) => m.Configuration), length: 1, title: () => 'Configuration', nav: 'Configuration', scope: 'admin' },
  lab: { load: () => import('./lab/page.js').then((m) => m.Lab), length: [1, 2], title: (p) => (p[1] ? `Lab ${p[1]}` : 'Lab'), nav: 'Lab', scope: 'read', shown: (me) => me.labs },
  'sign-in': { of: SignIn, length: 1, title: () => 'Sign in', open: true },
  welcome: { of: Welcome, length: 1, title: () => 'Welcome', open: true },
};

/** The page of a route, if there is one. @param {string[]} path */
export function pageOf(path) {
  const name = path[0] ?? '';
  const page = Object.hasOwn(pages, name) ? pages[name] : null;
  const [least, most = least] = page ? [page.length].flat() : [];
  return page && path.length >= least && path.length <= most ? page : null;
}

const calm = 2000; // ms until the first page mostly stands, with what it asks for

/**
 * Fetches the component of a page, and some time later those of all others. It comes to an error if the page's own cannot be had.
 * @param {Page | null} page
 */
export function useComponent(page) {
  const [, came] = useState(/** @type {any} */ (null));
  const [failed, fail] = useState(/** @type {Page | null} */ (null));
  /** @param {Page} p */
  const fetched = async (p) => {
    p.of ??= await p.load?.();
  };
  useLayoutEffect(() => {
    if (page && !page.of) fetched(page).then(() => came(page), () => fail(page));
  }, [page]);
  useEffect(() => {
    const timer = setTimeout(async () => {
      for (const p of Object.values(pages)) await fetched(p).catch(() => {}); // it is told when the page is wanted
    }, calm);
    return () => clearTimeout(timer);
  }, []);
  return page && failed === page ? new ApiError(0, 'The controller does not answer.') : null;
}
