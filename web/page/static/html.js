// Preact and htm as the pages use them: html`<p>…</p>` is an element.
import { h } from './vendor/preact.mjs';
import htm from './vendor/htm.mjs';

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);
export { render } from './vendor/preact.mjs';
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useErrorBoundary } from './vendor/hooks.mjs';
