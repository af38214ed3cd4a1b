// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/internal/auditsink"
)

// warning returns sentences about troubles that do not stop the agent; "" without one.
func (a *Agent) warning() string {
	sentences := []string{auditsink.Warning(a.sinks, time.Now())}
	if a.trust != nil {
		sentences = append(sentences, a.certificateWarning())
	}
	if a.router != nil {
		if trouble := a.router.CertificateTrouble(); trouble != "" {
			sentences = append(sentences, "router: "+trouble+"; reeve route certificates lists all")
		}
	}
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), "; ")
}
