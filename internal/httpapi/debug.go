// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// maxProfile bounds a profile of the processor time.
const maxProfile = 30 * time.Second

// getDebug answers with one part of what an agent reports for support: this one, or the member
// that the query names.
func getDebug(c *call) error {
	if member := c.query.Get("member"); member != "" && member != c.ownID() {
		return c.debugMember(member)
	}
	part := c.query.Get("part")
	switch part {
	case api.DebugSelf:
		self, err := getSelf(c)
		if err != nil {
			return err
		}
		return c.writeJSON(http.StatusOK, self)
	case api.DebugMetrics:
		return c.writeJSON(http.StatusOK, c.Metrics.Summary(time.Now()))
	}
	var text bytes.Buffer
	switch part {
	case api.DebugLog:
		if c.Log != nil {
			text.Write(redact(c.Log()))
		}
	case api.DebugGoroutines:
		if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
			return err
		}
	case api.DebugHeap:
		if err := pprof.Lookup("heap").WriteTo(&text, 0); err != nil {
			return err
		}
	case api.DebugProfile:
		if err := c.profile(&text); err != nil {
			return err
		}
	default:
		return api.Errorf(api.CodeInvalid, "part: there is no %q: use self, metrics, log, goroutines, heap or profile", api.Printable(part, 40))
	}
	c.w.Header().Set("Content-Type", octets)
	c.writeBody(http.StatusOK, text.Bytes())
	return nil
}

// profile measures where this process spends its processor time.
func (c *call) profile(text *bytes.Buffer) error {
	seconds, err := strconv.ParseFloat(c.query.Get("seconds"), 64)
	if err != nil || !(seconds > 0) || seconds > maxProfile.Seconds() {
		return api.Errorf(api.CodeInvalid, "seconds: must be a number above 0, at most %g", maxProfile.Seconds())
	}
	if err := pprof.StartCPUProfile(text); err != nil {
		return api.Errorf(api.CodeConflict, "another profile is being taken: try again in %s", maxProfile)
	}
	defer pprof.StopCPUProfile()
	timer := time.NewTimer(time.Duration(seconds * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.r.Context().Done():
		return c.r.Context().Err()
	}
	pprof.StopCPUProfile()
	return nil
}

// ownID returns the id of this agent as a member.
func (c *call) ownID() string {
	switch {
	case c.Server != nil:
		return c.Server.ServerID()
	case c.Node != nil:
		return c.NodeID()
	}
	return ""
}

// debugMember forwards the request to another member.
func (c *call) debugMember(id string) error {
	if c.Server == nil {
		c.forward()
		return nil
	}
	if err := c.checkHops(c.r); err != nil {
		return err
	}
	target := nodeTarget{id: id}
	if s, err := c.Server.FindServer(id); err == nil {
		target.id, target.addr = s.ID, s.Address
	} else if node, err := findNode(c.Server.Store().Snapshot(), id); err == nil {
		target.id, target.addr = node.ID, node.HTTPAddr
	}
	switch {
	case target.addr == "":
		return api.Errorf(api.CodeNotFound, "member %q not found: name a server of \"reeve server list\", or a node of \"reeve node status\"", api.Printable(id, 80))
	case target.id == c.ownID() || target.id == c.NodeID():
		return api.Errorf(api.CodeInvalid, "member: use the full id %s", target.id)
	}
	query := c.r.URL.Query()
	query.Set("member", target.id)
	r := c.r.WithContext(context.WithValue(c.r.Context(), targetKey{}, target))
	u := *r.URL
	u.RawQuery = query.Encode()
	r.URL = &u
	c.nodes.ServeHTTP(c.w, r)
	return nil
}

var (
	tokenText = regexp.MustCompile(`reeve-((server|node|introduction|operator|user|recovery)-1-[0-9a-z]+(-[0-9a-z]+)*|user-[A-Z2-7]{20,})`)
	keyText   = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`)
	jwtText   = regexp.MustCompile(`eyJ[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]*`)
	valueText = regexp.MustCompile(`(?i)((?:token|secret|password|authorization)[a-z_-]*"?[=:] ?)("[^"]*"|\S+)`)
)

// redact removes tokens and keys from a text. The agent logs none: this is the second line of
// defence.
func redact(text []byte) []byte {
	text = keyText.ReplaceAll(text, []byte("[private key]"))
	text = jwtText.ReplaceAll(text, []byte("[signed token]"))
	text = tokenText.ReplaceAllFunc(text, func(token []byte) []byte {
		kind := strings.Split(string(token), "-")[1]
		return []byte("[" + kind + " token]")
	})
	return valueText.ReplaceAll(text, []byte("${1}[redacted]"))
}
