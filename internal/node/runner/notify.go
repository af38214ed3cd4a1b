// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// notifiers returns functions with which a driver tells the user what a long start does, such as
// the pull of an image. The first message of a start stays; each further one replaces the one
// before it, so that progress does not displace other events.
func (t *task) notifiers() (notify func(string), progress func(message string, done, total int64)) {
	first := true
	var last *api.TaskEvent // the event to replace
	add := func(e *api.TaskEvent) {
		t.r.mu.Lock()
		defer t.r.mu.Unlock()
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
	notify = func(words string) { add(message("%s", words)) }
	return notify, func(words string, done, total int64) {
		e := message("%s", words)
		e.Details = map[string]string{api.DetailBytesDone: strconv.FormatInt(done, 10), api.DetailBytesTotal: strconv.FormatInt(total, 10)}
		add(e)
	}
}
