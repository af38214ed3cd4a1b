// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"slices"
	"strings"
)

// keepHeaders removes from the header Connection all names but those of options. A proxy does not pass on the
// headers that it names: a caller could remove its token on the way from one agent to the next, and the
// next would take the request for that of the first.
func keepHeaders(h http.Header) {
	lines := h["Connection"]
	if len(lines) == 0 {
		return
	}
	var kept []string
	for _, line := range lines {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.TrimSpace(name)
			if slices.Contains(connectionOptions, strings.ToLower(name)) {
				kept = append(kept, name)
			}
		}
	}
	if len(kept) == 0 {
		h.Del("Connection")
		return
	}
	h.Set("Connection", strings.Join(kept, ", "))
}

// connectionOptions are the values of the header Connection that concern only the connection.
var connectionOptions = []string{"close", "keep-alive", "upgrade", "te", "http2-settings"}
