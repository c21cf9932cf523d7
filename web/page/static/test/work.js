// The test or diagnosis that this page asked for. It goes on while one looks at other pages here, and ends with the browser's
// tab: the controller calls back what nobody waits for.
import { useEffect, useState } from '../html.js';
import { ApiError, ask, url, why } from '../api.js';
import { begun, ended, splitter, told } from './run.js';

/** @typedef {import('./run.js').Work} Work */

const lost = 'The connection to the controller broke off before the end.';

/** @type {Work | null} */
let work = null;
/** @type {AbortController | null} */
let stopper = null;
/** @type {Set<(w: Work | null) => void>} */
const listeners = new Set();

/** @param {Work} w */
function set(w) {
  work = w;
  listeners.forEach((l) => l(w));
}

/** The newest test or diagnosis, null if there is none. @returns {Work | null} */
export function useWork() {
  const [now, renew] = useState(work);
  useEffect(() => {
    listeners.add(renew);
    renew(work);
    return () => void listeners.delete(renew);
  }, []);
  return now;
}

export const busy = () => work?.state === 'going';
export const stop = () => stopper?.abort();

/**
 * Asks for a test or a diagnosis, and follows it to its end.
 * @param {import('./run.js').Ask} wanted
 */
export async function start(wanted) {
  if (busy()) return;
  const mine = new AbortController();
  stopper = mine;
  let now = begun(wanted);
  set(now);
  const runs = () => now.run.state === 'waiting' && stopper === mine && set((now = told(now, { state: 'running' })));
  try {
    for await (const line of linesOf(wanted, mine.signal)) {
      set((now = told(now, line)));
      if (line.begins && !line.step) setTimeout(runs, Math.max(0, Date.parse(line.begins) - Date.now())); // not all show something on their way
    }
    if (now.state === 'going') set((now = ended(now, 'failed', lost)));
  } catch (e) {
    if (mine.signal.aborted) set((now = ended(now, 'stopped')));
    else if (e instanceof ApiError) set((now = ended(now, 'failed', e.message, e.status)));
    else set((now = ended(now, 'failed', lost)));
  }
}

/** @param {import('./run.js').Ask} a @param {AbortSignal} signal */
async function* linesOf(a, signal) {
  const test = { tool: a.tool, parameters: Object.keys(a.parameters).length ? a.parameters : undefined };
  const answer = await ask(url([a.what === 'test' ? 'runs' : 'diagnoses']), {
    method: 'POST', signal, headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ source: a.source, target: a.target, ...(a.what === 'test' ? test : {}), patience_seconds: a.what === 'test' ? a.patience : Math.max(a.patience, 1) }),
  });
  if (!answer.ok || !answer.body) throw new ApiError(answer.status, await why(answer));
  const reader = answer.body.getReader();
  const text = new TextDecoder();
  const split = splitter();
  for (;;) {
    const { done, value } = await reader.read();
    yield* split(done ? text.decode() + '\n' : text.decode(value, { stream: true }));
    if (done) return;
  }
}
