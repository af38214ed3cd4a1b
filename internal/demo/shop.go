// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A call is a request that a service sends to another one to answer a request of its own.
type call struct{ service, method, path string }

// services lists, for each service of the shop, its endpoints and the calls behind each.
var services = map[string]map[string][]call{
	"web": {
		"GET /{$}":     {{"catalog", "GET", "/products"}},
		"GET /cart":    {{"cart", "GET", "/items"}},
		"POST /orders": {{"checkout", "POST", "/orders"}},
	},
	"catalog":    {"GET /products": {{"inventory", "GET", "/stock"}}},
	"inventory":  {"GET /stock": nil},
	"cart":       {"GET /items": nil},
	"checkout":   {"POST /orders": {{"cart", "GET", "/items"}, {"payments", "POST", "/charges"}, {"mail", "POST", "/messages"}}},
	"payments":   {"POST /charges": {{"ledger", "POST", "/entries"}}},
	"ledger":     {"POST /entries": nil},
	"mail":       {"POST /messages": nil},
	"newsletter": {"POST /issues": {{"mail", "POST", "/messages"}}},
}

// failures are the errors that the services make up, as ERRORS says.
var failures = map[string]struct {
	status int
	text   string
}{
	"payments":  {http.StatusPaymentRequired, "the bank declined the card"},
	"mail":      {http.StatusServiceUnavailable, "the mail server is busy"},
	"inventory": {http.StatusInternalServerError, "the count of hall 2 is missing"},
}

// Limits of calls between services.
const (
	callTimeout = 5 * time.Second
	answerRoom  = 16 << 10 // bytes of a response that are read
	requestID   = "X-Request-Id"
)

// A shop is one instance of a service.
type shop struct {
	name    string
	version string
	index   string
	urls    map[string]string // addresses of the services that it calls
	errors  int               // percentage of requests that it answers with its failure
	latency time.Duration     // mean time that it takes itself
	client  *http.Client
	now     func() time.Time

	mu  sync.Mutex
	log io.Writer
}

// ServiceNames returns the names of the services, sorted.
func ServiceNames() []string { return slices.Sorted(maps.Keys(services)) }

// Shop returns the handler of a service. Its environment has VERSION, ERRORS (a percentage),
// LATENCY (a duration), and for each service that it calls its address, such as CART_URL.
func Shop(name string, getenv func(string) string, log io.Writer, now func() time.Time) (http.Handler, error) {
	endpoints, known := services[name]
	if !known {
		return nil, fmt.Errorf("the shop has no service %q: name one of %s", name, strings.Join(ServiceNames(), ", "))
	}
	s := &shop{
		name: name, version: cmp.Or(getenv("VERSION"), "1.0.0"), index: cmp.Or(getenv("NOMAD_ALLOC_INDEX"), "0"),
		urls: map[string]string{}, client: &http.Client{Timeout: callTimeout}, now: now, log: log,
	}
	for _, pattern := range slices.Sorted(maps.Keys(endpoints)) {
		for _, c := range endpoints[pattern] {
			variable := strings.ToUpper(c.service) + "_URL"
			u, err := url.Parse(getenv(variable))
			if err != nil || u.Scheme == "" || u.Host == "" {
				return nil, fmt.Errorf("%s is not set to the address of %s: set it, for example to http://%s.localhost", variable, c.service, c.service)
			}
			s.urls[c.service] = strings.TrimSuffix(u.String(), "/")
		}
	}
	var err error
	if text := getenv("ERRORS"); text != "" {
		if s.errors, err = strconv.Atoi(text); err != nil || s.errors < 0 || s.errors > 100 {
			return nil, fmt.Errorf("ERRORS %q is not a percentage from 0 to 100", text)
		}
	}
	if text := getenv("LATENCY"); text != "" {
		if s.latency, err = time.ParseDuration(text); err != nil || s.latency < 0 || s.latency > callTimeout {
			return nil, fmt.Errorf("LATENCY %q is not a duration from 0s to %s", text, callTimeout)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	for pattern, calls := range endpoints {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, calls) })
	}
	return mux, nil
}

// serve answers one request, and logs it.
func (s *shop) serve(w http.ResponseWriter, r *http.Request, calls []call) {
	began := s.now()
	id := idOf(r)
	status, body := s.answer(r.Context(), id, calls)
	w.Header().Set(requestID, id)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, body)

	level, reason := "info", ""
	if status >= 400 {
		level, reason = "error", " "+strconv.Quote(strings.TrimSpace(body))
	}
	end := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.log, "%s %-5s %s %s %d %dms request=%s%s\n", end.UTC().Format("2006-01-02T15:04:05.000Z"), level, r.Method, r.URL.Path, status, end.Sub(began).Milliseconds(), id, reason)
}

// answer returns the status and the text of a response: a line of this service, and the responses
// of the services that it calls.
func (s *shop) answer(ctx context.Context, id string, calls []call) (int, string) {
	if s.latency > 0 {
		select {
		case <-time.After(s.latency/2 + rand.N(s.latency)):
		case <-ctx.Done():
			return 499, "the client left\n"
		}
	}
	if f := failures[s.name]; f.status > 0 && rand.IntN(100) < s.errors {
		return f.status, f.text + "\n"
	}
	body := fmt.Sprintf("%s %s, instance %s\n", s.name, s.version, s.index)
	for _, c := range calls {
		answer, status, err := s.call(ctx, id, c)
		if err != nil {
			return http.StatusBadGateway, fmt.Sprintf("%s did not answer: %v\n", c.service, err)
		}
		if status >= 400 {
			if status >= 500 {
				status = http.StatusBadGateway
			}
			return status, c.service + ": " + answer
		}
		body += answer
	}
	return http.StatusOK, body
}

// call sends a request to another service.
func (s *shop) call(ctx context.Context, id string, c call) (answer string, status int, err error) {
	q, err := http.NewRequestWithContext(ctx, c.method, s.urls[c.service]+c.path, nil)
	if err != nil {
		return "", 0, err
	}
	q.Header.Set(requestID, id)
	resp, err := s.client.Do(q)
	if err != nil {
		return "", 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, answerRoom))
	return string(text), resp.StatusCode, err
}

// idOf returns the id that a request carries through all services, or a new one. An id of a client
// is used only if it is short and plain, because logs show it.
func idOf(r *http.Request) string {
	id := r.Header.Get(requestID)
	plain := func(c rune) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' }
	if id == "" || len(id) > 36 || strings.ContainsFunc(id, func(c rune) bool { return !plain(c) }) {
		return fmt.Sprintf("%08x", rand.Uint32())
	}
	return id
}
