// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package uiproxy

import (
	"crypto/rand"
	"net/http"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/ui"
)

// A start leads one browser to an address.
type start struct {
	path   string // which nobody can guess
	opened chan struct{}

	mu sync.Mutex
	to string // "": not known, or a browser was led there
}

func newStart() *start {
	return &start{path: "/start/" + rand.Text(), opened: make(chan struct{})}
}

// lead sets the address. It is called once.
func (s *start) lead(to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = to
}

// ServeHTTP implements http.Handler.
func (s *start) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		refuse(w, r, api.Errorf(api.CodeInvalid, "%s is for GET", s.path))
		return
	}
	s.mu.Lock()
	to := s.to
	s.to = ""
	s.mu.Unlock()
	if to == "" {
		refuse(w, r, api.Errorf(api.CodeForbidden, "this address works once, and was used: run `reeve ui` again"))
		return
	}
	ui.SetHeaders(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	close(s.opened)
}
