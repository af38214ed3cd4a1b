// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"fmt"
	"time"
)

// A Reason classifies the refusal of a certificate.
type Reason string

// Reasons for the refusal of a certificate.
const (
	ReasonMissing   Reason = "missing"       // the peer presented no certificate
	ReasonMalformed Reason = "malformed"     // the certificate is not a member's
	ReasonForeign   Reason = "foreign"       // no root of the cluster signed it
	ReasonCluster   Reason = "other cluster" // it belongs to a member of another cluster
	ReasonEarly     Reason = "not yet valid" // a clock is wrong
	ReasonExpired   Reason = "expired"
	ReasonRole      Reason = "wrong role"
)

// A CertificateError is the refusal of a peer's certificate.
type CertificateError struct {
	Reason  Reason
	Message string        // the problem and the next step
	Skew    time.Duration // for ReasonEarly: the smallest possible error of the clocks
}

// Error returns the message.
func (e *CertificateError) Error() string { return e.Message }

func refuse(reason Reason, format string, args ...any) *CertificateError {
	return &CertificateError{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// show quotes a text that a peer chose, and bounds its length.
func show(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "..."
	}
	return fmt.Sprintf("%q", s)
}

// stamp formats a time for messages.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
