// What happened to a pair, as the time line shows it: kinds with their shapes, both ways in one list, near ones in one mark. Pure.

/** way: 0 there, 1 back, null: it is about both. @typedef {ChangeDoc & {t: number, way: 0 | 1 | null}} Change */
/** @typedef {{at: number, worst: Change, changes: Change[]}} Group */

/** Kinds by letter and shape, within 24 by 24. @type {Record<Change['kind'], {letter: string, word: string, shape: string}>} */
export const kinds = {
  route: { letter: 'R', word: 'route change', shape: 'M12 1 23 12 12 23 1 12Z' },
  finding: { letter: 'F', word: 'finding', shape: 'M12 1 23.5 22H.5Z' },
  step: { letter: 'S', word: 'change', shape: 'M12 1A11 11 0 1 1 12 23 11 11 0 1 1 12 1Z' },
  configuration: { letter: 'C', word: 'configuration', shape: 'M3 3H21V21H3Z' },
};

export const severities = /** @type {const} */ (['info', 'warning', 'problem']);
export const mostChanges = 500; // that the API answers

/**
 * Changes of both ways, in order of time. What is about neither way alone comes with both answers, and stands once.
 * @param {(ChangesDoc | null)[]} docs there, back
 * @returns {Change[]}
 */
export function merged(docs) {
  const ways = /** @type {const} */ ([0, 1]);
  const seen = new Set();
  return docs.flatMap((d, i) => (d?.changes ?? []).map((c) => ({ ...c, t: Date.parse(c.at), way: c.kind === 'configuration' ? null : ways[i] })))
    .filter((c) => {
      const key = c.way === null ? c.at + c.text : c.way + c.kind + c.at + (c.result ?? c.text);
      return !seen.has(key) && seen.add(key);
    }).sort((a, b) => a.t - b.t);
}

/**
 * Changes that are too near to stand side by side, in groups.
 * @param {Change[]} changes in order of time
 * @param {{from: number, to: number}} range in ms
 * @param {number} room marks that have room side by side
 * @returns {Group[]}
 */
export function grouped(changes, { from, to }, room) {
  const width = (to - from) / room;
  /** @type {Group[]} */
  const groups = [];
  for (const c of changes) {
    if (c.t < from || c.t > to) continue;
    const g = groups.at(-1);
    if (g && c.t - g.at < width) {
      g.changes.push(c);
      if (severities.indexOf(c.severity) > severities.indexOf(g.worst.severity)) g.worst = c;
    } else groups.push({ at: c.t, worst: c, changes: [c] });
  }
  return groups;
}

/** A mark's letter, and whether it stands for several. @param {Group} g */
export const letterOf = (g) => kinds[g.worst.kind].letter + (g.changes.length > 1 ? '+' : '');

/** @param {Change} c @param {[string, string]} pair */
export function sentence(c, pair) {
  const path = c.way === null ? '' : ` ${pair[c.way]} → ${pair[1 - c.way]}`;
  return `${kinds[c.kind].word}${path}${c.severity === 'info' ? '' : `, ${c.severity}`}: ${c.text}${c.by ? `, by ${c.by}` : ''}`;
}
