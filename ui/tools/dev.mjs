// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Serves the built UI with the headers of the agent, and passes the API on to a running agent, so that a change
// of the UI needs no new binary:
//
//     npx vite build --watch &
//     node tools/dev.mjs [PORT [AGENT]]     default: 5173 http://127.0.0.1:4646

import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { extname, join, normalize } from 'node:path';

const port = Number(process.argv[2] ?? 5173);
const agent = new URL(process.argv[3] ?? 'http://127.0.0.1:4646');
const dist = new URL('../../internal/ui/dist/', import.meta.url).pathname;

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.txt': 'text/plain; charset=utf-8' };
const headers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; img-src 'self' data:; connect-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types reeve",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
};

// The agent answers only requests to its own address.
function forAgent(h) {
  const out = { ...h, host: agent.host };
  if (out.origin) out.origin = agent.origin;
  return out;
}

const server = createServer((req, res) => {
  const { pathname } = new URL(req.url, 'http://localhost');
  if (pathname === '/') {
    res.writeHead(302, { Location: '/ui/' }).end();
    return;
  }
  if (!pathname.startsWith('/ui/')) {
    const up = request({ host: agent.hostname, port: agent.port, path: req.url, method: req.method, headers: forAgent(req.headers) }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      res.flushHeaders();
      answer.pipe(res);
    });
    up.on('error', (e) => (res.headersSent ? res.destroy() : res.writeHead(502, { 'Content-Type': 'text/plain' }).end(String(e))));
    res.on('close', () => up.destroy());
    req.pipe(up);
    return;
  }
  let file = join(dist, normalize(pathname.slice('/ui/'.length)));
  if (!file.startsWith(dist) || !existsSync(file) || !statSync(file).isFile()) file = join(dist, 'index.html');
  res.writeHead(200, { ...headers, 'Content-Type': types[extname(file)] ?? 'application/octet-stream' });
  createReadStream(file).pipe(res);
});

server.on('upgrade', (req, socket, head) => {
  const up = connect(Number(agent.port || 80), agent.hostname, () => {
    const lines = Object.entries(forAgent(req.headers)).map(([k, v]) => `${k}: ${v}`);
    up.write(`${req.method} ${req.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    up.write(head);
    socket.pipe(up).pipe(socket);
  });
  up.on('error', () => socket.destroy());
  socket.on('error', () => up.destroy());
});

server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/ui/ shows ${agent.origin}`));
