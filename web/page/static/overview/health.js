// How one host is, by the paths that it has: what is wrong with itself, or with others alone. Pure.
import { plural } from '../format.js';

/**
 * ill: paths that are worse than usual; known: of which enough is known; own: what is wrong with the host itself; others: who else is the
 * cause of those that are ill.
 * @typedef {{ill: number, known: number, own: TroubleDoc[], others: string[]}} Health
 */

/** Kinds of what is wrong with one host. */
const ofHost = ['host', 'from', 'to'];

/** @param {TroubleDoc} t */
export const isOfHost = (t) => ofHost.includes(t.kind);

/** @param {SummaryDoc} doc @param {string} name @returns {Health} */
export function healthOfHost(doc, name) {
  const n = doc.hosts.length;
  const i = doc.hosts.findIndex((h) => h.name === name);
  let known = 0;
  for (let k = 0; k < n && i >= 0; k++) if (k !== i) known += Number(doc.classes[i * n + k] > 0) + Number(doc.classes[k * n + i] > 0);
  const ill = doc.pairs.filter((p) => p.trouble !== null && (p.source === name || p.target === name));
  const own = doc.troubles.filter((t) => isOfHost(t) && t.name === name);
  const causes = ill.map((p) => doc.troubles[/** @type {number} */ (p.trouble)]).filter((t) => t && !own.includes(t));
  const others = [...new Set(causes.map((t) => (isOfHost(t) ? t.name : t.kind === 'pair' ? `the path ${t.name}` : `${t.kind} ${t.shown || t.name}`)))];
  return { ill: ill.length, known, own, others };
}

/** In a sentence. @param {Health} h @param {string} name */
export function healthWords(h, name) {
  if (!h.known) return `Too little is known of the paths of ${name} to say what is usual.`;
  if (!h.ill) return `Nothing is wrong with ${name}: all of its ${plural(h.known, 'path')} are as usual, and there is nothing to change.`;
  const others = h.others.length > 1 ? `${h.others.slice(0, -1).join(', ')} and ${h.others.at(-1)}` : h.others[0];
  return `Nothing is wrong with ${name} itself, and there is nothing to change: ${h.ill} of its ${plural(h.known, 'path')} are worse than they should be, because of ${others ?? 'what is beyond it'}.`;
}

/** In a cell of a table. @param {Health | null} h null: nobody knows */
export function healthBrief(h) {
  if (!h || !h.known) return '';
  return h.own.length ? `${h.ill} of ${h.known} worse: its own` : h.ill ? `${h.ill} of ${h.known} worse, by others` : 'as usual';
}

/** What all paths of a trouble have in common, where its diagnosis does not say so. @param {TroubleDoc} t */
export function commonOf(t) {
  const first = t.signs[0];
  if (!isOfHost(t) || first.all < 3 || t.diagnosis?.host?.startsWith(t.name)) return '';
  return `Far ends as different as these have only ${t.name} in common: it is that host, or the line by which it is attached.`;
}
