// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// A cluster that stands still: Recorder passes requests on to an agent and keeps the answers; Replay gives the same
// answers again, with the built UI, so that pages show the same every time.

import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { extname, join, normalize } from 'node:path';

const dist = new URL('../../../internal/ui/dist/', import.meta.url).pathname;
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8' };
const kept = /^(content-type|x-reeve-|x-nomad-)/i;

/** keyOf names a question, whatever the page already knows. */
function keyOf(req) {
  const url = new URL(req.url, 'http://localhost');
  const waits = url.searchParams.has('index');
  for (const name of ['index', 'wait']) url.searchParams.delete(name);
  url.searchParams.sort();
  return { key: `${req.method} ${url.pathname}${url.search}`, waits, streams: url.pathname.endsWith('/stream') || url.searchParams.get('follow') === 'true', url };
}

function serve(answer) {
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url, 'http://localhost');
    if (!pathname.startsWith('/ui/')) return answer(req, res);
    let file = join(dist, normalize(pathname.slice('/ui/'.length)));
    if (!file.startsWith(dist) || !existsSync(file) || !statSync(file).isFile()) file = join(dist, 'index.html');
    res.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream' });
    return createReadStream(file).pipe(res);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

class Served {
  get base() {
    return `http://127.0.0.1:${this.server.address().port}`;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** A Recorder keeps the last answer to each question. */
export class Recorder extends Served {
  static async start(agent) {
    const r = new Recorder();
    r.agent = new URL(agent);
    r.answers = {};
    r.server = await serve((req, res) => r.#pass(req, res));
    return r;
  }

  #pass(req, res) {
    const { key } = keyOf(req);
    const headers = { ...req.headers, host: this.agent.host, 'accept-encoding': 'identity' };
    if (headers.origin) headers.origin = this.agent.origin;
    const up = request({ host: this.agent.hostname, port: this.agent.port, path: req.url, method: req.method, headers }, (answer) => {
      const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => kept.test(name)));
      const got = { status: answer.statusCode, headers, body: '' };
      answer.setEncoding('utf8');
      res.writeHead(answer.statusCode, headers);
      res.flushHeaders();
      const done = () => {
        // A question that was withdrawn has no answer; a stream has the lines that came.
        if (answer.complete || keyOf(req).streams) this.answers[key] = got;
      };
      answer.on('data', (text) => {
        got.body += text;
        res.write(text);
      });
      answer.on('end', () => res.end());
      answer.on('close', done);
    });
    up.on('error', () => res.destroy());
    res.on('close', () => up.destroy());
    req.pipe(up);
  }
}

/** A Replay answers as a Recorder heard it. What nobody asked then is not found, and is listed. */
export class Replay extends Served {
  static async start(answers) {
    const r = new Replay();
    r.unknown = new Set();
    r.server = await serve((req, res) => {
      const { key, waits, streams } = keyOf(req);
      const got = answers[key];
      if (!got) {
        r.unknown.add(key);
        res.writeHead(404, { 'Content-Type': 'application/json' }).end(JSON.stringify({ Code: 'not-found', Message: 'not recorded', Detail: [] }));
        return;
      }
      if (waits && !streams) return; // nothing changes
      res.writeHead(got.status, got.headers);
      if (!streams) {
        res.end(got.body);
        return;
      }
      res.flushHeaders();
      res.write(got.body.slice(0, got.body.lastIndexOf('\n') + 1));
    });
    return r;
  }
}
