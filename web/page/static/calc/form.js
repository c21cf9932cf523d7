// The inputs of a formula. What is typed is text, which the API reads as the command line does.
import { html } from '../html.js';

/** How each kind of input is written. @type {Record<string, string>} */
const kinds = {
  rate: 'Rates are in bit/s: 100mbit, 1.5gbit.', time: 'Times: 50ms, 1.5s, 2m; a bare number is seconds.',
  size: 'Sizes are in bytes: 1448, 50MB, 4MiB; K, M and G alone are powers of 1024.', ratio: 'Ratios: 0.01% or 0.0001.',
  length: 'Distances: 1200km, 750mi, 100m.',
};

/**
 * The inputs that an example of the command line gives.
 * @param {string} example such as --rate 100mbit --rtt 50ms
 */
export function inputsOf(example) {
  const words = example.split(/\s+/);
  /** @type {Record<string, string>} */
  const given = {};
  for (let i = 0; i + 1 < words.length; i += 2) given[words[i].replace(/^--/, '')] = words[i + 1];
  return given;
}

/**
 * What a complaint of the API is about: the inputs that it names, and what it says of them.
 * @param {string} message such as 'rate, window: all are missing'
 * @param {string[]} names
 */
export function complaint(message, names) {
  const [before] = message.split(': ', 1);
  const about = before.split(', ');
  return about.every((a) => names.includes(a)) ? { about, text: message.slice(before.length + 2) } : { about: [], text: message };
}

/**
 * @param {{formula: CalcFormula, typed: Record<string, string>, type: (name: string, text: string) => void,
 *   wrong: {about: string[], text: string} | null}} props
 */
export function Form({ formula, typed, type, wrong }) {
  return html`<form class="inputs" onSubmit=${(/** @type {Event} */ e) => e.preventDefault()}>
    ${formula.inputs.map((input) => html`<${Field} key=${input.name} input=${input} text=${typed[input.name] ?? ''} type=${type}
      wrong=${wrong?.about.includes(input.name) ? wrong.text : ''} />`)}
    <p class="quiet">${Object.entries(kinds).filter(([kind]) => formula.inputs.some((i) => i.kind === kind)).map(([, text]) => text).join(' ')}</p>
  </form>`;
}

/** @param {{input: CalcInput, text: string, type: (name: string, text: string) => void, wrong: string}} props */
function Field({ input, text, type, wrong }) {
  const id = 'in-' + input.name;
  const common = {
    id, name: input.name, value: text, 'aria-describedby': `${id}-usage` + (wrong ? ` ${id}-wrong` : ''), 'aria-invalid': wrong ? 'true' : null,
    onInput: (/** @type {any} */ e) => type(input.name, e.target.value),
  };
  return html`<div class=${wrong ? 'field wrong' : 'field'}>
    <label for=${id}>${input.name.replaceAll('-', ' ')}${input.optional && html` <small>may be left out</small>`}</label>
    ${input.choices
      ? html`<select ...${common}>${input.choices.map((c) => html`<option value=${c}>${c}</option>`)}</select>`
      : html`<input ...${common} autocomplete="off" autocapitalize="off" spellcheck=${false} placeholder=${input.default} />`}
    ${wrong && html`<p class="is-failed" id=${id + '-wrong'} role="alert">${wrong}</p>`}
    <small id=${id + '-usage'}>${input.usage}</small>
  </div>`;
}
