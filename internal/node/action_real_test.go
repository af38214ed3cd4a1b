// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"

	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/api"
)

func TestRealActionsRunTheCommandOfTheJobFile(t *testing.T) {
	r := runReal(t)
	task := shell("t", `echo up; exec sleep 600`)
	task.Meta = map[string]string{"team": "blue"}
	task.Actions = []*api.Action{
		{Name: "greet", Command: "/bin/sh", Args: []string{"-c", `echo "$0 $NOMAD_TASK_NAME"; exit 3`, "${NOMAD_META_team} on ${node.unique.name}"}},
		{Name: "say", Command: "/bin/echo", Args: []string{"${NOMAD_META_team}", "$(id)", "a b"}},
	}
	r.place(t, jobOf("service", task), "one")
	r.awaitTask(t)
	for action, want := range map[string]struct {
		text string
		code int
	}{"greet": {"blue on n1 t\n", 3}, "say": {"blue $(id) a b\n", 0}} {
		query := url.Values{"task": {"t"}, "action": {action}, "command": {`["/bin/false"]`}}
		conn, _, err := websocket.Dial(t.Context(), r.address+"/v1/client/allocation/one/exec?"+query.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, code := result(t, conn)
		conn.CloseNow()
		if text != want.text || code != want.code {
			t.Errorf("%s: got %q and exit %d, want %q and %d", action, text, code, want.text, want.code)
		}
	}
	for query, want := range map[string]string{"task=t&action=none": "no action", "task=none&action=greet": "no task", "action=greet": "no task"} {
		_, resp, err := websocket.Dial(t.Context(), r.address+"/v1/client/allocation/one/exec?"+query, nil)
		if err == nil || resp == nil || resp.StatusCode != 404 {
			t.Errorf("%s: %v, want 404 with %q", query, err, want)
		}
	}
}

// TestRealForeignSessionHasNoCommand covers the parameter that other clients send with an action.
func TestRealForeignSessionHasNoCommand(t *testing.T) {
	r := runReal(t)
	r.sleeping(t)
	config := nomad.DefaultConfig()
	config.Address = r.address
	c, err := nomad.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out bytes.Buffer
	if _, err := c.Allocations().Exec(t.Context(), &nomad.Allocation{ID: "one", NodeID: r.ID()}, "t", false, nil, strings.NewReader(""), &out, &out, nil, nil); err == nil {
		t.Error("a session without a command began")
	}
}
