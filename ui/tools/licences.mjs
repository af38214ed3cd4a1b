// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Writes LICENSES.txt, the licences of the packages that the built UI contains, into DIST or internal/ui/dist.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const { dependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const names = new Set(Object.keys(dependencies));
for (const name of names) {
  const own = JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, root), 'utf8'));
  for (const further of Object.keys(own.dependencies ?? {})) names.add(further);
}
const parts = [...names].sort().map((name) => {
  const folder = new URL(`node_modules/${name}/`, root);
  const { version, license } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));
  const file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(new URL(file, folder), 'utf8').trim()}\n`;
});
const dist = process.env.DIST ?? new URL('../internal/ui/dist', root).pathname;
writeFileSync(`${dist}/LICENSES.txt`, parts.join(`\n${'-'.repeat(80)}\n\n`));
