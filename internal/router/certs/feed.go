// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrPending says that a certificate is on its way.
var ErrPending = errors.New("the certificate is being ordered")

// A Feed is a source of a store whose content arrives by calls. Sources of the configuration
// precede it.
type Feed struct {
	store *Store
	slot  *slot
}

// Feed adds a source.
func (s *Store) Feed(source Source) *Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &slot{source: source, fed: true}
	s.slots = append(s.slots, l)
	return &Feed{s, l}
}

// Offer uses a certificate that is for one name alone. An empty one, and an unusable one, keep
// the last good one. trouble is the reason why no newer certificate exists; nil without one.
func (f *Feed) Offer(name, certPEM, keyPEM string, trouble error) {
	s, l, now := f.store, f.slot, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if certPEM != "" {
		next, err := parse([]byte(certPEM), []byte(keyPEM), now)
		if err == nil && !slices.Equal(next.names, []string{name}) {
			err = fmt.Errorf("the certificate is for %.300q, not for %s alone", next.names, name)
		}
		if err == nil {
			if l.current == nil || !l.current.equal(next) {
				l.current, l.warned = next, time.Time{}
				s.publish()
				s.log.Info("the router uses a certificate", "names", next.names, "source", l.source.String(), "expires", next.expires)
			}
		} else if trouble == nil {
			trouble = err
		}
	}
	before := l.failure
	if l.failure = trouble; trouble != nil && !errors.Is(trouble, ErrPending) && (before == nil || before.Error() != trouble.Error()) {
		s.log.Error("the router has no new certificate: it keeps the last good one", "name", name, "error", trouble, "has_one", l.current != nil)
	}
}

// Remove ends the source and the use of its certificate.
func (f *Feed) Remove() {
	s := f.store
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots = slices.DeleteFunc(s.slots, func(l *slot) bool { return l == f.slot })
	s.publish()
}
