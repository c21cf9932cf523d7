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
    ctx.strokeStyle = color('--edge');
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    const apart = (g.kind === 'unplanned' ? 20 : 9) * devicePixelRatio;
    for (let x = left - bbox.height; x < right; x += apart) {
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
  }
  ctx.restore();
}

/** Classes of loss as users of SmokePing know them: above which share, the height of their mark for who does not see colour, a word. */
export const lossClasses = /** @type {const} */ ([[-1, 2, 'none'], [0, 4, 'to 1 %'], [0.01, 5, 'to 5 %'], [0.05, 6, 'to 20 %'], [0.2, 7, 'to 50 %'], [0.5, 9, 'more']]);

/** The class of a loss. @param {number} ratio */
export const lossClass = (ratio) => lossClasses.findLastIndex(([above]) => ratio > above);

const single = 6; // pixels of a median that no line touches, which must be seen by itself

/** Medians, each as wide as its step, in the colour of their loss; where all was lost, at the foot. @param {uPlot} u @param {Picture} p */
export function drawLoss(u, p) {
  if (!p.loss) return;
  const { ctx, bbox } = u;
  const d = devicePixelRatio;
  const line = p.columns[p.line];
  const alone = new Set(p.alone);
  const wide = u.valToPos(p.step, 'x', true) - u.valToPos(0, 'x', true);
  const medians = p.loss.flatMap((ratio, i) => {
    const at = line[i] ?? (ratio ? p.y[0] : null);
    if (ratio == null || at === null) return [];
    const kind = lossClass(ratio);
    const h = Math.max(lossClasses[kind][1], alone.has(i) ? single : 0) * d;
    const w = Math.max(wide, kind || alone.has(i) ? h : 1.5 * d);
    const [x, y] = [u.valToPos(p.x[i], 'x', true), u.valToPos(Math.min(at, p.y[1]), 'y', true)];
    return [{ kind, x, y, w, h, follows: i > 0 && p.loss?.[i - 1] != null && line[i] != null && line[i - 1] != null }];
  });
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height + 4 * d);
  ctx.clip();
  ctx.fillStyle = color('--paper'); // what parts them from the smoke
  for (const m of medians) ctx.fillRect(m.x - m.w / 2, m.y - m.h / 2 - d, m.w, m.h + 2 * d);
  ctx.lineWidth = 1.5 * d;
  medians.forEach((m, i) => { // a step from one to the next, in the colour of where it leads
    if (!m.follows) return;
    ctx.strokeStyle = color('--loss-' + m.kind);
    ctx.beginPath();
    ctx.moveTo(medians[i - 1].x, medians[i - 1].y);
    ctx.lineTo(m.x, m.y);
    ctx.stroke();
  });
  for (const m of medians.sort((a, b) => a.kind - b.kind)) {
    ctx.fillStyle = color('--loss-' + m.kind);
    ctx.fillRect(m.x - m.w / 2, m.y - m.h / 2, m.w, m.h);
  }
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

const apart = 70; // pixels between the names of two tools

/** Where the values of another tool begin: a dotted line with its name. @param {uPlot} u @param {Picture} p */
export function drawSeams(u, p) {
  const { ctx, bbox } = u;
  const d = devicePixelRatio;
  let last = -Infinity;
  ctx.save();
  ctx.strokeStyle = color('--edge');
  ctx.fillStyle = color('--quiet');
  ctx.font = `${11 * d}px system-ui, sans-serif`;
  ctx.lineWidth = d;
  ctx.setLineDash([2 * d, 3 * d]);
  for (const { at, tool } of p.seams ?? []) {
    const x = u.valToPos(at, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (x - last < apart * d) continue;
    const wide = ctx.measureText(tool).width + 4 * d;
    ctx.fillText(tool, x + wide > bbox.left + bbox.width ? x - wide : x + 4 * d, bbox.top + bbox.height - 5 * d);
    last = x;
  }
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

const size = 18; // of a mark, in pixels of the page
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
    const letters = letterOf(g);
    ctx.font = `600 ${(letters.length > 1 ? 8 : 10) * d}px system-ui, sans-serif`;
    ctx.fillText(letters, x, bbox.top + (g.worst.kind === 'finding' ? 12.5 : 9.5) * d);
  }
  ctx.restore();
}
