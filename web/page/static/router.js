// Routes are in the fragment of the URL: #/pair/ucl/cern?from=-1d. So the pages work under any path, and what one sees has a
// URL that may be sent to somebody.
import { useState, useEffect } from './html.js';

/** @typedef {{path: string[], query: URLSearchParams, href: string}} Route */

/**
 * Reads a fragment.
 * @param {string} fragment
 * @returns {Route}
 */
export function parse(fragment) {
  const text = fragment.replace(/^#?\/?/, '');
  const at = text.indexOf('?');
  const path = (at < 0 ? text : text.slice(0, at)).split('/').filter(Boolean).map(decode);
  return { path, query: new URLSearchParams(at < 0 ? '' : text.slice(at + 1)), href: fragment || '#/' };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The URL of a route. Parameters that are empty are left out.
 * @param {string[]} path
 * @param {Record<string, string | number | null | undefined>} [query]
 */
export function link(path, query = {}) {
  const kept = Object.entries(query).filter(([, v]) => v !== '' && v != null).map(([k, v]) => [k, String(v)]);
  // Times and patterns stay readable: in a fragment these characters are allowed.
  const text = new URLSearchParams(kept).toString().replace(/%3A/g, ':').replace(/%2F/g, '/').replace(/%40/g, '@');
  return '#/' + path.map(encodeURIComponent).join('/') + (text ? '?' + text : '');
}

/** @returns {Route} */
export const here = () => parse(location.hash);

/**
 * Goes to a route; with replace, in place of the one in the browser's history.
 * @param {string} href
 * @param {{replace?: boolean}} [how]
 */
export function go(href, how = {}) {
  if (href === location.hash) return;
  history[how.replace ? 'replaceState' : 'pushState'](null, '', href);
  dispatchEvent(new Event('pathwise-route'));
}

/**
 * Changes parameters of the route that is shown, and leaves the others.
 * @param {Record<string, string | number | null | undefined>} changes
 * @param {{replace?: boolean}} [how]
 */
export function change(changes, how) {
  const { path, query } = here();
  go(link(path, { ...Object.fromEntries(query), ...changes }), how);
}

/** The route that is shown, kept up to date. */
export function useRoute() {
  const [route, set] = useState(here);
  useEffect(() => {
    const read = () => set((old) => (old.href === here().href ? old : here())); // of a link, popstate and hashchange both tell
    const events = ['hashchange', 'popstate', 'pathwise-route'];
    for (const e of events) addEventListener(e, read);
    return () => {
      for (const e of events) removeEventListener(e, read);
    };
  }, []);
  return route;
}
