// Where the nodes of a lab stand: hosts at the edge, left and right; routers between them, each in the middle of its neighbours.
// The same lab looks the same each time. Pure.

/** @typedef {{x: number, y: number, side: -1 | 0 | 1}} Place side: of a host, where its name goes */

const rowHeight = 30;
const apart = 74; // pixels between routers, as far as there is room

/**
 * @param {LabNode[]} nodes
 * @param {{between: [string, string]}[]} links
 * @param {number} width pixels
 * @returns {{places: Map<string, Place>, height: number}}
 */
export function layout(nodes, links, width) {
  const near = neighbours(nodes, links);
  const { hosts, left } = sides(around(nodes, near), near);
  const routers = nodes.filter((n) => n.kind === 'router').map((n) => n.name);
  const height = Math.max(220, Math.min(440, width * 0.5), Math.max(left, hosts.length - left) * rowHeight + 70, Math.sqrt(routers.length) * 110);
  const name = Math.max(0, ...hosts.map((h) => h.length));
  const pad = Math.min(width * 0.26, name * 7.5 + 24);
  /** @type {Map<string, Place>} */
  const places = new Map();
  hosts.forEach((host, i) => {
    const onLeft = i < left;
    const many = onLeft ? left : hosts.length - left;
    const row = onLeft ? i : hosts.length - 1 - i; // the circle goes on
    const share = many > 1 ? row / (many - 1) : 0.5;
    const bend = many > 2 ? width * 0.07 * (2 * share - 1) ** 2 : 0;
    places.set(host, { x: onLeft ? pad + bend : width - pad - bend, y: 35 + share * (height - 70), side: onLeft ? -1 : 1 });
  });
  settle(routers, near, places, width, height);
  spread(routers, places, { left: pad + 40, right: width - pad - 40, top: 30, bottom: height - 30 });
  return { places, height };
}

/** @param {LabNode[]} nodes @param {{between: [string, string]}[]} links */
function neighbours(nodes, links) {
  /** @type {Map<string, Set<string>>} */
  const near = new Map(nodes.map((n) => [n.name, new Set()]));
  for (const { between: [a, b] } of links) {
    near.get(a)?.add(b);
    near.get(b)?.add(a);
  }
  return new Map([...near].map(([name, all]) => [name, [...all]]));
}

/** The hosts in an order in which those of one part of the network follow one another. @param {LabNode[]} nodes @param {Map<string, string[]>} near */
function around(nodes, near) {
  const hosts = new Set(nodes.filter((n) => n.kind === 'host').map((n) => n.name));
  const order = [];
  const seen = new Set();
  for (const { name } of nodes) {
    const stack = [name];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      if (hosts.has(at)) order.push(at);
      stack.push(...[...(near.get(at) ?? [])].reverse());
    }
  }
  return order;
}

/**
 * Cuts the circle of hosts in two halves so that those on one side are near each other; the first host stands left.
 * @param {string[]} circle
 * @param {Map<string, string[]>} near
 */
function sides(circle, near) {
  const far = circle.map((h) => hops(h, near));
  const half = Math.ceil(circle.length / 2);
  const turned = (/** @type {number} */ by) => circle.map((_, i) => (i + by) % circle.length);
  const cost = (/** @type {number[]} */ order) => {
    let sum = 0;
    for (const side of [order.slice(0, half), order.slice(half)]) for (const i of side) for (const k of side) sum += far[i].get(circle[k]) ?? 99;
    return sum;
  };
  const orders = circle.map((_, by) => turned(by));
  const best = orders.map(cost).reduce((b, c, i, all) => (c < all[b] ? i : b), 0);
  const order = orders[best] ?? [];
  const first = order.indexOf(0);
  const hosts = (first < half ? order : [...order.slice(half), ...order.slice(0, half)]).map((i) => circle[i]);
  return { hosts, left: first < half ? half : circle.length - half };
}

/** How many links lie between a node and each other. @param {string} from @param {Map<string, string[]>} near */
function hops(from, near) {
  const far = new Map([[from, 0]]);
  for (const [at, n] of far) for (const next of near.get(at) ?? []) if (!far.has(next)) far.set(next, n + 1); // grows as it is walked
  return far;
}

/** Each router goes to the middle of its neighbours, again and again. @param {string[]} routers @param {Map<string, string[]>} near @param {Map<string, Place>} places @param {number} width @param {number} height */
function settle(routers, near, places, width, height) {
  routers.forEach((r, i) => {
    const angle = (2 * Math.PI * i) / routers.length + Math.PI;
    places.set(r, { x: width / 2 + Math.cos(angle) * width * 0.2, y: height / 2 + Math.sin(angle) * height * 0.3, side: 0 });
  });
  if (routers.length === near.size) return; // nothing holds them: they stay on their circle
  for (let round = 0; round < 150; round++) {
    for (const r of routers) {
      const around = (near.get(r) ?? []).map((n) => /** @type {Place} */ (places.get(n)));
      if (!around.length) continue;
      const mean = (/** @type {'x' | 'y'} */ k) => around.reduce((s, p) => s + p[k], 0) / around.length;
      places.set(r, { x: mean('x'), y: mean('y'), side: 0 });
    }
  }
}

/** Routers that stand too close make room for one another. @param {string[]} routers @param {Map<string, Place>} places @param {{left: number, right: number, top: number, bottom: number}} box */
function spread(routers, places, box) {
  const room = Math.min(apart, Math.sqrt(((box.right - box.left) * (box.bottom - box.top)) / Math.max(1, routers.length)) * 0.8);
  const all = routers.map((r) => /** @type {Place} */ (places.get(r)));
  for (let round = 0; round < 80; round++) {
    for (let i = 0; i < all.length; i++) {
      for (let k = 0; k < i; k++) {
        const [a, b] = [all[i], all[k]];
        let [dx, dy] = [a.x - b.x, a.y - b.y];
        const d = Math.hypot(dx, dy);
        if (d >= room) continue;
        if (d < 0.01) [dx, dy] = [Math.sin(i * 2.4), Math.cos(i * 2.4)]; // on the same spot: any way will do
        const push = (room - d) / 2 / (d || 1);
        a.x += dx * push; a.y += dy * push;
        b.x -= dx * push; b.y -= dy * push;
      }
    }
    for (const p of all) {
      p.x = Math.max(box.left, Math.min(box.right, p.x));
      p.y = Math.max(box.top, Math.min(box.bottom, p.y));
    }
  }
}

const [letter, line] = [7.4, 13]; // pixels that a name takes: each letter of it, and its height

/**
 * Where names stand: those of hosts outward, those of routers on a side where they lie on nothing else, if there is one.
 * @param {{name: string, label?: string}[]} nodes label: what is written; the name, where there is none
 * @param {Map<string, Place>} places
 * @returns {Map<string, {x: number, y: number, anchor: 'start' | 'middle' | 'end'}>} y: of the middle of the text
 */
export function namesOf(nodes, places) {
  const taken = [...places.values()].map((p) => ({ left: p.x - 8, right: p.x + 8, top: p.y - 8, bottom: p.y + 8 }));
  const found = new Map();
  for (const side of [true, false]) { // hosts first: they have no choice
    for (const { name, label } of nodes) {
      const p = /** @type {Place} */ (places.get(name));
      if ((p.side !== 0) !== side) continue;
      const wide = (label ?? name).length * letter;
      const all = (p.side ? [p.side] : [0, 2, 1, -1]).map((way) => sideOf(p, way, wide));
      const overlap = all.map(({ box: b }) => taken.reduce((sum, t) => sum + Math.max(0, Math.min(b.right, t.right) - Math.max(b.left, t.left))
        * Math.max(0, Math.min(b.bottom, t.bottom) - Math.max(b.top, t.top)), 0));
      const best = all[overlap.indexOf(Math.min(...overlap))];
      taken.push(best.box);
      found.set(name, best.at);
    }
  }
  return found;
}

/** The name of a node on one side of it: 0 above, 2 below, 1 to the right, -1 to the left. @param {Place} p @param {number} way @param {number} wide */
function sideOf(p, way, wide) {
  const x = way === 1 ? p.x + 11 : way === -1 ? p.x - 11 : p.x;
  const y = way === 0 ? p.y - 15 : way === 2 ? p.y + 16 : p.y;
  const left = x - (way === 1 ? 0 : way === -1 ? wide : wide / 2);
  return { at: { x, y, anchor: way === 1 ? 'start' : way === -1 ? 'end' : 'middle' }, box: { left, right: left + wide, top: y - line / 2, bottom: y + line / 2 } };
}
