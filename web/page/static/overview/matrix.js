// The matrix as a thing to look at, point at, and walk through by keyboard. Pictures are not read aloud, so what the cursor is
// on is told in words below it, in a live region.
import { html, useLayoutEffect, useMemo, useRef, useState } from '../html.js';
import { format } from '../format.js';
import { link, go } from '../router.js';
import { useSettings } from '../settings.js';
import { labelOf } from '../metrics.js';
import { Painter, colors } from './painter.js';
import { fitting, layoutOf, largest, smallest } from './layout.js';
import { differing } from './model.js';
import { words } from './judge.js';
import { cellWords } from './words.js';
import { moved } from './keys.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {{row: number, column: number}} Cell */

const beside = 260; // pixels of a screen's height that are the page's head, controls and legend
const lists = 19; // rem that the lists beside the matrix need, with the gap

/**
 * @param {{model: Model, size: number, resize: (size: number) => void, query: Record<string, string>}} props
 * size 0: what fits. query goes along to the pair.
 */
export function Matrix({ model, size, resize, query }) {
  const settings = useSettings();
  const room = useRef(/** @type {HTMLElement | null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const painter = useRef(/** @type {Painter | null} */ (null));
  const painted = useRef(/** @type {{model: Model, key: string} | null} */ (null));
  const [width, setWidth] = useState(0); // there may be for the matrix
  const [held, setCursor] = useState(/** @type {Cell | null} */ (null));
  const [pointed, setHover] = useState(/** @type {(Cell & {x: number, y: number}) | null} */ (null));
  /** A live answer may have fewer hosts than the one before. @template {Cell} C @param {C | null} c */
  const still = (c) => (c && Math.max(c.row, c.column) < model.n ? c : null);
  const [cursor, hover] = [still(held), still(pointed)];

  const layout = useMemo(() => {
    const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement('canvas').getContext('2d'));
    const groups = new Set(model.hosts.map((h) => h.site)).size;
    const names = Math.min(110, longest(pen, model.hosts.map((h) => h.name)));
    const height = Math.max(330, innerHeight - beside);
    const fit = size || fitting(model.n, groups, Math.min(width, height) - names - 12);
    const label = fit >= 10 ? names : Math.min(110, longest(pen, model.hosts.map((h) => h.site)));
    return layoutOf(model.hosts, fit, label);
  }, [model.hosts.map((h) => h.name + h.site).join(), size, width]);

  useLayoutEffect(() => {
    const box = /** @type {HTMLElement} */ (room.current);
    const p = new Painter(/** @type {HTMLCanvasElement} */ (canvas.current));
    painter.current = p;
    const all = /** @type {HTMLElement} */ (box.closest('.overview'));
    const aside = /** @type {HTMLElement} */ (all.querySelector('aside'));
    const measure = () => {
      const least = parseFloat(getComputedStyle(document.documentElement).fontSize) * lists;
      setWidth(all.clientWidth - (aside.offsetTop < box.offsetTop + box.offsetHeight ? least : 0));
    };
    const see = new ResizeObserver(measure);
    see.observe(all);
    measure();
    return () => {
      see.disconnect();
      p.stop();
    };
  }, []);

  useLayoutEffect(() => {
    const p = painter.current;
    const box = room.current;
    if (!p || !box || !width) return;
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const key = JSON.stringify([layout.size, layout.full, settings.theme, dark, model.byPast]);
    const changed = painted.current?.key === key ? differing(painted.current.model, model) : null;
    painted.current = { model, key };
    /** @type {HTMLElement} */ (box.closest('.overview')).style.setProperty('--matrix', `${layout.label + layout.full + 8}px`);
    p.resize(Math.min(box.clientWidth, layout.label + layout.full + 4), Math.min(box.clientHeight, layout.head + layout.full + 4));
    p.show(model, layout, colors(), changed);
  }, [model, layout, width, settings]);

  const p = painter.current;
  if (p) {
    p.cursor = cursor ?? { row: -1, column: -1 };
    p.hover = hover ?? { row: -1, column: -1 };
    p.later();
  }

  /** @param {Cell} at */
  const open = (at) => go(leads(model, at, query));
  /** @param {KeyboardEvent} e */
  const press = (e) => {
    if (e.altKey || e.metaKey) return;
    const at = cursor ?? { row: 0, column: Math.min(1, model.n - 1) };
    const next = moved(at, e.key, e.ctrlKey, layout.groups, model.n);
    if (next) {
      setCursor(cursor ? next : at);
      reveal(/** @type {HTMLElement} */ (room.current), layout, next);
    } else if (e.key === 'Enter' && cursor) open(cursor);
    else if (e.key === '+' || e.key === '=') resize(Math.min(largest, Math.ceil(layout.size * 1.4)));
    else if (e.key === '-') resize(Math.max(smallest, Math.floor(layout.size / 1.4)));
    else return;
    e.preventDefault();
  };
  /** @param {PointerEvent} e */
  const find = (e) => {
    const box = /** @type {HTMLElement} */ (canvas.current).getBoundingClientRect();
    const at = p?.at(e.clientX - box.left, e.clientY - box.top);
    return at ? { ...at, x: e.clientX, y: e.clientY } : null;
  };
  const scrolled = () => {
    if (!p || !room.current) return;
    p.scroll = { x: room.current.scrollLeft, y: room.current.scrollTop };
    p.later();
  };
  const name = `${labelOf(model.metric)} between ${model.n} hosts`;
  return html`
    <div class="matrix" ref=${room} role="application" tabindex="0" aria-roledescription="matrix" aria-label=${name}
      aria-describedby="matrix-help" onScroll=${scrolled} onKeyDown=${press} onFocus=${() => cursor || setCursor({ row: 0, column: 1 })}
      onPointerMove=${(/** @type {PointerEvent} */ e) => e.pointerType === 'mouse' && setHover(find(e))} onPointerLeave=${() => setHover(null)}
      onClick=${(/** @type {PointerEvent} */ e) => {
        const at = find(e);
        if (at && (e.pointerType !== 'touch' || (cursor?.row === at.row && cursor.column === at.column))) open(at);
        else if (at) setCursor({ row: at.row, column: at.column });
      }}>
      <div class="sizer" style=${{ width: layout.label + layout.full + 'px', height: layout.head + layout.full + 'px' }}>
        <canvas ref=${canvas} aria-hidden="true"></canvas>
      </div>
    </div>
    <p class="hidden" id="matrix-help">Arrow keys move from cell to cell, Enter opens the pair. Each cell holds both directions.
      The button Table shows the same as a table.</p>
    <p class="detail" aria-live="polite">${cursor
      ? html`${told(model, cursor)} <a href=${leads(model, cursor, query)}>Open the pair</a>`
      : html`<span class="quiet">${'Lower left: row → column. Upper right: column → row.'}</span>`}</p>
    ${hover && html`<${Tip} model=${model} at=${hover} />`}`;
}

/** Where a cell leads: to its pair, and there to what is wrong. @param {Model} m @param {Cell} at @param {Record<string, string>} query */
const leads = (m, { row, column }, query) =>
  link(['pair', m.hosts[row].name, m.hosts[column].name], { ...query, ...(m.why && { metric: m.why.get(row * m.n + column)?.[0].metric }) });

/** @param {CanvasRenderingContext2D} pen @param {string[]} names */
function longest(pen, names) {
  pen.font = '14px system-ui, sans-serif';
  return Math.ceil(Math.max(0, ...names.map((n) => pen.measureText(n).width)));
}

/**
 * Scrolls so that a cell is in view.
 * @param {HTMLElement} box
 * @param {import('./layout.js').Layout} l
 * @param {Cell} at
 */
function reveal(box, l, at) {
  const [x, y] = [l.places[at.column], l.places[at.row]];
  const [w, h] = [box.clientWidth - l.label, box.clientHeight - l.head];
  box.scrollTo(Math.min(x, Math.max(box.scrollLeft, x + l.size - w + 4)), Math.min(y, Math.max(box.scrollTop, y + l.size - h + 4)));
}

/**
 * A direction in words.
 * @param {Model} m
 * @param {number} row
 * @param {number} column
 */
export function direction(m, row, column) {
  const i = row * m.n + column;
  if (m.why) return cellWords(m.why.get(i), m.classes[i], m.to);
  const word = words[m.classes[i]];
  const past = m.past && m.past.median[i] !== null
    ? `, usually ${format(m.past.median[i], m.unit)} (${format(m.past.low[i], m.unit)} to ${format(m.past.high[i], m.unit)})` : '';
  return m.values[i] === null ? 'no value' : `${format(m.values[i], m.unit)}, ${m.byPast ? word.past : word.limit}${past}`;
}

/** @param {Model} m @param {Cell} at */
function told(m, { row, column }) {
  const [a, b] = [m.hosts[row], m.hosts[column]];
  return `${a.name} → ${b.name}: ${direction(m, row, column)}. ${b.name} → ${a.name}: ${direction(m, column, row)}.`;
}

/** @param {{model: Model, at: Cell & {x: number, y: number}}} props */
function Tip({ model: m, at }) {
  const [a, b] = [m.hosts[at.row], m.hosts[at.column]];
  const right = at.x > innerWidth / 2;
  const low = at.y > innerHeight - 120;
  const style = { left: at.x + (right ? -14 : 14) + 'px', top: at.y + (low ? -70 : 14) + 'px', transform: right ? 'translateX(-100%)' : 'none' };
  return html`<div class="tip" aria-hidden="true" style=${style}>
    <b>${a.name} → ${b.name}</b> ${direction(m, at.row, at.column)}<br /><b>${b.name} → ${a.name}</b> ${direction(m, at.column, at.row)}</div>`;
}
