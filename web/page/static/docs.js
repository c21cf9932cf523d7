// Documents of the API as state of a component.
import { useState, useLayoutEffect, useCallback } from './html.js';
import { get, ApiError } from './api.js';

/**
 * What is known of a document. While another is on its way, doc is still the last one, and busy.
 * @template T
 * @typedef {{doc: T | null, of: string, error: ApiError | null, busy: boolean, reload: () => void}} Doc
 */

/**
 * Documents at paths, all of them set at once when the last has come; null asks for nothing.
 * @param {(string | null)[]} paths
 * @param {number | null} [round] another number asks again; null: nothing is asked for now, and what is on its way is given up,
 *   since something else is wanted first
 * @returns {Doc<any[]>}
 */
export function useDocs(paths, round = 0) {
  const key = JSON.stringify(paths);
  const [state, set] = useState({ docs: /** @type {any[] | null} */ (null), of: '', error: /** @type {ApiError | null} */ (null) });
  const [turn, again] = useState(0);
  useLayoutEffect(() => { // at once: an effect proper comes after the next frame
    if (round === null) return;
    const stop = new AbortController();
    Promise.all(paths.map((p) => (p ? get(p, stop.signal) : null))).then(
      (docs) => {
        set((old) => old.of === key && !old.error && old.docs?.every((d, i) => d === docs[i]) ? old : { docs, of: key, error: null });
      },
      (error) => {
        if (stop.signal.aborted) return;
        if (error.status === 401) dispatchEvent(new Event('pathwise-unknown'));
        // What was there stays, unless it is of other paths: under their name it would be wrong.
        set((old) => ({ docs: old.of === key ? old.docs : null, error: error instanceof ApiError ? error : new ApiError(0, String(error)), of: key }));
      },
    );
    return () => stop.abort();
  }, [key, turn, round]);
  const reload = useCallback(() => again((n) => n + 1), []);
  return { doc: state.docs, of: state.of, error: state.of === key ? state.error : null, busy: state.of !== key, reload };
}

/**
 * One document.
 * @param {string | null} path
 * @returns {Doc<any>}
 */
export function useDoc(path) {
  const all = useDocs([path]);
  return { ...all, doc: all.doc?.[0] ?? null };
}
