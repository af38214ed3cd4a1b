// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// copied copies a server's data directory.
func copied(t *testing.T, to, from string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// position is where the server's history is.
func (m *machine) position() (p api.Position) {
	m.t.Helper()
	h := m.messages("topic=Job").resp.Header
	p.Timeline = h.Get("X-Reeve-Timeline")
	if _, err := fmt.Sscan(h.Get("X-Reeve-Events-After"), &p.Index); err != nil || p.Timeline == "" {
		m.t.Fatalf("the stream of events says that it is at %+v: %v", p, err)
	}
	return p
}

// TestAnOlderCopyOfTheDataIsNotSeenByGuests puts an older copy of the server's
// data back, on which other servers have worked meanwhile: what the nodes were
// told of the newer jobs has been something else there. Nothing of those jobs
// stops, and whoever asks for them does not notice.
func TestAnOlderCopyOfTheDataIsNotSeenByGuests(t *testing.T) {
	e := newEstate(t, 2)
	jobs := e.jobs()
	web, left := jobs[0], jobs[2]
	web.Groups[0].Count = ptr(4)
	e.server.register(web)
	e.settled("web", 4)
	e.server.mark("", "")
	data := filepath.Join(e.server.Dir, "server")
	elsewhere := unstarted(t)
	elsewhere.Args = []string{"-server"}
	older := filepath.Join(elsewhere.Dir, "server")
	e.server.Kill()
	copied(t, older, data)
	e.begins()

	// What only one of the two histories has.
	e.server.register(left)
	e.settled("left", 5)
	newest := e.server.position()
	elsewhere.start()
	elsewhere.answers()
	for i := 0; elsewhere.position().Index <= newest.Index+10; i++ {
		elsewhere.register(testbed.ShellJob(fmt.Sprint("other-", i), 0, "true"))
	}
	elsewhere.Kill()

	var before []int
	for _, n := range e.nodes {
		before = append(before, n.servers()...)
	}
	slices.Sort(before)
	if len(before) != 9 {
		t.Fatalf("%d processes serve, want 9", len(before))
	}
	guests := map[string]*guest{"web": e.guest("web", 4), "left": e.guest("left", 5)}
	e.server.Kill()
	copied(t, data, older)
	e.begins()
	e.orphans(5)
	if got := e.server.fresh(); len(got) != 0 {
		t.Errorf("fresh are %v", got)
	}
	e.settled("web", 4)
	e.settled("left", 5)
	for job, g := range guests {
		g.fine(t, "with the older copy, "+job)
	}

	// A reader of the other history is not told half of each.
	query := fmt.Sprintf("topic=Job&index=%d&timeline=%s", newest.Index+1, newest.Timeline)
	if _, body := e.server.refused(query, http.StatusNotFound); !strings.Contains(body, "not part of this cluster's history") {
		t.Errorf("%s: %s", query, body)
	}
	pictured := map[string]bool{}
	for b, err := range e.server.Client.Events().Stream(t.Context(), client.EventOptions{
		Topics: map[string][]string{api.TopicJob: nil}, Index: newest.Index + 1, Timeline: newest.Timeline, Snapshot: true,
	}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range b.Events {
			pictured[event.Key] = true
		}
		if b.Snapshot == api.SnapshotEnd {
			break
		}
	}
	if !pictured["web"] || !pictured["other-0"] || pictured["left"] {
		t.Errorf("a reader who asks for a picture gets the jobs %v", pictured)
	}

	// The job, registered again, takes its instances over.
	e.server.register(left)
	e.orphans(0)
	e.settled("left", 5)
	for job, g := range guests {
		g.stop()
		g.fine(t, "at the end, "+job)
	}
	var after []int
	for _, n := range e.nodes {
		after = append(after, n.servers()...)
	}
	if slices.Sort(after); !slices.Equal(after, before) {
		t.Errorf("processes are %v, and were %v", after, before)
	}
}
