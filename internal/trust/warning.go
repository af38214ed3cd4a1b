// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
)

// patience is the time for which renewals may fail before Warning reports them: elections and
// restarts of servers take less.
const patience = time.Hour

// Warning returns the sentence for an operator if the certificate expired, or if its renewal
// is late or fails; "" if all is well.
func (s *Store) Warning(now time.Time) string {
	st := s.current.Load()
	if !st.joined() {
		return ""
	}
	s.renewal.mu.Lock()
	cause, failing := s.renewal.cause, s.renewal.failing
	s.renewal.mu.Unlock()

	before, after := st.identity.NotBefore, st.identity.NotAfter
	late := now.After(pki.RenewAt(before, after, 1).Add(min(patience, after.Sub(before)/20)))
	stuck := !failing.IsZero() && now.Sub(failing) >= patience
	if !late && !stuck && !now.After(after) {
		return ""
	}
	text := expiry(after, now)
	if cause == nil {
		return text + " and was not renewed: check that this agent reaches a server"
	}
	return fmt.Sprintf("%s and could not be renewed: %v", text, cause)
}

// expiry says when a certificate expires, or expired.
func expiry(at, now time.Time) string {
	if now.After(at) {
		return "certificate expired " + span(now.Sub(at)) + " ago"
	}
	return "certificate expires in " + span(at.Sub(now))
}

// span writes a duration in its largest unit.
func span(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := d / unit.size; n > 1 {
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return fmt.Sprintf("%d seconds", d/time.Second)
}
