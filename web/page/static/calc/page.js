// The calculator: a formula, its inputs, what comes out, and the drawing of it. All of it is in the URL.
import { html, useEffect, useRef, useState } from '../html.js';
import { useDoc } from '../docs.js';
import { go, here, link } from '../router.js';
import { Failure, Loading } from '../state.js';
import { Drawing } from './drawing.js';
import { Form, complaint, inputsOf } from './form.js';

const pause = 300; // ms without a key before it is worked out anew

/** @param {{route: import('../router.js').Route}} props */
export function Calculator({ route }) {
  const { doc, error, reload } = useDoc('api/v1/formulas');
  const name = route.path[1];
  const formula = doc?.formulas.find((/** @type {CalcFormula} */ f) => f.name === name);
  return html`<div class="calc">
    ${name ? html`<h1 tabindex="-1">${formula?.title ?? (doc ? 'No such formula' : 'Calculator')}</h1>` : html`<h1 tabindex="-1">Calculator</h1>`}
    ${error && html`<${Failure} error=${error} what="The formulas" retry=${reload} />`}
    ${!doc && !error && html`<${Loading} of="the formulas" />`}
    ${doc && html`<div class=${name ? 'calc-parts' : ''}>
      <nav aria-label="Formulas"><ul class="formulas">${doc.formulas.map((/** @type {CalcFormula} */ f) => html`<li key=${f.name}>
        <a href=${link(['calc', f.name])} aria-current=${f.name === name ? 'page' : null}>${f.name}</a> <small>${f.title}</small></li>`)}</ul></nav>
      ${formula && html`<${Worked} formula=${formula} route=${route} />`}
    </div>`}
  </div>`;
}

/**
 * The inputs of a URL; of one that has none, those of the first example.
 * @param {CalcFormula} formula
 * @param {URLSearchParams} query
 */
function given(formula, query) {
  const named = formula.inputs.some((i) => query.has(i.name)) ? Object.fromEntries(query) : inputsOf(formula.examples[0]);
  return Object.fromEntries(formula.inputs.map((i) => [i.name, named[i.name] ?? i.default]));
}

/** @param {{formula: CalcFormula, route: import('../router.js').Route}} props */
function Worked({ formula, route }) {
  const [typed, setTyped] = useState(() => given(formula, route.query));
  const [asked, ask] = useState(typed);
  const written = useRef(route.href);
  useEffect(() => { // somebody went to another URL
    if (route.href === written.current) return;
    written.current = route.href;
    const now = given(formula, route.query);
    setTyped(now);
    ask(now);
  }, [route.href]);
  useEffect(() => {
    const later = setTimeout(() => {
      ask(typed);
      if (here().href !== written.current) return; // somebody is on the way to another URL
      go(link(['calc', formula.name], typed), { replace: true });
      written.current = here().href;
    }, pause);
    return () => clearTimeout(later);
  }, [typed]);
  const inputs = Object.entries(asked).filter(([, text]) => text.trim() !== '').map(([name, text]) => ['in', `${name}=${text.trim()}`]);
  const { doc, error, busy, reload } = useDoc(`api/v1/formulas/${formula.name}?${new URLSearchParams(inputs)}`);
  const wrong = error?.status === 422 ? complaint(error.message, formula.inputs.map((i) => i.name)) : null;
  return html`<div>
    <${Form} formula=${formula} typed=${typed} type=${(/** @type {string} */ name, /** @type {string} */ text) => setTyped({ ...typed, [name]: text })} wrong=${wrong} />
    ${error && !wrong && html`<${Failure} error=${error} what="The answer" retry=${reload} />`}
    ${wrong && wrong.about.length === 0 && html`<p class="failure" role="alert">${wrong.text}</p>`}
    ${doc && !error && html`<div class=${busy ? 'busy' : ''} data-of=${doc.name}>
      <${Answer} lines=${doc.lines} />
      ${doc.curves.map((/** @type {CalcDrawing} */ d) => html`<${Drawing} key=${d.title} drawing=${d} />`)}
    </div>`}
    <p class="quiet"><a href=${link(['knowledge', formula.name])}>What it means</a> · Source: ${formula.source}</p>
    <p class="quiet">On a command line: <code>pathwise calc ${formula.name} ${commandLine(formula, asked)}</code></p>
  </div>`;
}

/** @param {CalcFormula} formula @param {Record<string, string>} typed */
const commandLine = (formula, typed) => formula.inputs.filter((i) => typed[i.name] && typed[i.name] !== i.default)
  .map((i) => `--${i.name} ${/^[\w.%/-]+$/.test(typed[i.name]) ? typed[i.name] : `'${typed[i.name]}'`}`).join(' ');

/** @param {{lines: CalcLine[]}} props */
function Answer({ lines }) {
  const steps = lines.filter((l) => l.formula);
  const asides = lines.filter((l) => !l.formula);
  return html`<section aria-labelledby="answer">
    <h2 id="answer">Answer</h2>
    <p class="hidden" role="status">${steps.map((l) => `${l.label}: ${l.text}`).join('. ')}</p>
    <ol class="working">${steps.map((l) => html`<li><strong>${l.label}</strong> = ${l.text}<br /><code>${l.formula} = ${l.numbers}</code></li>`)}</ol>
    ${asides.length > 0 && html`<p class="quiet">${asides.map((l) => `${l.label} ${l.text}`).join(', ')}</p>`}
  </section>`;
}
