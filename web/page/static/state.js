// What a page shows instead of data: that it is on its way, that there is none, that something failed, and what to do then.
import { html } from './html.js';
import { link, here } from './router.js';

/** @param {{of: string}} props */
export const Loading = ({ of }) => html`<p class="quiet" role="status">Loading ${of} …</p>`;

/** @param {{title: string, children?: any}} props */
export const Empty = ({ title, children }) => html`<div class="empty"><p><strong>${title}</strong></p>${children}</div>`;

/** @type {Record<number, string>} */
const advice = {
  '-1': 'That is a fault of the page itself. Load it again; if it stays so, tell the administrator what it says here.',
  0: 'Is `pathwise serve` running, and does a proxy before it let this page through? It is asked again when you press the button.',
  401: 'Sign in to see this.',
  403: 'Your account may not see this: an administrator can change its role.',
  404: 'It may have been deleted by the retention rules, or the link is wrong.',
  422: 'The address of this page asks for something that cannot be. Go back, or begin at the overview.',
  429: 'Too much was asked in a short time. Wait a moment.',
  503: 'The controller is only starting, or what it needs is in use. Wait a moment.',
};

/**
 * @param {{error: import('./api.js').ApiError, what: string, retry?: () => void}} props
 */
export function Failure({ error, what, retry }) {
  const todo = advice[error.status] ?? 'The controller\'s log says more. If it stays so, tell its administrator.';
  return html`<div class="failure" role="alert">
    <p><strong>${what} could not be shown.</strong> ${error.message}</p>
    <p>${todo}</p>
    <p>
      ${error.status === 401
        ? html`<a class="button" href=${link(['sign-in'], { then: here().href })}>Sign in</a>`
        : retry && html`<button type="button" onClick=${retry}>Try again</button>`}
    </p>
  </div>`;
}
