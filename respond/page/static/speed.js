// Runs a test by ndt7 of the server that the page came from: a download, then an upload.
// (m-lab/ndt-server, spec/ndt7-protocol.md: messages, sizes, and who ends a test.)

import { explain, rate } from './explain.js';

const PROTOCOL = 'net.measurementlab.ndt.v7';
const SECONDS = 10; // that a test takes, where the server does not end it before
const GRACE = 0.25; // more of an upload, for the server to end it with a last measurement
const LATE = 13; // seconds after which a connection is given up
const FIRST = 1 << 13, MOST = 1 << 20; // bytes of a message

const at = (id) => document.getElementById(id);

/** Opens the WebSocket of a test, and calls back for each message. The promise is of its end. */
function run(test, { opened, message }) {
  const url = new URL('/ndt/v7/' + test + location.search, location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return new Promise((done, fail) => {
    const socket = new WebSocket(url, PROTOCOL);
    const late = setTimeout(() => socket.close(), LATE * 1000);
    let began = 0;
    socket.onopen = () => {
      began = performance.now();
      opened?.(socket, began);
    };
    socket.onmessage = ({ data }) => message(data, (performance.now() - began) / 1000);
    socket.onclose = ({ code }) => {
      clearTimeout(late);
      if (began > 0 && (code === 1000 || code === 1005 || (performance.now() - began) / 1000 >= SECONDS)) done();
      else fail(new Error(began > 0 ? 'The connection broke off.' : 'The server refused the test, or cannot be reached: another test may be running there. Try again in half a minute.'));
    };
  });
}

/** Fetches data for as long as the server sends it. */
async function download(progress) {
  const result = { bytes: 0, seconds: 0, told: [] };
  await run('download', {
    message(data, seconds) {
      if (typeof data === 'string') return void result.told.push(JSON.parse(data));
      result.bytes += data.size;
      result.seconds = seconds;
      progress(seconds, (result.bytes * 8) / seconds);
    },
  });
  return { ...result, bitsPerSecond: result.seconds > 0 ? (result.bytes * 8) / result.seconds : 0 };
}

/** Sends data until the server has had enough, or the time is over. What arrived is the server's to say. */
async function upload(progress) {
  const told = [];
  let full = false;
  await run('upload', {
    opened(socket, began) {
      let total = 0, size = FIRST;
      const random = new Uint8Array(MOST);
      for (let i = 0; i < MOST; i += 65536) crypto.getRandomValues(random.subarray(i, i + 65536)); // as much as it gives at once
      const fill = () => {
        const seconds = (performance.now() - began) / 1000;
        if (socket.readyState !== WebSocket.OPEN) return;
        if (seconds > SECONDS + GRACE) {
          full = true;
          socket.close(1000);
          return;
        }
        while (socket.bufferedAmount < 4 * size) { // enough until the next turn
          socket.send(random.subarray(0, size));
          total += size;
          if (size < MOST && size <= total / 16) size *= 2;
        }
        progress(seconds, ((total - socket.bufferedAmount) * 8) / seconds);
        setTimeout(fill, 0);
      };
      fill();
    },
    message(data) {
      if (typeof data === 'string' && !full) told.push(JSON.parse(data));
    },
  });
  const tcp = told.at(-1)?.TCPInfo ?? {};
  return { told, bitsPerSecond: tcp.ElapsedTime > 0 ? (tcp.BytesReceived * 8e6) / tcp.ElapsedTime : 0 };
}

const show = (id) => {
  let last = 0;
  return (seconds, bitsPerSecond) => {
    if (seconds - last < 0.2) return; // as often as one can read
    last = seconds;
    at(id).textContent = rate(bitsPerSecond);
    at(id + '-bar').value = seconds;
  };
};

async function test() {
  at('start').disabled = true;
  at('answer').hidden = true;
  at('status').className = '';
  for (const id of ['down', 'up']) {
    at(id).textContent = '–';
    at(id + '-bar').value = 0;
  }
  try {
    at('status').textContent = 'Fetching …';
    const down = await download(show('down'));
    at('down').textContent = rate(down.bitsPerSecond);
    at('status').textContent = 'Sending …';
    const up = await upload(show('up'));
    at('up').textContent = rate(up.bitsPerSecond);
    for (const id of ['down', 'up']) at(id + '-bar').value = SECONDS;
    at('status').textContent = 'Done.';
    answer(down, up);
  } catch (error) {
    at('status').className = 'failed';
    at('status').textContent = error.message;
  }
  at('start').disabled = false;
  at('start').textContent = 'Test again';
}

const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });

/** Shows how the server saw this page's connection, where its kernel keeps that. */
async function seen() {
  const answer = await fetch('seen.json');
  if (!answer.ok) return;
  const { lines } = await answer.json();
  at('seen-lines').replaceChildren(...lines.flatMap(({ name, text }) => [element('dt', name), element('dd', text)]));
  at('seen').hidden = false;
}

/** Writes what the results mean. */
function answer(down, up) {
  const { meaning, next } = explain(down, up, location.hostname);
  at('meaning').replaceChildren(...meaning.flatMap(([name, text]) => [element('dt', name), element('dd', text)]));
  at('next').replaceChildren(...next.map((text) => element('li', text)));
  const last = [down, up].map((r) => r.told.at(-1)?.TCPInfo ?? {});
  at('counts').replaceChildren(...[...new Set(last.flatMap(Object.keys))].sort().map((name) => {
    const row = element('tr', '');
    const head = element('th', name);
    head.scope = 'row';
    row.append(head, ...last.map((tcp) => element('td', tcp[name] === undefined ? '–' : tcp[name].toLocaleString('en'))));
    return row;
  }));
  at('answer').hidden = false;
  at('answer-name').focus();
}

at('host').textContent = location.host;
at('start').addEventListener('click', test);
seen().catch(() => {}); // the test does without it
