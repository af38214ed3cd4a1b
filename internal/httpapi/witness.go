// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/auditlog"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/pki"
)

// requestIDHeader has the id of a response's record.
const requestIDHeader = "X-Reeve-Request-ID"

// A witness observes a request and its response, and records them. Its methods accept nil.
type witness struct {
	http.ResponseWriter
	h     *Handler
	r     *http.Request
	began time.Time

	caller   door.Caller
	route    *route // nil: unknown, or none
	status   int    // 0: no response yet
	reason   []byte // beginning of the body of a refusal
	id       string // of the record; "": the request has none
	recorded bool
}

// witnessOf returns the witness of a response; nil if there is none.
func witnessOf(w http.ResponseWriter) *witness {
	a, _ := w.(*witness)
	return a
}

// admitted tells the caller of the request.
func (a *witness) admitted(r *http.Request) {
	if a != nil {
		a.r, a.caller = r, callerOf(r)
	}
}

// found tells the route of the request.
func (a *witness) found(rt *route, r *http.Request) {
	if a != nil {
		a.r, a.route = r, rt
	}
}

// Unwrap lets http.ResponseController find the response.
func (a *witness) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (a *witness) WriteHeader(status int) {
	a.answer(status)
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *witness) Write(p []byte) (int, error) {
	a.answer(http.StatusOK)
	if a.isRefused() && len(a.reason) < auditlog.MaxReason {
		a.reason = append(a.reason, p[:min(len(p), 2*auditlog.MaxReason)]...)
	}
	return a.ResponseWriter.Write(p)
}

// Hijack implements http.Hijacker: a command in a task takes the connection over.
func (a *witness) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err == nil {
		a.answer(http.StatusSwitchingProtocols)
	}
	return conn, buffered, err
}

// answer notes the status of the response. The record of a stream is made when it begins, because it
// may last as long as the server.
func (a *witness) answer(status int) {
	if status < 200 && status != http.StatusSwitchingProtocols || a.status != 0 { // another goroutine writes the early ones
		return
	}
	a.status = status
	if !a.matters() {
		return
	}
	a.id = auditlog.NewID()
	a.Header().Set(requestIDHeader, a.id)
	if !a.isRefused() && a.route != nil && a.route.Stream != "" {
		a.record()
	}
}

// end records the request, unless that was done already.
func (a *witness) end() {
	if a.status == 0 {
		if a.matters() {
			a.id = auditlog.NewID()
		}
		if a.r.Context().Err() == nil {
			a.status = http.StatusOK
		}
	}
	if a.id != "" && !a.recorded {
		a.record()
	}
}

func (a *witness) isRefused() bool {
	switch a.status {
	case http.StatusForbidden, http.StatusUnauthorized:
		return true
	case http.StatusTooManyRequests: // an unhealthy autopilot has this status too
		return a.Header().Get("Retry-After") != ""
	}
	return false
}

// matters reports whether the request is recorded here.
func (a *witness) matters() bool {
	if !a.isRefused() && (a.route == nil || !a.route.Audited || a.caller.Kind == door.Node || a.caller.Kind == door.Server) {
		return false
	}
	member, ok := a.h.memberOf(a.r)
	return !ok || member.Role != pki.RoleServer // that server recorded it
}

func (a *witness) record() {
	a.recorded = true
	now := time.Now()
	u, caller := a.r.URL, a.caller
	if caller.Kind == "" {
		caller.Kind = door.Unknown
	}
	out := &api.RequestRecord{
		ID: a.id, Time: now.UTC(), Server: a.h.Name, Caller: string(caller.Kind), Accessor: caller.ID, Address: a.r.RemoteAddr,
		Method: auditlog.Bounded(a.r.Method, auditlog.MaxValue), Path: withoutTokens(auditlog.Bounded(u.Path, auditlog.MaxPath+1)),
		Status: a.status, Refused: a.isRefused(), DurationMS: float64(now.Sub(a.began).Microseconds()) / 1000,
	}
	if a.route != nil {
		out.Route = auditlog.Bounded(a.route.Pattern, auditlog.MaxPath+1)
	}
	if a.route == nil {
		out.Route = auditlog.Bounded(a.h.patternOf(a.r), auditlog.MaxPath+1)
	}
	if caller.Kind == door.User && a.h.Server != nil {
		if rights := a.h.Server.RightsOfAccessor(caller.ID); rights != nil {
			out.TokenName = rights.Name
		}
	}
	if member, ok := a.h.memberOf(a.r); ok && member.Role == pki.RoleNode && caller.Kind != door.Node {
		out.Via = member.ID
	}
	a.describe(out)
	if out.Refused {
		out.Reason = withoutTokens(sentence(a.reason))
	}
	a.h.Audit.Add(out)
}

// patternOf returns the pattern of the route that a request would have; "" if it has none.
func (h *Handler) patternOf(r *http.Request) string {
	if h.mux == nil || r.URL.RawPath != "" {
		return ""
	}
	mux := h.mux
	if ofPools(r.URL.Path) {
		mux = h.pools
	}
	_, pattern := mux.Handler(r)
	if _, path, ok := strings.Cut(pattern, " "); ok {
		return path
	}
	return ""
}

// describe adds what the query and the response tell about the object of the request.
func (a *witness) describe(out *api.RequestRecord) {
	q := a.r.URL.Query()
	out.Namespace = auditlog.Bounded(namespaceOf(a.route, q), auditlog.MaxValue+1)
	for _, name := range auditedParams {
		if q.Has(name) {
			if out.Query == nil {
				out.Query = map[string]string{}
			}
			out.Query[name] = withoutTokens(auditlog.Bounded(q.Get(name), auditlog.MaxValue+1))
		}
	}
	if named := a.Header().Get(objectHeader); named != "" {
		var namespace string
		if out.Object, namespace = namedObject(named); namespace != "" {
			out.Namespace = namespace
		}
	}
}

// withoutTokens removes tokens that a caller put where an id belongs.
func withoutTokens(text string) string {
	if !strings.Contains(text, "reeve-") && !strings.Contains(text, "eyJ") {
		return text
	}
	return string(redact([]byte(text)))
}

// sentence returns the message of a refusal, which may be text or JSON.
func sentence(body []byte) string {
	var e struct{ Message string }
	if len(body) > 0 && body[0] == '{' && json.Unmarshal(body, &e) == nil && e.Message != "" {
		return e.Message
	}
	return string(body)
}
