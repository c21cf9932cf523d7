// What is drawn into a graph beside its lines: times without a value, loss, and what happened.
import { color } from '../settings.js';
import { grouped, kinds, letterOf } from './happened.js';

/** @typedef {import('../vendor/uplot.mjs').default} uPlot */
/** @typedef {import('./plot.js').Picture} Picture */

/** Times without a value are hatched, densely where something failed. @param {uPlot} u @param {Picture} p */
export function drawHoles(u, p) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const g of p.holes) {
    const left = Math.max(bbox.left, u.valToPos(g.from, 'x', true));
    const right = Math.min(bbox.left + bbox.width, u.valToPos(g.to, 'x', true));
    if (right <= left) continue;
    ctx.fillStyle = color(g.kind === 'unplanned' ? '--gap' : '--gap-bad');
    ctx.fillRect(left, bbox.top, Math.max(1, right - left), bbox.height);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, bbox.height);
    ctx.clip();
    ctx.strokeStyle = color('--quiet');
    ctx.globalAlpha = 0.35;
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    const apart = (g.kind === 'unplanned' ? 16 : 8) * devicePixelRatio;
    for (let x = left - bbox.height; x < right; x += apart) {
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
  }
  ctx.restore();
}

/** Limits of classes of loss, and the size of their marks for who does not see colour. */
export const lossClasses = /** @type {const} */ ([[0.05, '--bad', 5, 'over 5 %'], [0.01, '--warn-strong', 4, 'over 1 %'], [0, '--warn', 3, 'some']]);

/** Loss is a mark on the median, by its class. @param {uPlot} u @param {Picture} p */
export function drawLoss(u, p) {
  if (!p.loss) return;
  const { ctx } = u;
  const line = p.columns[p.line];
  ctx.save();
  p.loss.forEach((ratio, i) => {
    const found = ratio == null ? undefined : lossClasses.find(([limit]) => ratio > limit);
    if (!found) return;
    const at = line[i] ?? p.y[0];
    const x = u.valToPos(p.x[i], 'x', true);
    const y = u.valToPos(Math.min(at, p.y[1]), 'y', true);
    if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
    const r = found[2] * devicePixelRatio;
    ctx.fillStyle = color(found[1]);
    ctx.strokeStyle = color('--paper');
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    if (found[2] === 5) ctx.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
    else ctx.arc(x, y, r, 0, 7);
    ctx.fill();
    ctx.stroke();
  });
  ctx.restore();
}

/** Points at places of a column, each drawn by paint. @param {uPlot} u @param {Picture} p @param {import('./columns.js').Column} column @param {(x: number, y: number, d: number) => void} paint */
function eachPoint(u, p, column, paint) {
  column.forEach((v, i) => {
    if (v == null) return;
    const x = u.valToPos(p.x[i], 'x', true);
    if (x >= u.bbox.left && x <= u.bbox.left + u.bbox.width) paint(x, u.valToPos(Math.min(v, p.y[1]), 'y', true), devicePixelRatio);
  });
}

/** A value that no line touches is a dot: a line of one point cannot be seen. @param {uPlot} u @param {Picture} p */
export function drawAlone(u, p) {
  const { ctx } = u;
  ctx.save();
  ctx.fillStyle = color('--series');
  const column = p.x.map((_, i) => (p.alone.includes(i) ? p.columns[p.line][i] : null));
  eachPoint(u, p, column, (x, y, d) => {
    ctx.beginPath();
    ctx.arc(x, y, 3 * d, 0, 7);
    ctx.fill();
  });
  ctx.restore();
}

/** What is not of the plan is a diamond, whatever the line does there. @param {uPlot} u @param {Picture} p */
export function drawMarks(u, p) {
  const { ctx } = u;
  ctx.save();
  ctx.fillStyle = color('--paper');
  ctx.strokeStyle = color('--series');
  for (const column of p.marks) {
    eachPoint(u, p, column, (x, y, d) => {
      ctx.lineWidth = 1.5 * d;
      ctx.beginPath();
      for (const [dx, dy] of [[0, -5], [5, 0], [0, 5], [-5, 0]]) ctx.lineTo(x + dx * d, y + dy * d);
      ctx.closePath();
      ctx.fill();
      ctx.stroke();
    });
  }
  ctx.restore();
}

const size = 13; // of a mark, in pixels of the page
/** Lines of changes, by severity: a problem's is solid. */
const dashes = { info: [1, 3], warning: [5, 3], problem: [] };
const strokes = { info: '--edge', warning: '--warn-strong', problem: '--bad' };

/** A line through the graph where something happened, with its kind's shape and letter at the top. */
/** @param {uPlot} u @param {import('./happened.js').Change[]} changes */
export function drawChanges(u, changes) {
  const { ctx, bbox } = u;
  const d = devicePixelRatio;
  const range = { from: (u.scales.x.min ?? 0) * 1e3, to: (u.scales.x.max ?? 0) * 1e3 };
  ctx.save();
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  for (const g of grouped(changes, range, bbox.width / d / (size + 3))) {
    const x = u.valToPos(g.at / 1e3, 'x', true);
    const stroke = color(strokes[g.worst.severity]);
    ctx.strokeStyle = stroke;
    ctx.lineWidth = d;
    ctx.setLineDash(dashes[g.worst.severity].map((n) => n * d));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top + size * d);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.save();
    ctx.translate(x - (size / 2) * d, bbox.top);
    ctx.scale((size * d) / 24, (size * d) / 24);
    const shape = new Path2D(kinds[g.worst.kind].shape);
    ctx.fillStyle = color('--paper');
    ctx.fill(shape);
    ctx.lineWidth = 2;
    ctx.stroke(shape);
    ctx.restore();
    ctx.fillStyle = color('--ink');
    ctx.font = `${8 * d}px system-ui, sans-serif`;
    ctx.fillText(letterOf(g), x, bbox.top + (g.worst.kind === 'finding' ? 8.5 : 7) * d);
  }
  ctx.restore();
}
