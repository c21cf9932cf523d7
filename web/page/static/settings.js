// What a person chose, kept by the browser: theme and time zone.
import { useState, useEffect } from './html.js';

/** @typedef {{theme: 'auto' | 'light' | 'dark', zone: 'utc' | 'local'}} Settings */

const key = 'pathwise';
/** @type {Settings} */
let settings = { theme: 'auto', zone: 'utc', ...read() };

function read() {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}');
  } catch {
    return {};
  }
}

export const zone = () => settings.zone;

/** @param {Partial<Settings>} changes */
export function choose(changes) {
  settings = { ...settings, ...changes };
  try {
    localStorage.setItem(key, JSON.stringify(settings));
  } catch {
    // It holds for this visit, then.
  }
  show();
}

const system = matchMedia('(prefers-color-scheme: dark)');

let printing = false; // on paper all is light

/** The theme that holds. */
const themeNow = () => (printing ? 'light' : settings.theme);

function show() {
  if (themeNow() === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = themeNow();
  dispatchEvent(new Event('pathwise-settings'));
}
for (const [event, begins] of /** @type {const} */ ([['beforeprint', true], ['afterprint', false]])) {
  addEventListener(event, () => {
    printing = begins;
    show();
  });
}

/** @returns {Settings} */
export function useSettings() {
  const [now, set] = useState(settings);
  useEffect(() => {
    const renew = () => set({ ...settings, theme: themeNow() });
    addEventListener('pathwise-settings', renew);
    system.addEventListener('change', renew); // canvases are painted anew
    return () => {
      removeEventListener('pathwise-settings', renew);
      system.removeEventListener('change', renew);
    };
  }, []);
  return now;
}

/** @type {HTMLElement | null} */
let probe = null;
/** @type {Map<string, string>} */
const colours = new Map();
let theme = ''; // that they are of

/**
 * The colour that a custom property stands for in the theme that holds, for canvases. Each is looked up once: the browser works
 * out styles anew for that, and a graph has hundreds of marks.
 * @param {string} name such as --ink
 */
export function color(name) {
  const holds = `${themeNow()} ${system.matches}`;
  if (holds !== theme) colours.clear();
  theme = holds;
  const known = colours.get(name);
  if (known) return known;
  if (!probe) {
    probe = document.createElement('i');
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(${name})`;
  const found = getComputedStyle(probe).color;
  colours.set(name, found);
  return found;
}
