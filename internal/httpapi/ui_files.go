// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/ui"
	"github.com/reeve-run/reeve/internal/uilink"
)

// serveUI answers a request for a file of the web UI, which everyone may read, and sends a browser from / to
// the UI. It reports whether it answered.
func (h *Handler) serveUI(w http.ResponseWriter, r *http.Request) bool {
	path := r.URL.Path
	fromRoot := h.UI != nil && path == "/" && wantsPage(r)
	if !fromRoot && !ui.Claims(path) || door.IsTask(r) { // the socket of a task serves nothing without a token
		return false
	}
	ui.SetHeaders(w.Header())
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	var err error
	if h.Door != nil {
		err = h.Door.CheckSite(r)
	}
	switch {
	case err != nil:
		writeError(w, r, err)
	case h.UI == nil:
		writeError(w, r, api.Errorf(api.CodeNotFound, "the web UI is off on this agent: set ui { enabled = true } in its configuration, or open the UI of another agent"))
	case fromRoot:
		w.Header().Set("Vary", "Accept")
		w.Header().Set("Location", uilink.Root)
		w.WriteHeader(http.StatusFound)
	default:
		h.UI.ServeHTTP(w, r)
	}
	return true
}

// wantsPage reports whether a browser opens an address.
func wantsPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}
