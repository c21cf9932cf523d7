// Paints the matrix on a canvas: what is in view, with names that stay while cells scroll. Small cells are painted once to a
// sheet of their own, which scrolling only copies; of a live update, only the cells that changed are painted again.
import { color } from '../settings.js';
import { short } from '../format.js';
import { change, words, None, Bad, Warn } from './judge.js';
import { glyph, hatch } from './glyphs.js';
import { firstAt, hostAt, showsMarks, showsNames, showsNumbers } from './layout.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {Record<'paper' | 'ink' | 'quiet' | 'line' | 'focus' | 'diagonal', string> & {fill: string[], on: string[]}} Colors */

const largestSheet = 16e6; // pixels of the device: 64 MB, which a phone bears

/** @returns {Colors} */
export const colors = () => ({
  paper: color('--paper'), ink: color('--ink'), quiet: color('--quiet'), line: color('--line'), focus: color('--focus'),
  diagonal: color('--paper'),
  fill: ['--none', '--better', '--good', '--warn', '--bad'].map(color),
  on: ['--quiet', '--on-better', '--on-good', '--on-warn', '--on-bad'].map(color),
});

export class Painter {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
    /** @type {{model: Model, layout: Layout, colors: Colors} | null} */
    this.shown = null;
    /** @type {HTMLCanvasElement | null} */
    this.sheet = null;
    this.cursor = { row: -1, column: -1 };
    this.hover = { row: -1, column: -1 };
    this.scroll = { x: 0, y: 0 };
    this.frame = 0;
    this.ratio = 1;
  }

  /**
   * Shows a model. changed are the cells that differ from the last one; null: everything does.
   * @param {Model} model
   * @param {Layout} layout
   * @param {Colors} colors
   * @param {number[] | null} changed
   */
  show(model, layout, colors, changed) {
    this.shown = { model, layout, colors };
    const ratio = devicePixelRatio;
    const side = Math.ceil(layout.full * ratio);
    if (side * side > largestSheet) this.sheet = null;
    else if (!this.sheet || changed === null || this.sheet.width !== side) {
      this.sheet = document.createElement('canvas');
      this.sheet.width = this.sheet.height = side;
      const pen = /** @type {CanvasRenderingContext2D} */ (this.sheet.getContext('2d', { alpha: false }));
      pen.scale(ratio, ratio);
      pen.fillStyle = colors.paper;
      pen.fillRect(0, 0, layout.full, layout.full);
      this.cells(pen, 0, model.n - 1, 0, model.n - 1);
    } else {
      const pen = /** @type {CanvasRenderingContext2D} */ (this.sheet.getContext('2d', { alpha: false }));
      for (const i of changed) {
        const row = Math.floor(i / model.n);
        const column = i % model.n;
        this.cells(pen, row, row, column, column);
        this.cells(pen, column, column, row, row); // which holds the same value, as the way back
      }
    }
    this.later();
  }

  /** Fits the canvas to the room it has. @param {number} width @param {number} height */
  resize(width, height) {
    this.ratio = devicePixelRatio;
    const [w, h] = [Math.round(width * this.ratio), Math.round(height * this.ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) [this.canvas.width, this.canvas.height] = [w, h];
    this.canvas.style.width = width + 'px';
    this.canvas.style.height = height + 'px';
    this.later();
  }

  /** Paints with the next frame. */
  later() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  stop() {
    cancelAnimationFrame(this.frame);
  }

  /**
   * The cell at a place of the canvas; null beside cells.
   * @param {number} x
   * @param {number} y
   */
  at(x, y) {
    if (!this.shown) return null;
    const l = this.shown.layout;
    if (x < l.label || y < l.head) return null;
    const column = hostAt(l, x - l.label + this.scroll.x);
    const row = hostAt(l, y - l.head + this.scroll.y);
    return row < 0 || column < 0 || row === column ? null : { row, column };
  }

  paint() {
    if (!this.shown) return;
    const { layout: l, colors: c, model: m } = this.shown;
    const width = this.canvas.width / this.ratio;
    const height = this.canvas.height / this.ratio;
    const p = this.pen;
    p.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    p.fillStyle = c.paper;
    p.fillRect(0, 0, width, height);
    const { x, y } = this.scroll;
    const view = { w: Math.min(width - l.label, l.full - x), h: Math.min(height - l.head, l.full - y) };
    if (view.w <= 0 || view.h <= 0) return;
    if (this.sheet) {
      const r = this.ratio;
      p.drawImage(this.sheet, x * r, y * r, view.w * r, view.h * r, l.label, l.head, view.w, view.h);
    } else {
      p.save();
      p.beginPath();
      p.rect(l.label, l.head, view.w, view.h);
      p.clip();
      p.translate(l.label - x, l.head - y);
      this.cells(p, firstAt(l, y), firstAt(l, y + view.h), firstAt(l, x), firstAt(l, x + view.w));
      p.restore();
    }
    this.names(p, width, height);
    this.frames(p);
    this.canvas.dataset.painted = String(m.to); // for those who wait for it
    this.canvas.dataset.size = String(l.size);
  }

  /**
   * Paints a block of cells.
   * @param {CanvasRenderingContext2D} p
   * @param {number} top
   * @param {number} bottom
   * @param {number} left
   * @param {number} right
   */
  cells(p, top, bottom, left, right) {
    if (!this.shown) return;
    const { model: m, layout: l, colors: c } = this.shown;
    const inner = l.size - (l.size >= 10 ? 1 : 0.5);
    const split = l.size >= 10;
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++) {
        const x = l.places[column];
        const y = l.places[row];
        if (row === column) {
          p.fillStyle = c.line;
          p.fillRect(x + inner / 4, y + inner / 2, inner / 2, 1);
          continue;
        }
        const there = m.classes[row * m.n + column];
        const back = m.classes[column * m.n + row];
        if (there === back) {
          p.fillStyle = c.fill[there];
          p.fillRect(x, y, inner, inner);
        } else {
          this.triangle(p, x, y, inner, there, true);
          this.triangle(p, x, y, inner, back, false);
        }
        if (!split) continue;
        p.strokeStyle = c.diagonal;
        p.lineWidth = 1;
        p.beginPath();
        p.moveTo(x, y);
        p.lineTo(x + inner, y + inner);
        p.stroke();
        if (showsMarks(l.size)) {
          this.content(p, x, y, inner, row * m.n + column, true);
          this.content(p, x, y, inner, column * m.n + row, false);
        }
      }
    }
  }

  /**
   * One direction: the way there is the lower left half, the way back the upper right one.
   * @param {CanvasRenderingContext2D} p
   * @param {number} x
   * @param {number} y
   * @param {number} size
   * @param {number} kind
   * @param {boolean} there
   */
  triangle(p, x, y, size, kind, there) {
    p.fillStyle = /** @type {NonNullable<Painter['shown']>} */ (this.shown).colors.fill[kind];
    p.beginPath();
    p.moveTo(x, y);
    if (there) p.lineTo(x, y + size);
    else p.lineTo(x + size, y);
    p.lineTo(x + size, y + size);
    p.fill();
  }

  /**
   * The mark of a value, and its number where there is room.
   * @param {CanvasRenderingContext2D} p
   * @param {number} x
   * @param {number} y
   * @param {number} size
   * @param {number} cell
   * @param {boolean} there
   */
  content(p, x, y, size, cell, there) {
    const { model: m, layout: l, colors: c } = /** @type {NonNullable<Painter['shown']>} */ (this.shown);
    const kind = m.classes[cell];
    const value = m.values[cell];
    if (kind === None && value === null) {
      hatch(p, x, y, size, there, c.quiet);
      return;
    }
    p.fillStyle = p.strokeStyle = c.on[kind];
    const mx = x + size * (there ? 0.26 : 0.74);
    const my = y + size * (there ? 0.74 : 0.26);
    if (!showsNumbers(l.size) || value === null) {
      glyph(p, mx, my, Math.min(size / 9, 4), kind);
      return;
    }
    const font = Math.min(22, size * 0.235);
    p.font = `${kind >= Warn ? 600 : 400} ${font}px system-ui, sans-serif`;
    p.textBaseline = 'middle';
    p.textAlign = there ? 'left' : 'right';
    const past = m.past?.median[cell];
    const text = m.byPast && past != null ? change(value, past) : short(value, m.scale[0]);
    p.fillText((kind === Bad || kind === Warn || kind === 1 ? words[kind].mark : '') + text, x + (there ? 3 : size - 3), y + size * (there ? 0.8 : 0.22), size * 0.82);
  }

  /**
   * Names of hosts, or of sites where cells are too small for hosts.
   * @param {CanvasRenderingContext2D} p
   * @param {number} width
   * @param {number} height
   */
  names(p, width, height) {
    const { model: m, layout: l, colors: c } = /** @type {NonNullable<Painter['shown']>} */ (this.shown);
    const { x, y } = this.scroll;
    p.font = `${Math.max(10, Math.min(17, l.size * 0.75))}px system-ui, sans-serif`;
    p.textBaseline = 'middle';
    /** @type {{text: string, at: number, hosts: [number, number]}[]} */
    const texts = showsNames(l.size)
      ? m.hosts.map((h, i) => ({ text: h.name, at: l.places[i] + l.size / 2, hosts: [i, i] }))
      : l.groups.map((g) => ({ text: g.site || '(no site)', at: (l.places[g.from] + l.places[g.to] + l.size) / 2, hosts: [g.from, g.to] }));
    /** @param {{hosts: [number, number]}} t @param {'row' | 'column'} of */
    const lit = (t, of) => [this.cursor, this.hover].some((k) => k[of] >= t.hosts[0] && k[of] <= t.hosts[1]);
    let free = -Infinity;
    for (const t of texts) {
      const ty = l.head + t.at - y;
      if (ty < l.head || ty > height || t.at < free) continue;
      free = t.at + 10;
      p.fillStyle = lit(t, 'row') ? c.ink : c.quiet;
      p.textAlign = 'right';
      p.fillText(t.text, l.label - 6, ty, l.label - 8);
    }
    free = -Infinity;
    for (const t of texts) {
      const tx = l.label + t.at - x;
      if (tx < l.label || tx > width || t.at < free) continue;
      free = t.at + 10;
      p.save();
      p.translate(tx, l.head - 6);
      p.rotate(-Math.PI / 2);
      p.fillStyle = lit(t, 'column') ? c.ink : c.quiet;
      p.textAlign = 'left';
      p.fillText(t.text, 0, 0, l.head - 8);
      p.restore();
    }
  }

  /** Frames of the cells under the keyboard's cursor and under the pointer. @param {CanvasRenderingContext2D} p */
  frames(p) {
    const { layout: l, colors: c } = /** @type {NonNullable<Painter['shown']>} */ (this.shown);
    for (const [k, style, wide] of /** @type {const} */ ([[this.hover, c.ink, 1], [this.cursor, c.focus, 3]])) {
      if (k.row < 0) continue;
      const x = l.label + l.places[k.column] - this.scroll.x;
      const y = l.head + l.places[k.row] - this.scroll.y;
      if (x < l.label - 1 || y < l.head - 1) continue;
      p.strokeStyle = style;
      p.lineWidth = wide;
      p.strokeRect(x - 1, y - 1, l.size + 1, l.size + 1);
    }
  }
}
