// The client of the API. URLs are relative to the page, so that a proxy may serve both under a path of its own.

export class ApiError extends Error {
  /**
   * @param {number} status 0: there was no answer
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @type {Map<string, {etag: string, doc: any, size: number}>} oldest first */
const kept = new Map();
const mostKept = 8e6; // characters: some pair pages, or matrices of 200 hosts

/**
 * Gets a document. What has not changed since (ETag) is the same object as before, so that nothing is drawn again for it.
 * @param {string} path such as api/v1/hosts
 * @param {AbortSignal} [signal]
 */
export async function get(path, signal) {
  const had = kept.get(path);
  const answer = await ask(path, { signal, headers: had ? { 'If-None-Match': had.etag } : {} });
  if (answer.status === 304 && had) return had.doc;
  if (!answer.ok) throw new ApiError(answer.status, await why(answer));
  const text = await answer.text();
  const doc = JSON.parse(text);
  const etag = answer.headers.get('ETag');
  kept.delete(path);
  if (etag) kept.set(path, { etag, doc, size: text.length });
  let size = [...kept.values()].reduce((sum, k) => sum + k.size, 0);
  for (const [oldest, k] of kept) {
    if (size <= mostKept) break;
    size -= k.size;
    kept.delete(oldest);
  }
  return doc;
}

/**
 * Sends a document; the answer, if there is one.
 * @param {'POST' | 'PUT' | 'PATCH' | 'DELETE'} method
 * @param {string} path
 * @param {unknown} [doc]
 */
export async function send(method, path, doc) {
  const answer = await ask(path, {
    method, body: doc === undefined ? undefined : JSON.stringify(doc), headers: { 'Content-Type': 'application/json' },
  });
  if (!answer.ok) throw new ApiError(answer.status, await why(answer));
  kept.clear(); // what one may see may be another now
  return answer.status === 204 ? null : answer.json();
}

/**
 * @param {string} path
 * @param {RequestInit} init
 */
export async function ask(path, init) {
  try {
    return await fetch(path, { credentials: 'same-origin', ...init });
  } catch (e) {
    if (init.signal?.aborted) throw e;
    throw new ApiError(0, 'The controller does not answer.');
  }
}

/** @param {Response} answer */
export async function why(answer) {
  const text = await answer.text();
  try {
    const doc = JSON.parse(text);
    return doc.detail || doc.error || doc.title || answer.statusText;
  } catch {
    return text.trim().slice(0, 300) || answer.statusText;
  }
}

/** A name as a pattern that matches it alone, where the API takes patterns. @param {string} name */
export const exactly = (name) => name.replace(/[\\*?[]/g, '\\$&');

/**
 * The URL of a document of the API.
 * @param {string[]} path below api/v1
 * @param {Record<string, string | number | null | undefined>} [query] what is empty is left out
 */
export function url(path, query = {}) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v !== '' && v != null) q.set(k, String(v));
  const text = q.toString();
  return 'api/v1/' + path.map(encodeURIComponent).join('/') + (text ? '?' + text : '');
}

/**
 * What both ends of a Result are called: by their names, or by their addresses where they have none.
 * @param {{source: {name: string, address: string}, target: {name: string, address: string}}} result
 * @returns {[string, string]}
 */
export const endsOf = ({ source, target }) => [source.name || source.address, target.name || target.address];
