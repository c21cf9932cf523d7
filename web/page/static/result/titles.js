// How verdicts and findings are called: the API has it from the knowledge base.
import { useEffect, useState } from '../html.js';
import { get } from '../api.js';

/** @type {Record<string, string> | null} once they came: they are the controller's own, and do not change */
let known = null;

/**
 * How a verdict or a finding is called. What has no entry, such as a setting that an audit judges, is called by its ID.
 * @param {Record<string, string> | null} titles null: they have not come yet
 * @param {string} id
 */
export const headline = (titles, id) => (titles ? titles[id] ?? (id.charAt(0).toUpperCase() + id.slice(1)).replaceAll('-', ' ') : '…');

/** @returns {(id: string) => string} how a verdict or a finding is called */
export function useTitles() {
  const [titles, set] = useState(known);
  useEffect(() => {
    if (known) return void set(known); // they came since this was drawn
    const stop = new AbortController();
    get('api/v1/titles', stop.signal).then((doc) => set(known = doc.titles), () => stop.signal.aborted || set({}));
    return () => stop.abort();
  }, []);
  return (id) => headline(titles, id);
}
