// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/secretfile"
)

// A slot is a source with its last good certificate.
type slot struct {
	source  Source
	fed     bool         // reports whether a Feed provides the content
	current *certificate // nil: none was usable yet
	failure error        // of the last attempt to read or use the source
	tried   time.Time    // time of that attempt
	warned  time.Time    // time of the last warning about the expiry

	files    [2]secretfile.Version // at the last attempt
	variable *api.Variable         // content at the last attempt; nil: not readable
}

func newSlot(source Source) *slot {
	l := &slot{source: source}
	if source.isVariable() {
		l.failure = fmt.Errorf("%s was not read yet", source)
	}
	return l
}

// reload reads changed files, and tries unusable content again. It reports whether the slot has
// another certificate now.
func (l *slot) reload(now time.Time, log *slog.Logger) bool {
	if l.fed {
		return false
	}
	if l.source.isVariable() {
		if l.variable == nil || l.failure == nil || now.Sub(l.tried) < retryInterval {
			return false
		}
		return l.receive(l.variable, nil, now, log)
	}
	found := l.versions()
	fresh := found != l.files || l.tried.IsZero()
	if !fresh && (l.failure == nil || now.Sub(l.tried) < retryInterval) {
		return false
	}
	next, err := load(l.source, now)
	if found != l.versions() {
		return false // they are being written
	}
	l.files = found
	return l.take(next, err, fresh, now, log)
}

func (l *slot) versions() [2]secretfile.Version {
	return [2]secretfile.Version{secretfile.VersionOf(l.source.Cert), secretfile.VersionOf(l.source.Key)}
}

// receive is reload for a variable that was read, or cannot be read.
func (l *slot) receive(v *api.Variable, err error, now time.Time, log *slog.Logger) bool {
	var next *certificate
	fresh := err == nil && (l.variable == nil || l.variable.ModifyIndex != v.ModifyIndex)
	if l.variable = v; err != nil {
		err = l.source.explain(err)
	} else {
		next, err = l.source.parse(v, now)
	}
	return l.take(next, err, fresh, now, log)
}

// take uses a certificate, or notes why it is unusable and keeps the last good one.
func (l *slot) take(next *certificate, err error, fresh bool, now time.Time, log *slog.Logger) bool {
	before := l.failure
	l.tried, l.failure = now, err
	if err != nil {
		if fresh || before == nil || before.Error() != err.Error() {
			log.Error("a certificate of the router is not used: the router keeps the last good one", "error", err, "has_one", l.current != nil)
		}
		return false
	}
	if l.current != nil && l.current.equal(next) {
		if before != nil {
			log.Info("a certificate of the router is in order again", "source", l.source.String())
		}
		return false
	}
	l.current, l.warned = next, time.Time{}
	log.Info("the router uses a certificate", "names", next.names, "source", l.source.String(), "expires", next.expires)
	return true
}

// warn writes a warning to the log while the certificate is about to expire.
func (l *slot) warn(now time.Time, log *slog.Logger) {
	if w := l.warning(now); w != "" && now.Sub(l.warned) >= warnInterval {
		l.warned = now
		log.Warn("a certificate of the router needs attention", "warning", w, "source", l.source.String(), "names", l.current.names)
	}
}

// warning returns a sentence if the certificate has expired or is about to; otherwise "".
func (l *slot) warning(now time.Time) string {
	c := l.current
	switch {
	case c == nil:
		return ""
	case now.After(c.expires):
		return "the certificate has expired: " + l.source.renewal()
	case c.expires.Sub(now) < c.life/10:
		return fmt.Sprintf("the certificate expires at %s: %s", c.expires.UTC().Format(time.RFC3339), l.source.renewal())
	}
	return ""
}

func (l *slot) status(now time.Time) *api.RouterCertificate {
	c := &api.RouterCertificate{Source: l.source.String(), Warning: l.warning(now)}
	if l.current != nil {
		c.Names, c.Expires = l.current.names, l.current.expires.UnixNano()
		if now.After(l.current.expires) {
			c.Problem = c.Warning
		}
	}
	if l.failure != nil {
		c.Problem = l.failure.Error()
	}
	return c
}
