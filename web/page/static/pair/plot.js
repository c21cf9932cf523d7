// A graph over time: uPlot in the colours of the page, with gaps, loss and changes drawn in, walked through by keyboard, told in words.
import uPlot from '../vendor/uplot.mjs';
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../html.js';
import { useSettings, color, zone } from '../settings.js';
import { format, scaleOf } from '../format.js';
import { span, tickTexts } from '../times.js';
import { reason } from './columns.js';
import { sentence } from './happened.js';
import { drawAlone, drawChanges, drawHoles, drawLoss, drawMarks, drawSeams } from './ink.js';

/** @typedef {import('./columns.js').Column} Column */
/**
 * What one graph shows.
 * @typedef {{
 *   x: number[], columns: Column[], series: {color: string, width?: number, dash?: number[], bars?: boolean, steps?: boolean, points?: boolean}[],
 *   bands: {over: number, under: number, color: string}[], holes: import('./columns.js').Hole[],
 *   loss: Column | null, marks: Column[], alone: number[], line: number, step: number, y: [number, number], unit: string, told: (i: number) => string, sum?: string,
 *   seams?: import('./seams.js').Seam[],
 * }} Picture
 * bands are between two columns; line is the column that the picture is about, on which loss is drawn; step, in seconds, is what each place stands for; marks are points of their own; alone are the places of
 * values that no line touches; told is what is known of a place,
 * in words, sum what is known of the whole span, where that is more than the values' ends.
 */

/**
 * @param {{picture: Picture, range: import('./range.js').Range, name: string, zoom: (from: number, to: number) => void,
 *   keys: (e: KeyboardEvent, at: number) => void, changes: import('./happened.js').Change[], pair: [string, string], high?: boolean}} props
 * pair: the one that changes are of, there
 */
export function Plot({ picture, range, name, zoom, keys, changes, pair, high }) {
  const settings = useSettings();
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const plot = useRef(/** @type {uPlot | null} */ (null));
  const now = useRef({ picture, range, zoom, changes });
  now.current = { picture, range, zoom, changes };
  const [at, setAt] = useState(/** @type {number | null} */ (null));
  const [told, setTold] = useState('');
  const shape = JSON.stringify([picture.series, picture.bands, picture.unit, settings.zone, settings.theme, matchMedia('(prefers-color-scheme: dark)').matches]);

  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (box.current);
    const u = new uPlot(options(element, now, setAt, high ?? false), data(picture), element);
    plot.current = u;
    const see = new ResizeObserver(() => {
      const size = { width: element.clientWidth, height: heightOf(element, high ?? false) };
      if (size.width !== u.width || size.height !== u.height) u.setSize(size); // it is told of the first size, too
    });
    see.observe(element);
    return () => {
      see.disconnect();
      u.destroy();
      plot.current = null;
    };
  }, [shape]);

  useLayoutEffect(() => { // with what is written beside it, not a frame later
    const u = plot.current;
    if (!u) return;
    u.setData(data(picture), false); // all three are drawn at once, when this task ends
    u.setScale('x', { min: range.from / 1e3, max: range.to / 1e3 });
    u.setScale('y', { min: picture.y[0], max: picture.y[1] });
    element().dataset.buckets = String(picture.x.length); // for those who wait for it
  }, [picture, range.from, range.to, shape]);
  const marked = useRef(changes); // a new graph has them
  useEffect(() => {
    if (marked.current !== changes) plot.current?.redraw(false);
    marked.current = changes;
  }, [changes]);
  const about = useMemo(() => summary(picture), [picture]); // a graph is rendered anew with each move of the pointer

  /** What is known of a place: its values, and what happened nearer to it than to its neighbours. @param {number} i */
  const tellAll = (i) => {
    const [before, at, after] = [picture.x[i - 1] ?? -Infinity, picture.x[i], picture.x[i + 1] ?? Infinity];
    const near = changes.filter((c) => c.t >= 500 * (before + at) && c.t < 500 * (at + after)); // ms, and the middle of seconds
    return picture.told(i) + near.slice(0, 2).map((c) => `; ${sentence(c, pair)}`).join('') + (near.length > 2 ? `; and ${near.length - 2} more changes` : '');
  };
  const element = () => /** @type {HTMLElement} */ (box.current);
  /** @param {KeyboardEvent} e */
  const press = (e) => {
    const u = plot.current;
    const last = picture.x.length - 1;
    if (!u || e.ctrlKey || e.altKey || e.metaKey) return;
    const i = at ?? -1;
    const to = { ArrowLeft: i < 0 ? last : i - 1, ArrowRight: i + 1, Home: 0, End: last }[e.key];
    if (to !== undefined && last >= 0) {
      const next = Math.max(0, Math.min(last, to));
      u.setCursor({ left: u.valToPos(picture.x[next], 'x'), top: 20 });
      setAt(next);
      setTold(tellAll(next));
      e.preventDefault();
      return;
    }
    keys(e, at === null ? (range.from + range.to) / 2 : picture.x[at] * 1e3);
  };
  const hole = at !== null && picture.x[at] !== undefined && picture.columns[picture.line]?.[at] === null
    ? picture.holes.find((g) => g.from <= picture.x[at] && picture.x[at] <= g.to) : undefined;
  const line = at === null || at >= picture.x.length ? '' : hole ? 'No value: ' + reason(hole) : tellAll(at);
  return html`<div class="plot">
    <p class="read" aria-hidden="true">${line || html`<span class="quiet">${about}</span>`}</p>
    <div class="canvas" ref=${box} tabindex="0" role="application" aria-roledescription="graph" aria-label=${`${name}. ${about}`}
      onKeyDown=${press}></div>
    <p class="hidden" aria-live="polite">${told}</p>
  </div>`;
}

/** @param {Picture} p */
function summary(p) {
  const values = /** @type {number[]} */ ((p.columns[p.line] ?? []).filter((v) => v != null));
  const besides = p.marks.reduce((n, m) => n + m.filter((v) => v != null).length, 0);
  if (!values.length && besides) return `No planned value in this span, ${besides} besides the plan`;
  if (!values.length) return p.holes.length ? 'No value in this span: ' + reason(p.holes[0]) : 'No value in this span';
  const gaps = p.holes.length ? `, ${p.holes.length} ${p.holes.length === 1 ? 'gap' : 'gaps'}` : '';
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const whole = p.sum && low === high ? '' : `${p.sum ? `in ${span(p.step * 1e3)} ` : ''}${format(low, p.unit)} to ${format(high, p.unit)}, last ${format(values.at(-1), p.unit)}`;
  return `${[p.sum, whole].filter(Boolean).join('; ')}${gaps}${besides ? `, ${besides} besides the plan` : ''}`;
}

/** @param {Picture} p @returns {any} */
const data = (p) => [p.x, ...p.columns];

/** @param {HTMLElement} e @param {boolean} high */
const heightOf = (e, high) => Math.round(Math.max(120, Math.min(innerHeight * (high ? 0.34 : 0.2), e.clientWidth * (high ? 0.5 : 0.32))));

/**
 * @param {HTMLElement} element
 * @param {{current: {picture: Picture, range: import('./range.js').Range, zoom: (from: number, to: number) => void, changes: import('./happened.js').Change[]}}} now
 * @param {(i: number | null) => void} setAt
 * @param {boolean} high
 * @returns {uPlot.Options}
 */
function options(element, now, setAt, high) {
  const { picture, range } = now.current;
  const font = '12px system-ui, sans-serif';
  const axis = { stroke: color('--quiet'), font, grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } };
  return {
    width: Math.max(100, element.clientWidth), height: heightOf(element, high), legend: { show: false }, padding: [6, 34, 0, 0],
    ...(zone() === 'utc' ? { tzDate: (ts) => uPlot.tzDate(new Date(ts * 1e3), 'Etc/UTC') } : {}),
    cursor: {
      y: false, points: { show: false }, drag: { x: true, y: false, setScale: false },
      sync: { key: 'pair', filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave', sub: () => true } },
    },
    scales: {
      x: { time: true, auto: false, min: range.from / 1e3, max: range.to / 1e3 },
      y: { auto: false, range: () => now.current.picture.y },
    },
    axes: [
      { ...axis, space: 76, size: 38, values: (_u, ticks) => tickTexts(ticks) },
      { ...axis, size: 52, space: 26, ...(picture.unit === 'count' ? { incrs: [1, 2, 5, 10, 20, 50] } : {}), values: (_u, ticks) => {
        const [factor] = scaleOf(now.current.picture.y[1], now.current.picture.unit);
        return ticks.map((v) => String(Number((v / factor).toPrecision(6))).replace('-', '−'));
      } },
    ],
    series: [{}, ...picture.series.map((s) => ({
      stroke: s.color === 'none' ? undefined : color(s.color), width: s.width ?? 1.5, dash: s.dash, spanGaps: false,
      points: s.points === undefined ? { show: s.color !== 'none' && !s.bars ? undefined : false, size: 4 } : { show: s.points },
      ...(s.bars ? { paths: uPlot.paths.bars?.({ size: [0.8, 40, 2] }), fill: color(s.color) } : {}),
      ...(s.steps ? { paths: uPlot.paths.stepped?.({ align: 1 }) } : {}),
    }))],
    bands: picture.bands.map((b) => ({ series: [b.over + 1, b.under + 1], fill: color(b.color) })),
    hooks: {
      drawAxes: [(u) => drawHoles(u, now.current.picture)],
      draw: [(u) => drawSeams(u, now.current.picture), (u) => drawChanges(u, now.current.changes), (u) => drawAlone(u, now.current.picture), (u) => drawLoss(u, now.current.picture),
        (u) => drawMarks(u, now.current.picture)],
      setCursor: [(u) => setAt(u.cursor.idx ?? null)],
      setSelect: [(u) => {
        const { left, width } = u.select;
        if (width > 4) now.current.zoom(u.posToVal(left, 'x') * 1e3, u.posToVal(left + width, 'x') * 1e3);
        u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      }],
    },
  };
}
