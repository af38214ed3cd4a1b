// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

import { defineConfig } from 'vite';

// A page in a folder is named like its folder.
const ofFolder = /\/src\/pages\/([\w-]+)\/index\.tsx$/;

// The output is committed and embedded into the binary, so names are fixed and builds repeat byte for byte.
export default defineConfig({
  base: '/ui/',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../internal/ui/dist',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssCodeSplit: true,
    reportCompressedSize: false,
    rollupOptions: {
      input: { index: 'index.html', worker: 'src/worker/main.ts', sieve: 'src/pages/logs/sieve_worker.ts', layout: 'src/layout/main.ts' },
      output: {
        entryFileNames: 'assets/[name].js',
        chunkFileNames: (c) => `assets/${ofFolder.exec(c.facadeModuleId ?? '')?.[1] ?? '[name]'}.js`,
        assetFileNames: 'assets/[name][extname]',
        // What every page needs is one file; each page, and each large library, is a file of its own.
        codeSplitting: {
          groups: [{ name: 'core', test: /node_modules\/(preact|@preact)|\/src\/(parts|store|link|words|shell)\// }],
        },
      },
    },
  },
});
