// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import "github.com/reeve-run/reeve/api"

// notifier returns a function with which a driver tells the user what a long start does, such as
// the pull of an image. The first message of a start stays; each further one replaces the one
// before it, so that progress does not displace other events.
func (t *task) notifier() func(string) {
	first := true
	var last *api.TaskEvent // the event to replace
	return func(words string) {
		t.r.mu.Lock()
		defer t.r.mu.Unlock()
		e := message("%s", words)
		events := t.state.Events
		if n := len(events); last != nil && n > 0 && events[n-1] == last {
			t.change(func(s *api.TaskState) { s.Events = append(append([]*api.TaskEvent{}, events[:n-1]...), e) })
		} else {
			t.addEvent(e)
		}
		if last = e; first {
			first, last = false, nil
		}
		t.r.host.Changed(t.r, false)
	}
}
