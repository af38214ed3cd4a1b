// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Fails if a browser would load more than the budget: sizes.mjs DIST

import { readFileSync, readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const dist = process.argv[2];
const gz = (file) => gzipSync(readFileSync(`${dist}/${file}`), { level: 9 }).length;
const files = ['index.html', ...readdirSync(`${dist}/assets`).map((f) => `assets/${f}`)];

/** first are the files that every page loads: the entry, and what it imports at once. */
function first() {
  const seen = new Set();
  const visit = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, name] of readFileSync(`${dist}/assets/${file}`, 'utf8').matchAll(/(?:\bfrom|\bimport)\s*["'`]\.\/([\w.-]+\.js)["'`]/g)) visit(name);
  };
  visit('index.js');
  visit('worker.js');
  return [...seen];
}

const sum = (list) => list.reduce((n, f) => n + gz(f), 0);
const rows = [
  ['first load, JavaScript', sum(first().map((f) => `assets/${f}`)), 45 * 1024],
  ['first load, CSS', gz('assets/index.css'), 10 * 1024],
  ['everything', sum(files), 260 * 1024],
];
let failed = false;
for (const [what, size, budget] of rows) {
  console.log(`${what}: ${size} of ${budget} bytes, gzipped`);
  if (size > budget) failed = true;
}
// The code of pages needs a document, which a worker has not.
for (const worker of ['worker.js', 'sieve.js', 'layout.js']) {
  const [found] = readFileSync(`${dist}/assets/${worker}`, 'utf8').matchAll(/(?:\bfrom|\bimport)\s*["'`]\.\/core\.js["'`]/g);
  if (!found) continue;
  console.error(`${worker} imports core.js, the code of pages: share types only`);
  process.exit(1);
}
if (failed) {
  console.error('the web UI is larger than its budget: load what few pages need in a chunk of its own');
  process.exit(1);
}
