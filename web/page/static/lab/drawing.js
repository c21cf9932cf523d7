// A lab as a drawing: nodes, and links that are chosen by pointer or arrow keys.
import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { layout, namesOf } from './layout.js';
import { brief, kindOfLink, kinds, nameOf, told, unlimited } from './judge.js';

const mostLabels = 14; // links; with more, only the one that is chosen says what it does

/**
 * @param {{lab: LabDoc, chosen: number, choose: (link: number) => void, bits: (link: number) => number}} props
 * bits: what passes a link now, both ways together
 */
export function Drawing({ lab, chosen, choose, bits }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = /** @type {HTMLElement} */ (box.current);
    const see = new ResizeObserver(() => setWidth(element.clientWidth));
    see.observe(element);
    return () => see.disconnect();
  }, []);
  const shape = lab.nodes.map((n) => n.name).join() + lab.links.map((l) => l.between.join('-')).join();
  const { places, height, names } = useMemo(() => {
    const found = layout(lab.nodes, lab.links, Math.max(width, 280));
    return { ...found, names: namesOf(lab.nodes, found.places) };
  }, [shape, width]);
  /** @param {KeyboardEvent} e */
  const press = (e) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    const last = lab.links.length - 1;
    const to = e.key === 'Home' ? 0 : e.key === 'End' ? last : step ? Math.max(0, Math.min(last, chosen + step)) : -1;
    if (to < 0 || e.ctrlKey || e.altKey || e.metaKey) return;
    e.preventDefault();
    choose(to);
    /** @type {HTMLElement | null | undefined} */ (box.current?.querySelector(`[data-link="${to}"]`))?.focus();
  };
  return html`<div class="lab-drawing" ref=${box}>
    ${width > 0 && html`<svg width=${width} height=${height} role="group" aria-label=${`Lab ${lab.name}: ${lab.links.length} links. Arrow keys choose one`} onKeyDown=${press}>
      ${lab.links.map((l) => html`<${Line} key=${l.number} link=${l} at=${path(l, lab.links, places)} on=${l.number === chosen}
        first=${l.number === (lab.links[chosen] ? chosen : 0)} choose=${choose} bits=${bits(l.number)} />`)}
      ${lab.links.map((l) => html`<${Label} key=${l.number} link=${l} at=${path(l, lab.links, places)} on=${l.number === chosen} labelled=${lab.links.length <= mostLabels || l.number === chosen} />`)}
      ${lab.nodes.map((n) => html`<${Node} key=${n.name} node=${n} at=${places.get(n.name)} name=${names.get(n.name)} />`)}
    </svg>`}
  </div>`;
}

/** @param {{node: LabNode, at: import('./layout.js').Place, name: {x: number, y: number, anchor: string}}} props name: where that stands */
function Node({ node, at, name }) {
  const host = node.kind === 'host';
  return html`<g class=${'node ' + node.kind}>
    ${host ? html`<rect x=${at.x - 6} y=${at.y - 6} width="12" height="12" />` : html`<circle cx=${at.x} cy=${at.y} r="7" />`}
    <text x=${name.x} y=${name.y + 4} text-anchor=${name.anchor}>${node.name}<title>${`${node.kind} ${node.addresses.join(' ')}`}</title></text>
  </g>`;
}

/**
 * The line of a link, and its middle. Parallel links bend away from one another.
 * @param {LabLink} link
 * @param {LabLink[]} links
 * @param {Map<string, import('./layout.js').Place>} places
 */
function path(link, links, places) {
  const key = (/** @type {LabLink} */ l) => [...l.between].sort().join(' ');
  const same = links.filter((l) => key(l) === key(link));
  const [p, q] = [...link.between].sort().map((n) => /** @type {import('./layout.js').Place} */ (places.get(n)));
  const bend = (same.indexOf(link) - (same.length - 1) / 2) * 44;
  const length = Math.hypot(q.x - p.x, q.y - p.y) || 1;
  const [x, y] = [(p.x + q.x) / 2 - ((q.y - p.y) / length) * bend, (p.y + q.y) / 2 + ((q.x - p.x) / length) * bend];
  return { d: bend ? `M${p.x} ${p.y}Q${2 * x - (p.x + q.x) / 2} ${2 * y - (p.y + q.y) / 2} ${q.x} ${q.y}` : `M${p.x} ${p.y}L${q.x} ${q.y}`, x, y };
}

/** Lines grow with what passes: from nothing to 10 Gbit/s. @param {number} bits */
const weight = (bits) => (bits < 1e3 ? 2 : 2 + Math.min(6, Math.log10(bits / 1e3) * 0.85));

/** @param {{link: LabLink, at: {d: string, x: number, y: number}, on: boolean, first: boolean, choose: (link: number) => void, bits: number}} props */
function Line({ link, at, on, first, choose, bits }) {
  return html`<g class=${`link ${kinds[kindOfLink(link)].name}${on ? ' on' : ''}`} role="button" tabindex=${first ? 0 : -1} data-link=${link.number} aria-pressed=${on}
      aria-label=${`${nameOf(link)}. ${told(link)}`} onClick=${() => choose(link.number)}
      onKeyDown=${(/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); choose(link.number); } }}>
    <path class="reach" d=${at.d} /><path class="line" d=${at.d} stroke-width=${weight(bits)} />
  </g>`;
}

/** What is written at a line; it is in the line's name, too. @param {{link: LabLink, at: {x: number, y: number}, on: boolean, labelled: boolean}} props */
function Label({ link, at, on, labelled }) {
  const kind = kinds[kindOfLink(link)];
  const [f, r] = [brief(link.forward), brief(link.reverse)];
  const lines = f !== r ? [`→ ${f}`, `← ${r}`] : f === unlimited ? [] : [f];
  return html`<g class=${`told ${kind.name}${on ? ' on' : ''}`} aria-hidden="true">
    ${kind.mark && html`<text class="sign" x=${at.x} y=${at.y + 5} text-anchor="middle">${kind.mark}</text>`}
    ${labelled && lines.map((text, i) => html`<text class="label" x=${at.x} y=${at.y + 20 + i * 13} text-anchor="middle">${text}</text>`)}
  </g>`;
}
