// Diagnoses that nobody asked for, in words. Pure.
import { nameOf } from '../overview/words.js';

/**
 * Why a diagnosis was made; '': somebody asked for it.
 * @param {unknown} trouble what got worse: a kind and a name, such as "host lyon"
 */
export function unaskedWords(trouble) {
  if (typeof trouble !== 'string' || !trouble) return '';
  const [kind, ...name] = trouble.split(' ');
  return `made by the controller itself, because of ${nameOf({ kind: /** @type {TroubleDoc['kind']} */ (kind), name: name.join(' ') })}`;
}
