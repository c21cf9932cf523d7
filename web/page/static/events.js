// What happens in the mesh, as it happens: one stream of server-sent events for the whole page. It is open while somebody
// listens and the page can be seen: browsers allow few connections to a server, and a hidden page needs none.
import { useState, useEffect, useRef } from './html.js';

const kinds = ['result', 'miss', 'host', 'plan'];
/** @type {Set<(kind: string, event: EventDoc) => void>} */
const listeners = new Set();
/** @type {EventSource | null} */
let source = null;
let wait = 1; // seconds to the next try
let timer = 0;
let known = false; // it was open once, so what happened since is missed
let permitted = false; // who may not look is not let in, however often they ask

/** Says whether who looks at the page may have events. @param {boolean} may */
export function permit(may) {
  permitted = may;
  may ? open() : close();
}

/** @param {string} kind @param {EventDoc} event */
const tell = (kind, event) => listeners.forEach((l) => l(kind, event));

function open() {
  if (source || !permitted || !listeners.size || document.hidden) return;
  clearTimeout(timer);
  const s = new EventSource('api/v1/events?samples=false');
  source = s;
  s.onopen = () => {
    wait = 1;
    if (known) tell('missed', {});
    known = true;
    tell('open', {});
  };
  s.onerror = () => {
    if (source !== s) return;
    close();
    tell('lost', {});
    timer = setTimeout(open, wait * 1000);
    wait = Math.min(wait * 2, 30); // a restart is over by then
  };
  for (const kind of kinds) s.addEventListener(kind, (e) => tell(kind, JSON.parse(e.data)));
}

function close() {
  source?.close();
  source = null;
  clearTimeout(timer);
}

document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));

/**
 * Calls back with each event, with 'missed' when some may have been, and with 'open' and 'lost'.
 * @param {(kind: string, event: EventDoc) => void} each
 */
export function useEvents(each) {
  const last = useRef(each);
  last.current = each;
  useEffect(() => {
    /** @type {(kind: string, event: EventDoc) => void} */
    const listener = (kind, event) => last.current(kind, event);
    listeners.add(listener);
    open();
    if (source?.readyState === EventSource.OPEN) listener('open', {});
    return () => {
      listeners.delete(listener);
      if (!listeners.size) close();
    };
  }, []);
}

/** Whether events come: 'waiting', 'open' or 'lost'. */
export function useLive() {
  const [state, set] = useState('waiting');
  useEvents((kind) => (kind === 'open' || kind === 'lost') && set(kind));
  return state;
}
