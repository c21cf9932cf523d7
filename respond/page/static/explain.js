// Says in words what the results of a test mean. It touches no page, and gives the same words for the same results.

/** A rate in bit/s, to three digits: "94.1 Mbit/s". */
export function rate(bitsPerSecond) {
  if (!(bitsPerSecond > 0)) return 'not known';
  const [unit, name] = [[1e9, 'Gbit/s'], [1e6, 'Mbit/s'], [1e3, 'kbit/s'], [1, 'bit/s']].find(([unit]) => bitsPerSecond >= unit * 0.9995) ?? [1, 'bit/s'];
  return `${digits(bitsPerSecond / unit)} ${name}`;
}

const digits = (v) => (v >= 99.95 ? v.toFixed(0) : v >= 9.995 ? v.toFixed(1) : v.toFixed(2));
const time = (seconds) => (seconds >= 0.9995 ? `${digits(seconds)} s` : seconds >= 0.0009995 ? `${digits(seconds * 1000)} ms` : `${digits(seconds * 1e6)} µs`);
const percent = (share) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

/** How long a file of a gigabyte takes. */
function file(bitsPerSecond) {
  const seconds = 8e9 / bitsPerSecond;
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min`;
  return `about ${(seconds / 3600).toFixed(1)} h`;
}

// Thresholds of what is worth a sentence.
const HELD = 0.2; // of the time: less is the usual start of a connection, until the windows have grown
const RESENT = 0.01; // of the bytes: a queue that overflows at times loses less
const WAITS = 0.1; // seconds more under load, which people hear in a call (ITU-T G.114 has 150 ms one way for all of a call)
const SETTLED = 1e6; // microseconds after which a test is under way

/** Round trips of a test in seconds: the least, and the median of those under load; undefined where none is known. */
function trips({ told }) {
  const tcp = told.map((m) => m.TCPInfo ?? {});
  const least = Math.min(...tcp.map((t) => t.MinRTT).filter((v) => v > 0)) / 1e6;
  const loaded = tcp.filter((t) => t.ElapsedTime >= SETTLED || tcp.at(-1).ElapsedTime < 2 * SETTLED).map((t) => t.RTT).filter((v) => v > 0).sort((a, b) => a - b);
  return { least: Number.isFinite(least) ? least : undefined, loaded: loaded.length ? loaded[loaded.length >> 1] / 1e6 : undefined };
}

/** What held a download back, by the server's TCP_INFO. Linux counts limited time as busy, too. */
export function heldBy(tcp) {
  const of = (name) => (tcp.ElapsedTime > 0 ? (tcp[name] ?? 0) / tcp.ElapsedTime : 0);
  if (!(tcp.ElapsedTime > 0) || tcp.BusyTime === undefined) return { what: 'unknown' };
  if (of('RWndLimited') >= HELD) return { what: 'receiver', share: of('RWndLimited') };
  if (of('SndBufLimited') >= HELD) return { what: 'buffer', share: of('SndBufLimited') };
  if (of('BusyTime') < 1 - HELD) return { what: 'server', share: 1 - of('BusyTime') };
  return { what: 'network', share: of('BusyTime') };
}

const holders = {
  unknown: () => "The server's kernel does not tell.",
  receiver: (share) => `This device: for ${percent(share)} of the time the server could send no more, since the window that this device offers was full. Either the program here is slow to take data, or its largest receive buffer is too small for this round trip.`,
  buffer: (share) => `The server: for ${percent(share)} of the time its send buffer was too small for this round trip.`,
  server: (share) => `The server: for ${percent(share)} of the time it had nothing to send, as when its processor is busy.`,
  network: () => 'The network between the server and this device: the server always had data to send, and no window held it.',
};

/** What the results mean, as names with their sentences, and what to do next. */
export function explain(down, up, host) {
  const meaning = [], next = [];
  const tcp = down.told.at(-1)?.TCPInfo ?? {};
  meaning.push(['Speed', `Data came at ${rate(down.bitsPerSecond)} and went at ${rate(up.bitsPerSecond)}, by one TCP connection each. `
    + (down.bitsPerSecond > 0 ? `A file of 1 GB takes ${file(down.bitsPerSecond)} to come` : 'How long a file takes to come is not known')
    + (up.bitsPerSecond > 0 ? `, and ${file(up.bitsPerSecond)} to go.` : '.')]);

  const ways = [trips(down), trips(up)];
  const least = Math.min(...ways.map((w) => w.least).filter((v) => v > 0));
  const added = ways.map((w) => (w.loaded === undefined || !Number.isFinite(least) ? undefined : Math.max(0, w.loaded - least)));
  if (Number.isFinite(least)) {
    const under = [['while data came', ways[0], added[0]], ['while it went', ways[1], added[1]]].filter(([, , more]) => more !== undefined)
      .map(([when, w, more]) => `${time(w.loaded)} ${when} (${time(more)} more)`);
    const worst = Math.max(0, ...added.filter((v) => v !== undefined));
    meaning.push(['Latency, and latency under load', `A round trip takes ${time(least)} at best${under.length ? ', ' + under.join(' and ') : ''}. `
      + (worst >= WAITS ? 'Something on the way keeps a long queue of packets: calls and games suffer while something else uses the link.'
        : 'No long queue builds up: calls and games suffer little while something else uses the link.')]);
    if (worst >= WAITS) next.push('Latency grows under load: switch on queue management at the router before the slowest link (CAKE or FQ-CoDel, “smart queue”), with a rate a little below that of the link.');
  }

  if (tcp.BytesSent > 0 && tcp.BytesRetrans !== undefined) {
    const share = tcp.BytesRetrans / tcp.BytesSent;
    meaning.push(['Retransmissions', `The server sent ${percent(share)} of the bytes again. `
      + (share >= RESENT ? 'That is much: packets are lost or come late on the way.' : 'That is little.')]);
    if (share >= RESENT) next.push('Packets are lost: try by cable in place of Wi-Fi, and compare; a loss that stays is on the link or behind it.');
  }

  const held = heldBy(tcp);
  meaning.push(['What held the download back', holders[held.what](held.share)]);
  if (held.what === 'receiver') next.push('Close other programs and try again; on a computer with a long round trip to the server, look whether its receive buffers are large enough: “pathwise host” says so on Linux.');
  if (held.what === 'buffer' || held.what === 'server') next.push('Tell whoever runs this server: the figure is its own, and says little of the network.');
  if (held.what === 'network') next.push('If this is less than what is paid for: test again by cable, with nothing else on the link, and at another time of the day.');
  next.push(`For the cause, run “pathwise diagnose ${host}” on a Linux computer here: it tells the limits of window, loss, queue and host apart.`);
  return { meaning, next };
}
