// What a pair has, as rows of graphs: which series each row asks for, and what it makes of the answers.
import { format, share, unitOf } from '../format.js';
import { table } from '../metric-table.js';
import { definitionOf } from '../metrics.js';
import { when } from '../times.js';
import { alone, axisOf, column, extent, nearest } from './columns.js';

/**
 * One row: the same graph for both directions. metrics are asked for in this order; the first is what the row is about.
 * @typedef {{id: string, title: string, metrics: string[], draw: 'smoke' | 'bars' | 'line' | 'steps', high?: boolean, zero?: boolean}} Row
 */

/** What is drawn, in the order of the table. @type {Row[]} */
const rows = table.flatMap((m) => (m.draw === '' ? [] : m.draw === 'smoke' ? [smoke(m.name, m.label, m.loss ?? '')]
  : [{ id: m.name, title: m.label, metrics: [m.name], draw: m.draw, zero: m.draw !== 'steps' }]));

/** A median with its least, 95th percentile and most around it. @param {string} name @param {string} label @param {string} loss @returns {Row} */
function smoke(name, label, loss) {
  const of = ['median', 'min', 'p95', 'max'].map((q) => name.replace('_median_', `_${q}_`));
  return { id: name.split('_median_')[0], title: label.split(',')[0], metrics: [...of, loss], draw: 'smoke', high: true };
}

/** Metrics that no row shows unless somebody asks for one. @param {Key[]} keys */
export function othersOf(keys) {
  const shown = new Set(rows.flatMap((r) => r.metrics));
  return [...new Set(keys.map((k) => k.metric))].filter((m) => !shown.has(m)).sort();
}

/**
 * The rows for what the mesh file's tests measure, the first of all among them, and those that are of nothing but what was measured besides.
 * @param {Row[]} rows
 * @param {Key[]} keys of both directions
 * @returns {[Row[], Row[]]}
 */
export function parted(rows, keys) {
  const of = new Set(keys.filter(planned).map((k) => k.metric));
  const first = rows.filter((r, i) => i === 0 || of.has(r.metrics[0]));
  return of.size ? [first, rows.filter((r) => !first.includes(r))] : [rows, []];
}

/**
 * The rows for what there is, first that which the page is about; one more for a metric that somebody asks for and that has none.
 * @param {Key[]} keys of both directions
 * @param {string} metric
 * @param {string} label of it
 */
export function rowsOf(keys, metric, label) {
  const there = new Set(keys.map((k) => k.metric));
  const found = rows.filter((r) => there.has(r.metrics[0]));
  const about = found.find((r) => r.metrics[0] === metric) ?? found.find((r) => r.metrics.includes(metric));
  if (about) return [about, ...found.filter((r) => r !== about)];
  return there.has(metric) ? [{ id: metric, title: label, metrics: [metric], draw: /** @type {const} */ ('line') }, ...found] : found;
}

/** Whether a series is of tests of the mesh file; others, which somebody asked for once, are drawn as points. @param {Key} k */
export const planned = (k) => k.role === 'planned';

/** Why else than by plan a metric is measured: a pattern of roles, and how a graph says so. */
export const besides = /** @type {const} */ ([['demand', 'on demand'], ['diagnosis/*', 'by a diagnosis']]);

/** Whether a role is of a pattern. @param {string} role @param {string} pattern */
export const isOf = (role, pattern) => (pattern.endsWith('*') ? role.startsWith(pattern.slice(0, -1)) : role === pattern);

/**
 * The tools that measured a metric: first those of the mesh file's tests, and of either the one with most runs; last those of a history that
 * nobody measured, which goes on no more.
 * @param {Key[]} keys
 * @param {string} metric
 * @param {Measured[]} measured how often each ran; of a tool that is not among them nobody knows
 */
export function toolsOf(keys, metric, measured) {
  /** @param {string} tool @param {boolean} plan those of the mesh file's tests */
  const runs = (tool, plan) => measured.filter((m) => m.metric === metric && m.tool === tool && (m.role === 'planned') === plan).reduce((n, m) => n + m.runs, 0);
  const of = keys.filter((k) => k.metric === metric);
  const tools = [...new Set(of.map((k) => k.tool))].map((tool) =>
    ({ tool, over: isGenerated(of, tool), plan: of.some((k) => k.tool === tool && planned(k)), planned: runs(tool, true), others: runs(tool, false) }));
  return tools.sort((a, b) => Number(b.plan) - Number(a.plan) || Number(a.over) - Number(b.over) || b.planned - a.planned || b.others - a.others || a.tool.localeCompare(b.tool)).map((t) => t.tool);
}

/** Whether all that a tool measured was made up, for a demonstration. @param {Key[]} keys @param {string} tool */
export function isGenerated(keys, tool) {
  const own = keys.filter((k) => k.tool === tool);
  return own.length > 0 && own.every((k) => k.test?.startsWith('generated'));
}

/** Quantiles that a row asks for: what shades and line are made of. */
export const quantiles = [0.05, 0.25, 0.5, 0.75, 0.95];

/** The value that stands for a bucket: the archive knows how values of a metric merge. @param {Bucket} b */
export const valueOf = (b) => b.value;

/** What a share comes to over all buckets, by what each counts for. @param {SeriesDoc | null | undefined} doc */
export function sumOf(doc) {
  const weight = (doc?.buckets ?? []).reduce((n, b) => n + (b.weight ?? 0), 0);
  return weight ? share((doc?.buckets ?? []).reduce((n, b) => n + b.value * (b.weight ?? 0), 0) / weight, weight) : '';
}

/** @param {number} i @returns {(b: Bucket) => number | undefined} */
const quantile = (i) => (b) => b.quantiles?.[i];

/** Whether the quantiles of a bucket say how values lie: those of one run's only value do not. @param {Bucket} b */
const spread = (b) => b.count > 1 || b.quantiles_of === 'samples';

/** What one of the shades of all packets ends at; of runs that do not say them, a quantile of those. @param {number} i @returns {(b: Bucket) => number | undefined} */
const bound = (i) => (b) => (b.samples ? b.value : b.quantiles?.[i]);

/**
 * The picture of a row in one direction. Shades, from light to dark: least to most of all packets; least to the 95th percentile;
 * where 90 % and where 50 % of packets were. The line is their median. Of runs that do not say what each packet took, shades and
 * line are of what most runs had.
 * @param {Row} row
 * @param {(SeriesDoc | null)[]} docs as row.metrics
 * @param {{doc: SeriesDoc, later: number, name: string} | null} compared
 * @param {{doc: SeriesDoc | null, name: string}[]} [others] what was measured besides what is planned, of the same steps, and why
 * @param {import('./seams.js').Seam[]} [seams] where another tool's values begin
 * @returns {import('./plot.js').Picture}
 */
export function pictureOf(row, docs, compared, others = [], seams = []) {
  const [main, low, high, most, loss] = docs;
  const unit = unitOf(row.metrics[0]);
  const axis = axisOf(main, others.map((o) => o.doc));
  const c = (/** @type {SeriesDoc | null} */ d, /** @type {(b: Bucket) => number | undefined} */ pick) => column(d ?? null, axis, pick);
  const smoke = row.draw === 'smoke';
  const middle = c(main, valueOf);
  const marks = others.map((o) => c(o.doc, valueOf));
  const half = [c(main, quantile(1)), c(main, quantile(3))];
  // In the order in which they are painted, the wider ones first. The place of those of smoke is kept where there are none yet, so that
  // the graph stays the same one.
  const shades = [...(smoke ? [c(low, bound(0)), c(most, bound(4)), c(low, bound(2)), c(high, bound(2))] : []), c(main, quantile(0)), c(main, quantile(4)), ...half];
  const columns = [...shades, middle];
  const line = shades.length;
  /** @type {import('./plot.js').Picture['series']} */
  const series = [...shades.map(() => ({ color: 'none' })), { color: '--series', bars: row.draw === 'bars', steps: row.draw === 'steps' }];
  const bands = row.draw === 'bars' || row.draw === 'steps' ? []
    : Array.from({ length: line / 2 }, (_, i) => ({ over: 2 * i + 1, under: 2 * i, color: `--smoke-${i + 5 - line / 2}` }));
  // The most that any packet took would flatten everything else: the 95th percentiles say how high the graph is.
  const seen = [...columns.filter((_, i) => !smoke || i !== 1), ...marks];
  // What is compared with: the half of all it had as two thin lines, its median dashed.
  if (compared) {
    /** @param {(b: Bucket) => number | undefined} pick */
    const other = (pick) => nearest(compared.doc, axis.x, compared.later, pick);
    const edge = (/** @type {number} */ i) => other((b) => (spread(b) ? b.quantiles?.[i] : undefined));
    const added = row.draw === 'bars' ? [other(valueOf)] : [edge(1), edge(3), other(valueOf)];
    columns.push(...added);
    seen.push(...added);
    for (const _ of added.slice(1)) series.push({ color: '--compare', width: 0.8, points: false, steps: row.draw === 'steps' });
    series.push({ color: '--compare', dash: [5, 4], steps: row.draw === 'steps' });
  }
  const lost = smoke ? c(loss ?? null, valueOf) : null;
  const sent = c(smoke ? loss ?? null : main, (b) => b.weight);
  const counted = !smoke && Boolean(definitionOf(row.metrics[0])?.of);
  const counts = c(main, (b) => b.count);
  const spreads = c(main, (b) => Number(spread(b)));
  const by = new Map((main?.buckets ?? []).map((/** @type {import('./seams.js').Own} */ b) => [axis.row.get(Date.parse(b.start) / 1e3), b.by]));
  /** @param {number} i */
  const more = (i) => marks.map((m, k) => (m[i] == null ? '' : `; ${others[k].name} ${format(m[i], unit)}`)).join('');
  /** @param {number} i */
  const told = (i) => {
    if (middle[i] == null) return `${when(axis.x[i] * 1e3)}: no ${axis.own.has(i) ? 'planned ' : ''}value${more(i)}`;
    const n = counts[i] ?? 0;
    const within = spreads[i] ? `, half within ${format(half[0][i], unit)} to ${format(half[1][i], unit)}` : '';
    const l = lost?.[i];
    const other = compared ? `, ${compared.name} ${format(columns.at(-1)?.[i], unit)}` : '';
    return `${when(axis.x[i] * 1e3, 'second')}: ${counted ? share(middle[i], sent[i]) : format(middle[i], unit)}${within}${l != null ? `, loss ${share(l, sent[i], true)}` : ''}, ${n} ${n === 1 ? 'run' : 'runs'}${by.get(i) ? ` by ${by.get(i)}` : ''}${other}${more(i)}`;
  };
  return { x: axis.x, columns, series, bands, holes: axis.holes, loss: lost, marks, alone: alone(middle), line, step: main?.step_seconds ?? others[0]?.doc?.step_seconds ?? 0, y: extent(seen, row.zero ?? false), unit, told, sum: counted ? sumOf(main) : '', seams };
}
