// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/limit"
)

// Sessions of browsers.
//
// A page cannot set a header when it opens a websocket. With ws_handshake=true, its first message contains
// the token instead. The agent that the browser is connected to accepts the connection, reads that
// message, and then serves the request as if its header had contained the token: nothing else about
// the request is decided here. Only pages of this agent get that far, as with all requests.

// Bounds of the handshake. Nothing is known of a caller before its end.
const (
	handshakePatience    = 10 * time.Second
	maxHandshake         = 16 << 10 // bytes of the first message
	maxHandshakes        = 256      // at the same time
	maxHandshakesOfOne   = 16       // from one network
	maxSessionMessage    = 1 << 20  // bytes of later messages, as on the node
	sessionExitPatience  = time.Minute
	statusOfHTTP         = 4000 // added to the status of a refused request
	handshakeParam       = "ws_handshake"
	handshakeVersion     = 1
	handshakeExplanation = `begin with the message {"version": 1, "auth_token": "TOKEN"}`
)

// handshakes counts the handshakes in progress.
type handshakes struct {
	mu   sync.Mutex
	all  int
	from map[netip.Prefix]int
}

// enter adds a handshake, and reports whether there is room for it.
func (s *handshakes) enter(from netip.Prefix) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= maxHandshakes || s.from[from] >= maxHandshakesOfOne {
		return false
	}
	if s.from == nil {
		s.from = map[netip.Prefix]int{}
	}
	s.all++
	s.from[from]++
	return true
}

// leave removes a handshake.
func (s *handshakes) leave(from netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.from[from]--; s.from[from] == 0 {
		delete(s.from, from)
	}
}

// shakesHands reports whether a request begins a session whose first message contains the token. A
// page of another site gets the usual refusal.
func (h *Handler) shakesHands(r *http.Request) bool {
	path := r.URL.Path
	if r.Method != http.MethodGet || r.Header.Get("Upgrade") == "" ||
		!strings.HasPrefix(path, "/v1/client/allocation/") && !strings.HasPrefix(path, "/v1/job/") ||
		!strings.HasSuffix(path, "/exec") && !strings.HasSuffix(path, "/action") {
		return false
	}
	asked := r.URL.Query()[handshakeParam]
	return len(asked) == 1 && asked[0] == "true" && (h.Door == nil || h.Door.CheckSite(r) == nil)
}

// serveHandshake serves a request for which shakesHands is true.
func (h *Handler) serveHandshake(w http.ResponseWriter, r *http.Request) {
	from := limit.NetworkOf(r.RemoteAddr)
	if !h.handshakes.enter(from) {
		writeError(w, r, api.Errorf(api.CodeUnavailable, "too many sessions begin at the same time: try again"))
		return
	}
	entered := true
	leave := func() {
		if entered {
			h.handshakes.leave(from)
			entered = false
		}
	}
	defer leave()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // the site was checked
	if err != nil {
		return // Accept has written the response
	}
	defer conn.CloseNow()
	token, err := readHandshake(r.Context(), conn)
	if err != nil {
		conn.Close(websocket.StatusPolicyViolation, closeReason(err.Error()))
		return
	}
	leave()
	h.bridge(conn, r, token)
}

// readHandshake reads the first message, and returns its token; "": it has none.
func readHandshake(ctx context.Context, conn *websocket.Conn) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakePatience)
	defer cancel()
	conn.SetReadLimit(maxHandshake)
	_, data, err := conn.Read(ctx)
	if err != nil {
		return "", api.Errorf(api.CodeInvalid, "the first message did not arrive: %s", handshakeExplanation)
	}
	var first struct {
		Version int    `json:"version"`
		Token   string `json:"auth_token"`
	}
	if err := json.Unmarshal(data, &first); err != nil || first.Version != handshakeVersion || strings.ContainsAny(first.Token, "\r\n\x00") {
		return "", api.Errorf(api.CodeInvalid, "the first message is not valid: %s", handshakeExplanation)
	}
	return first.Token, nil
}

// closeReason cuts a text to the size that a close frame may have.
func closeReason(text string) string {
	text = api.Printable(strings.TrimSpace(text), 120)
	for len(text) > 120 {
		text = strings.ToValidUTF8(text[:120], "")
	}
	return text
}
