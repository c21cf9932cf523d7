// Routes that followed each other: which are the same again, and what changed from one to the next. Pure.

/** @typedef {{ttl: number, kind: 'other' | 'new' | 'gone', before: string, after: string}} Difference */

/**
 * Routes by what traced them, since those of one test do not follow those of another: the name of the test, and its routes.
 * @param {RouteDoc[]} routes
 * @returns {{name: string, routes: RouteDoc[]}[]}
 */
export function byTest(routes) {
  /** @type {Map<string, RouteDoc[]>} */
  const all = new Map();
  for (const r of routes) {
    const name = nameOf(r);
    all.set(name, [...(all.get(name) ?? []), r]);
  }
  return [...all].map(([name, own]) => ({ name, routes: own }));
}

/** What traced a route. @param {{test?: string, tool: string, role: string, family: string}} r */
export const nameOf = (r) => `${r.test || `${r.tool}, ${r.role}`} over ${r.family === 'ipv6' ? 'IPv6' : 'IPv4'}`;

/** @typedef {Map<string, string>} Names of hosts of the mesh and of routers, by their address */

/** An address, with the name of the host or router that has it. @param {string} address @param {Names} [names] */
export const named = (address, names) => (names?.has(address) ? `${names.get(address)} (${address})` : address);

/** @typedef {Map<string, string>} Known what else is known of addresses: systems, owners, places */

/** What else is known of addresses, by address. @param {KnownDoc[] | null | undefined} docs @returns {Known} */
export const knownOf = (docs) => new Map((docs ?? []).filter((k) => k.text).map((k) => [k.address, k.text]));

/** What else is known of some addresses, each thing once. Pure. @param {string[] | null | undefined} addresses @param {Known} known */
export const aboutOf = (addresses, known) => [...new Set((addresses ?? []).map((a) => known.get(a)).filter(Boolean))].join('; ');

/** @param {RouteHop | undefined} hop @param {Names} [names] */
export const answered = (hop, names) => (hop?.addresses?.length ? hop.addresses.map((a) => named(a, names)).join(', ') : 'no answer');

/**
 * What differs from the route before, hop by hop; a hop where one of both routes had no answer is no difference.
 * @param {RouteDoc | undefined} before
 * @param {RouteDoc} after
 * @param {Names} [names]
 * @returns {Difference[]}
 */
export function differences(before, after, names) {
  if (!before) return [];
  const [a, b] = [before, after].map((r) => new Map(r.hops.map((h) => [h.ttl, h])));
  return [...(after.changed ?? [])].sort((x, y) => x - y).map((ttl) => ({
    ttl, kind: !a.has(ttl) ? 'new' : !b.has(ttl) ? 'gone' : 'other', before: answered(a.get(ttl), names), after: answered(b.get(ttl), names),
  }));
}

/**
 * Differences as a sentence. The first few hops say it; the columns have them all.
 * @param {Difference[]} all
 */
export function told(all) {
  const some = all.slice(0, 4).map((d) => d.kind === 'other' ? `hop ${d.ttl}: ${d.before} is now ${d.after}` : d.kind === 'new'
    ? `hop ${d.ttl}: ${d.after} is new` : `hop ${d.ttl}: ${d.before} is gone`);
  return some.join('; ') + (all.length > 4 ? `; and ${all.length - 4} more` : '');
}

/**
 * Whether two routes are one, as far as answers say: of as many hops, at each of which they share an address or one has none.
 * @param {RouteDoc} a
 * @param {RouteDoc} b
 */
export function alike(a, b) {
  if (a.hops.length !== b.hops.length) return false;
  return a.hops.every((h, i) => {
    const [one, other] = [h.addresses ?? [], b.hops[i].addresses ?? []];
    return h.ttl === b.hops[i].ttl && (!one.length || !other.length || one.some((x) => other.includes(x)));
  });
}

/**
 * A letter for each route, the same for one that comes again: A, B, … Z, A2, …
 * @param {RouteDoc[]} routes oldest first
 * @returns {string[]}
 */
export function letters(routes) {
  /** @type {RouteDoc[]} */
  const known = [];
  return routes.map((r) => {
    const found = known.findIndex((k) => alike(k, r));
    const n = found < 0 ? known.push(r) - 1 : found;
    return String.fromCharCode(65 + (n % 26)) + (n < 26 ? '' : Math.floor(n / 26) + 1);
  });
}

/**
 * Where each route stands in a span, as shares of it: until the next one was seen, and the last as long as it was seen.
 * @param {RouteDoc[]} routes oldest first
 * @param {{from: number, to: number}} range
 */
export function held(routes, { from, to }) {
  const share = (/** @type {number} */ t) => Math.max(0, Math.min(1, (t - from) / (to - from)));
  return routes.map((r, i) => {
    const begin = share(Date.parse(r.first));
    return { begin, end: share(Date.parse(routes[i + 1]?.first ?? r.last)) };
  });
}
