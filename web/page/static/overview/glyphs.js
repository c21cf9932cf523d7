// What tells the classes of cells apart without their colours.
import { Bad, Warn } from './judge.js';

/**
 * The mark of a class, at a point: a dot warns, a cross is bad, a plus is better than usual; the others have none.
 * @param {CanvasRenderingContext2D} p
 * @param {number} x
 * @param {number} y
 * @param {number} r half of its size
 * @param {number} kind the class
 */
export function glyph(p, x, y, r, kind) {
  p.lineWidth = Math.max(1.2, r / 2);
  p.beginPath();
  if (kind === Warn) p.arc(x, y, r * 0.7, 0, 7);
  else if (kind === Bad) {
    p.moveTo(x - r, y - r);
    p.lineTo(x + r, y + r);
    p.moveTo(x + r, y - r);
    p.lineTo(x - r, y + r);
  } else if (kind === 1) {
    p.moveTo(x - r, y);
    p.lineTo(x + r, y);
    p.moveTo(x, y - r);
    p.lineTo(x, y + r);
  } else return;
  if (kind === Warn) p.fill();
  else p.stroke();
}

/**
 * Lines across the half of a cell that is of one direction.
 * @param {CanvasRenderingContext2D} p
 * @param {number} x
 * @param {number} y
 * @param {number} size of the cell
 * @param {boolean} there the lower left half; else the upper right
 * @param {string} style
 */
export function hatch(p, x, y, size, there, style) {
  p.strokeStyle = style;
  p.lineWidth = 0.6;
  p.beginPath();
  for (let d = 0.25; d < 1; d += 0.25) {
    if (there) {
      p.moveTo(x, y + size * d);
      p.lineTo(x + size * (1 - d), y + size);
    } else {
      p.moveTo(x + size * d, y);
      p.lineTo(x + size, y + size * (1 - d));
    }
  }
  p.stroke();
}
