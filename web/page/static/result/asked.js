// What a Result was asked for: its parameters, in the units that the catalogue of its kind of probe gives them.
import { html } from '../html.js';
import { useDoc } from '../docs.js';
import { format } from '../format.js';

/** The unit of a parameter, by its type in the catalogue. @type {Record<string, string>} */
const units = { time: 'seconds', rate: 'bits_per_second', size: 'bytes', ratio: 'ratio' };

/**
 * A parameter as people read it: 0.1 of type time is 100 ms.
 * @param {any} value in SI units
 * @param {string | undefined} type of the catalogue; undefined: it has none, or has not come yet
 */
export function asked(value, type) {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const unit = units[type ?? ''];
  if (typeof value === 'number' && unit) return format(value, unit);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** @param {{kind: string, parameters: [string, any][]}} props */
export function Asked({ kind, parameters }) {
  const { doc } = useDoc(parameters.some(([, v]) => typeof v === 'number') ? 'api/v1/tools' : null); // without it the numbers are shown all the same
  const tool = /** @type {ToolDoc[]} */ (doc?.tools ?? []).find((t) => t.kind === kind && !t.of_mesh);
  const types = new Map(tool?.parameters.map((p) => [p.name, p.type]));
  return html`<dl>${parameters.map(([name, v]) => html`<dt>${name}</dt><dd>${asked(v, types.get(name))}</dd>`)}</dl>`;
}
