// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
)

// knownMethods are the methods that a route refuses unless it has them. GET includes HEAD.
var knownMethods = []string{
	http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace,
}

// newMux routes requests by the table, and answers all others with an error.
func newMux(h *Handler, table []route) *http.ServeMux {
	mux := http.NewServeMux()
	allowed := map[string][]string{}
	for i := range table {
		r := &table[i]
		for _, method := range r.methods() {
			mux.HandleFunc(method+" "+r.muxPattern(), func(w http.ResponseWriter, req *http.Request) { h.dispatch(w, req, r) })
			allowed[r.muxPattern()] = append(allowed[r.muxPattern()], method)
		}
	}
	for pattern, methods := range allowed {
		if slices.Contains(methods, http.MethodGet) {
			methods = append(methods, http.MethodHead)
		}
		slices.Sort(methods)
		allow := strings.Join(methods, ", ")
		refuse := func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Allow", allow)
			writeErrorStatus(w, req, http.StatusMethodNotAllowed,
				api.Errorf(api.CodeInvalid, "%s is not for %s: use %s", req.URL.Path, req.Method, allow))
		}
		// Each method separately: a pattern of all methods would conflict with a less specific
		// pattern of one, such as DELETE /v1/server/{id}.
		for _, method := range knownMethods {
			if !slices.Contains(methods, method) {
				mux.HandleFunc(method+" "+pattern, refuse)
			}
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		writeError(w, req, api.Errorf(api.CodeNotFound, "there is no route %s: /v1/openapi.json lists those that exist", req.URL.Path))
	})
	return mux
}

// methods returns the methods of the route.
func (r *route) methods() []string {
	if r.Method == http.MethodPut {
		return []string{http.MethodPut, http.MethodPost}
	}
	return []string{r.Method}
}

// dispatch answers a request for which the mux found a route.
func (h *Handler) dispatch(w http.ResponseWriter, r *http.Request, rt *route) {
	if r.ProtoMajor < 2 {
		http.NewResponseController(w).SetWriteDeadline(time.Time{}) // of the connection's last answer
	}
	witnessOf(w).found(rt, r)
	c := &call{Handler: h, w: w, r: r, route: rt, seen: -1}
	if r.Context().Err() != nil { // this agent ends; nothing was done with the request
		w.Header().Set(notLeaderHeader, c.self())
		writeError(w, r, api.Errorf(api.CodeUnavailable, "this agent is shutting down: send the request to another server"))
		return
	}
	if err := c.authorize(); err != nil {
		c.fail(err)
		return
	}
	if err := c.limit(); err != nil {
		c.fail(err)
		return
	}
	if done, err := c.passOn(); err != nil {
		c.fail(err)
		return
	} else if done {
		return
	}
	if !rt.Local {
		if err := c.authorizeAllocation(); err != nil {
			c.fail(err)
			return
		}
	}
	// The object may be newer than the state at the first check.
	c.current = true
	if err := c.authorizeRights(); err != nil {
		c.fail(err)
		return
	}
	if rt.Stream != "" {
		defer c.guard()()
	}
	if err := c.parseQuery(); err != nil {
		c.fail(err)
		return
	}
	c.serve()
}

// serve answers the request by its route. If this server lost its leadership before anything
// was written, the request goes to the next leader: this server sends it there, or the server
// that forwarded it, which the answer tells.
func (c *call) serve() {
	if c.Leader == nil { // no other server
		if err := c.route.serve(c); err != nil {
			c.fail(err)
		}
		return
	}
	again := c.again()
	for {
		again.seen = c.leadership()
		r := c.r
		ctx, written := server.TrackWrites(r.Context())
		c.r = r.WithContext(ctx)
		err := c.route.serve(c)
		c.r = r
		if err == nil {
			return
		}
		if server.IsNotLeading(err) && !written() {
			if again.wait() {
				if done, failure := c.passOn(); done {
					return
				} else if failure == nil {
					continue
				}
			}
			c.w.Header().Set(notLeaderHeader, c.self())
		}
		c.fail(err)
		return
	}
}
