// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/server/control"
)

func TestOneAgentSpeaksForANode(t *testing.T) {
	at := time.Now()
	h := control.NewHeartbeats(control.Silence{TTL: 10 * time.Second, Grace: 4 * time.Second})
	for _, c := range []struct {
		after  time.Duration
		agent  string
		silent time.Duration
		ok     bool
		why    string
	}{
		{0, "a", 0, true, "the first one"},
		{3 * time.Second, "a", 0, true, "the same, also after a restart"},
		{5 * time.Second, "b", 2 * time.Second, false, "a second one"},
		{12 * time.Second, "a", 0, true, "the first one goes on"},
		{14 * time.Second, "b", 2 * time.Second, false, "the second one goes on"},
		{22 * time.Second, "b", 0, true, "the first one was silent for a TTL"},
		{23 * time.Second, "a", time.Second, false, "now that one is the second"},
	} {
		if silent, ok := h.Speak("n", c.agent, at.Add(c.after)); silent != c.silent || ok != c.ok {
			t.Errorf("after %s, %s: agent %s may speak: %t (the other was silent for %s), want %t (%s)", c.after, c.why, c.agent, ok, silent, c.ok, c.silent)
		}
	}
	if _, ok := h.Speak("m", "b", at); !ok {
		t.Error("an agent of another node is refused")
	}
	h.Lead(at)
	if _, ok := h.Speak("n", "a", at); !ok {
		t.Error("a server that begins to lead refuses the first that it hears")
	}
}
