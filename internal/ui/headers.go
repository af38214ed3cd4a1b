// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import "net/http"

// policy is the Content-Security-Policy. The hash is of the empty text: libraries create style elements without
// one. The Trusted Types policy "reeve" only makes the addresses of workers.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; " +
	"img-src 'self' data:; connect-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; " +
	"require-trusted-types-for 'script'; trusted-types reeve"

// SetHeaders sets the headers that protect the web UI. Every answer below its root has them, errors too.
func SetHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
}
