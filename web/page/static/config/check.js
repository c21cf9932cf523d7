// Checks what is in the editor, when nobody has typed for a moment.
import { useEffect, useState } from '../html.js';
import { ask, why, ApiError } from '../api.js';

const pause = 700; // ms

/**
 * What the check of files said; while they are other files than those, busy.
 * @param {FileDoc[]} files
 * @param {string} version of what is on disk, which they are compared with
 * @returns {{outcome: ConfigOutcome | null, error: ApiError | null, busy: boolean, now: () => void}}
 */
export function useCheck(files, version) {
  const [state, set] = useState({ outcome: /** @type {ConfigOutcome | null} */ (null), error: /** @type {ApiError | null} */ (null), of: /** @type {unknown} */ (null), version: '' });
  const [turn, again] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const outcome = await check(files, stop.signal);
        set({ outcome, error: null, of: files, version });
      } catch (e) {
        if (!stop.signal.aborted) set({ outcome: null, error: e instanceof ApiError ? e : new ApiError(0, String(e)), of: files, version });
      }
    }, state.of === null || state.of === files ? 0 : pause); // at first, and when somebody asked for it, at once
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [files, version, turn]);
  const busy = state.of !== files || state.version !== version;
  return { outcome: state.outcome, error: busy ? null : state.error, busy, now: () => { set((s) => ({ ...s, of: null })); again((n) => n + 1); } };
}

/** @param {FileDoc[]} files @param {AbortSignal} signal */
async function check(files, signal) {
  const answer = await ask('api/v1/config/check', { method: 'POST', signal, body: JSON.stringify({ files }), headers: { 'Content-Type': 'application/json' } });
  if (!answer.ok) throw new ApiError(answer.status, await why(answer));
  return answer.json();
}
