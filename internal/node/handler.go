// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Handler serves /v1/client/... for this node's allocations.
func (n *Node) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, do func(http.ResponseWriter, *http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := do(w, r); err != nil {
				writeError(w, err)
			}
		})
	}
	handle("GET /v1/client/fs/ls/{alloc}", n.serveList)
	handle("GET /v1/client/fs/stat/{alloc}", n.serveStat)
	handle("GET /v1/client/fs/cat/{alloc}", n.serveCat)
	handle("GET /v1/client/fs/readat/{alloc}", n.serveReadAt)
	handle("GET /v1/client/fs/stream/{alloc}", n.serveStream)
	handle("GET /v1/client/fs/logs/{alloc}", n.serveLogs)
	for _, verb := range []string{"PUT", "POST"} {
		handle(verb+" /v1/client/allocation/{alloc}/restart", n.serveRestart)
		handle(verb+" /v1/client/allocation/{alloc}/signal", n.serveSignal)
	}
	handle("GET /v1/client/allocation/{alloc}/exec", n.serveExec)
	handle("GET /v1/client/allocation/{alloc}/snapshot", n.serveSnapshot)
	handle("GET /v1/client/allocation/{alloc}/checks", n.serveChecks)
	handle("GET /v1/client/allocation/{alloc}/stats", n.serveStats)
	handle("/v1/client/allocation/{alloc}/gc", n.serveCollect)
	handle("GET /v1/client/stats", func(w http.ResponseWriter, _ *http.Request) error {
		return writeJSON(w, n.meter.Read(n.Node().Resources.CPU.PerCore(), time.Now()))
	})
	handle("/v1/client/gc", n.serveCollectAll)
	handle("GET /v1/client/images", n.serveImages)
	handle("PUT /v1/client/images/gc", n.serveCollectImages)
	handle("POST /v1/client/images/gc", n.serveCollectImages)
	return mux
}

func writeJSON(w http.ResponseWriter, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(data)
	return err
}

var statusOf = map[api.ErrorCode]int{
	api.CodeInvalid: http.StatusBadRequest, api.CodeForbidden: http.StatusForbidden, api.CodeNotFound: http.StatusNotFound,
	api.CodeConflict: http.StatusConflict, api.CodeTooLarge: http.StatusRequestEntityTooLarge,
	api.CodeUnavailable: http.StatusServiceUnavailable,
}

// writeError writes an error as text.
func writeError(w http.ResponseWriter, err error) {
	var e *api.Error
	if !errors.As(err, &e) {
		e = api.Errorf(api.CodeInternal, "%v", err)
	}
	status, ok := statusOf[e.Code]
	if !ok {
		status = http.StatusInternalServerError
	}
	http.Error(w, e.Error(), status)
}

// fileError converts an error of the file system for the client; path is the one that the
// client gave.
func fileError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return api.Errorf(api.CodeNotFound, "no file %q in the allocation's directory", path)
	case isEscape(err):
		return api.Errorf(api.CodeForbidden, "%q leads out of the allocation's directory", path)
	case errors.Is(err, fs.ErrPermission):
		return api.Errorf(api.CodeForbidden, "%q may not be read", path)
	}
	var e *api.Error
	if errors.As(err, &e) {
		return e
	}
	return api.Errorf(api.CodeInvalid, "read %q: %v", path, errors.Unwrap(err))
}

// number parses a parameter that is a non-negative integer.
func number(r *http.Request, name string, missing int64) (int64, error) {
	v, err := signed(r, name, missing)
	if err != nil || v < 0 {
		return 0, api.Errorf(api.CodeInvalid, "%s %q: must be a number that is not negative", name, r.FormValue(name))
	}
	return v, nil
}

// signed parses a parameter that is an integer.
func signed(r *http.Request, name string, missing int64) (int64, error) {
	s := r.FormValue(name)
	if s == "" {
		return missing, nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, api.Errorf(api.CodeInvalid, "%s %q: must be a whole number", name, s)
	}
	return v, nil
}

// flag parses a boolean parameter, which is false if absent.
func flag(r *http.Request, name string) (bool, error) {
	s := r.FormValue(name)
	if s == "" {
		return false, nil
	}
	v, err := strconv.ParseBool(s)
	if err != nil {
		return false, api.Errorf(api.CodeInvalid, "%s %q: must be true or false", name, s)
	}
	return v, nil
}
