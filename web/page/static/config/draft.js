// What somebody wrote and has not saved. It outlives the page, so that no click on a link loses it; the browser asks before it is
// closed. It is kept in memory alone: the mesh file may hold secrets.
import { useEffect, useState } from '../html.js';

/**
 * base: what is on disk, which the text began from; aside: a text that another took the place of.
 * @typedef {{base: ConfigDoc, files: FileDoc[], shown: string, comment: string, aside: FileDoc[] | null}} Draft
 */

/** @type {Draft | null} */
let draft = null;
/** @type {Set<(d: Draft | null) => void>} */
const watchers = new Set();

/**
 * A draft in which nothing is changed.
 * @param {ConfigDoc} base
 * @param {string} [shown] the file to show, if it is there
 * @returns {Draft}
 */
export const begin = (base, shown) => ({ base, files: base.files, shown: base.files.find((f) => f.name === shown)?.name ?? base.files[0]?.name ?? '', comment: '', aside: null });

/**
 * Whether two sets of files differ.
 * @param {FileDoc[]} a
 * @param {FileDoc[]} b
 */
export function differ(a, b) {
  return a !== b && (a.length !== b.length || a.some((f) => textOf(b, f.name) !== f.text));
}

/** @param {FileDoc[]} files @param {string} name */
export const textOf = (files, name) => files.find((f) => f.name === name)?.text;

/** @param {Draft | null} d */
export const dirty = (d) => d !== null && differ(d.files, d.base.files);

/**
 * The files with one of them changed, added, or (null) taken away; by name.
 * @param {FileDoc[]} files
 * @param {string} name
 * @param {string | null} text
 */
export function withFile(files, name, text) {
  const others = files.filter((f) => f.name !== name);
  return text === null ? others : [...others, { name, text }].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** @param {BeforeUnloadEvent} e */
const ask = (e) => e.preventDefault();

/** @param {Draft | null} next */
export function put(next) {
  draft = next;
  if (dirty(draft)) addEventListener('beforeunload', ask);
  else removeEventListener('beforeunload', ask);
  for (const w of watchers) w(draft);
}

/** @param {Partial<Draft>} changes */
export const change = (changes) => draft && put({ ...draft, ...changes });

/**
 * Other files in place of those in the editor, which are put aside if they were not saved.
 * @param {FileDoc[]} files
 * @param {string} comment
 */
export function replace(files, comment) {
  if (!draft) return;
  const shown = files.some((f) => f.name === draft?.shown) ? draft.shown : files[0]?.name ?? '';
  put({ ...draft, files, shown, comment, aside: dirty(draft) ? draft.files : draft.aside });
}

/** The draft as it is now, kept up to date. */
export function useDraft() {
  const [now, set] = useState(draft);
  useEffect(() => {
    watchers.add(set);
    set(draft);
    return () => {
      watchers.delete(set);
    };
  }, []);
  return now;
}
