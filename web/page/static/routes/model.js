// The graph of all routes, as the drawing of a lab takes it, and as a list. Pure.
import { aboutOf, named } from '../pair/hops.js';

/** @typedef {import('../pair/hops.js').Names} Names */
/** @typedef {{name: string, kind: 'host' | 'router', addresses: string[], about: string, label: string, pairs: number}} Node */
/** @typedef {RouteLink & {between: [string, string], about: string, changed: 'new' | 'left' | ''}} Link */

/**
 * A short name of a router: the first part of its name, or an address.
 * @param {RouteNode} n @param {Names} names
 */
function labelOf(n, names) {
  if (n.host) return n.host;
  const name = n.addresses.map((a) => names.get(a)).find(Boolean);
  return name ? name.split('.')[0] : n.addresses[0] ?? '?';
}

/**
 * Nodes under names of their own, and links between them.
 * @param {RouteGraphDoc} doc @param {Names} names @param {import('../pair/hops.js').Known} [known]
 * @returns {{nodes: Node[], links: Link[]}}
 */
export function graphOf(doc, names, known = new Map()) {
  const nodes = doc.nodes.map((n, i) => ({ name: n.host ?? `#${i}`, kind: /** @type {'host' | 'router'} */ (n.host ? 'host' : 'router'), addresses: n.addresses.map((a) => named(a, names)),
    about: aboutOf(n.addresses, known), label: labelOf(n, names), pairs: n.pairs }));
  const links = doc.links.map((l) => ({ ...l, between: /** @type {[string, string]} */ ([nodes[l.from].name, nodes[l.to].name]), about: `${nodes[l.from].label} – ${nodes[l.to].label}`,
    changed: changeOf(l) }));
  return { nodes, links };
}

/** What a change of route did to a link last. @param {RouteLink} l @returns {'new' | 'left' | ''} */
export function changeOf({ appeared, left }) {
  if (!appeared && !left) return '';
  return !left || (appeared && Date.parse(appeared) >= Date.parse(left)) ? 'new' : 'left';
}

/** Links that changed, the newest first. @param {Link[]} links */
export const changedOf = (links) => links.filter((l) => l.changed).sort((a, b) => Date.parse(whenOf(b)) - Date.parse(whenOf(a)));

/** When a link changed last. @param {Link} l */
export const whenOf = (l) => /** @type {string} */ (l.changed === 'new' ? l.appeared : l.left);

/** How thick a line is, in pixels, by how many pairs use it, of so many at most. @param {number} pairs @param {number} most */
export const thickness = (pairs, most) => (pairs === 0 ? 1.5 : 1.5 + (7 * pairs) / Math.max(1, most));
