// What the lists of people and tokens share.
import { html, useState } from '../html.js';

/** A secret that is shown once. @param {{what: string, text: string}} props */
export const Secret = ({ what, text }) => html`<div class="note" role="status"><p><strong>${what}</strong> is shown here, and nowhere again:</p><pre tabindex="0">${text}</pre></div>`;

/**
 * A button that asks once more before it does what cannot be undone.
 * @param {{what: string, action: string, act: () => Promise<any>}} props
 */
export function Sure({ what, action, act }) {
  const [asked, ask] = useState(false);
  return asked
    ? html`<button type="button" onClick=${() => { ask(false); act(); }} aria-label=${`Yes, ${action.toLowerCase()} ${what}`}>Yes</button> <button type="button" onClick=${() => ask(false)}>No</button>`
    : html`<button type="button" onClick=${() => ask(true)} aria-label=${`${action} ${what}`}>${action}</button>`;
}
