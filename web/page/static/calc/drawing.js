// A drawing of package calc as SVG: curves, axes with their units, and what was asked for as a ring.
import { html, useEffect, useRef, useState } from '../html.js';
import { format } from '../format.js';
import { scaleFor, tidy } from './scale.js';

const edges = { right: 14, top: 12, bottom: 42 };
const letter = 6.9; // the width of one of the ticks'
const mostRows = 13; // of the table: what one reads, not what one draws

/**
 * @param {{drawing: CalcDrawing, marked?: string}} props marked: what the ring is of
 */
export function Drawing({ drawing, marked = 'asked for' }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(([e]) => setWidth(Math.round(e.contentRect.width)));
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return html`<figure class="curves">
    <figcaption><h2>${drawing.title}</h2></figcaption>
    <ul class="legend">
      ${drawing.series.map((s, i) => html`<li><span class=${'swatch ' + (i ? 'dash' : 'line')}></span> ${s.label}</li>`)}
      <li><span class="ring"></span> ${marked}: ${at(drawing, drawing.mark)}</li>
    </ul>
    <div ref=${box}>${width > 0 && html`<${Picture} drawing=${drawing} width=${width} marked=${marked} />`}</div>
    <details><summary>As a table</summary>
      <div class="columns">${drawing.series.map((s) => html`<${Table} drawing=${drawing} series=${s} />`)}</div>
    </details>
  </figure>`;
}

/** @param {CalcAxis} axis @param {number} v */
const say = (axis, v) => tidy(format(v, axis.unit)) + (axis.unit === 'packets' ? ' packets' : '');

/** @param {CalcDrawing} d @param {[number, number]} point */
const at = (d, [x, y]) => `${d.x.label} ${say(d.x, x)}, ${d.y.label} ${say(d.y, y)}`;

/**
 * A drawing in words: where each curve begins and ends.
 * @param {CalcDrawing} d
 * @param {string} marked
 */
export function summary(d, marked) {
  const lines = d.series.filter((s) => s.points.length).map((s) => {
    const [first, last] = [s.points[0], s.points[s.points.length - 1]];
    return `${s.label}: from ${at(d, first)} to ${at(d, last)}.`;
  });
  return `${d.title}. ${lines.join(' ')} ${marked[0].toUpperCase() + marked.slice(1)}: ${at(d, d.mark)}.`;
}

/** @param {{drawing: CalcDrawing, width: number, marked: string}} props */
function Picture({ drawing: d, width, marked }) {
  const height = Math.round(Math.max(230, Math.min(0.5 * width, 420)));
  const points = [d.mark, ...d.series.flatMap((s) => s.points)];
  const [x, y] = [scaleFor(d.x, points.map((p) => p[0])), scaleFor(d.y, points.map((p) => p[1]))];
  const left = 30 + letter * Math.max(...y.ticks.map((t) => t.text.length), 2);
  const [w, h] = [width - left - edges.right, height - edges.top - edges.bottom];
  /** @param {number} v */
  const px = (v) => Math.round((left + w * x.place(v)) * 10) / 10;
  /** @param {number} v */
  const py = (v) => Math.round((edges.top + h * (1 - y.place(v))) * 10) / 10;
  const [bottom, mx, my] = [edges.top + h, px(d.mark[0]), py(d.mark[1])];
  return html`<svg role="img" aria-label=${summary(d, marked)} width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`}>
    ${x.ticks.map((t) => html`<path class="grid" d=${`M${px(t.at)} ${edges.top}V${bottom}`} />
      <text class="middle" x=${px(t.at)} y=${bottom + 17}>${t.text}</text>`)}
    ${y.ticks.map((t) => html`<path class="grid" d=${`M${left} ${py(t.at)}H${width - edges.right}`} />
      <text class="end" x=${left - 7} y=${py(t.at) + 4}>${t.text}</text>`)}
    <path class="frame" d=${`M${left} ${edges.top}V${bottom}H${width - edges.right}`} />
    <text class="middle" x=${left + w / 2} y=${height - 6}>${x.label}</text>
    <text class="middle" transform=${`translate(13 ${edges.top + h / 2}) rotate(-90)`}>${y.label}</text>
    ${d.series.map((s, i) => html`<polyline class=${'s' + i} points=${s.points.map((p) => `${px(p[0])},${py(p[1])}`).join(' ')} />`)}
    ${Number.isFinite(mx + my) && html`<path class="to-axes" d=${`M${mx} ${bottom}V${my}H${left}`} /><circle cx=${mx} cy=${my} r="5" />`}
  </svg>`;
}

/** @param {{drawing: CalcDrawing, series: {label: string, points: [number, number][]}}} props */
function Table({ drawing: d, series }) {
  const every = Math.max(1, Math.ceil((series.points.length - 1) / (mostRows - 1)));
  const rows = series.points.filter((_, i) => i % every === 0 || i === series.points.length - 1);
  return html`<table><caption>${series.label}</caption>
    <thead><tr><th scope="col" class="num">${d.x.label}</th><th scope="col" class="num">${d.y.label}</th></tr></thead>
    <tbody>${rows.map((p) => html`<tr><td class="num">${say(d.x, p[0])}</td><td class="num">${say(d.y, p[1])}</td></tr>`)}</tbody>
  </table>`;
}
