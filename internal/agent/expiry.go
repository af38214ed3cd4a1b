// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"log/slog"
	"time"
)

// Intervals of warnings about this agent's certificate.
const (
	warningCheck  = time.Hour
	warningRepeat = 24 * time.Hour
)

// certificateWarning returns a sentence if the certificate expires, "" if all is well.
func (a *Agent) certificateWarning() string { return a.trust.Warning(time.Now()) }

// warnOfExpiry logs a warning about the certificate as soon as there is one, and repeats it
// daily.
func warnOfExpiry(ctx context.Context, log *slog.Logger, warning func() string) {
	ticker := time.NewTicker(warningCheck)
	defer ticker.Stop()
	var logged time.Time
	for {
		switch text := warning(); {
		case text == "":
			logged = time.Time{}
		case time.Since(logged) >= warningRepeat:
			logged = time.Now()
			log.Warn("certificate of this agent needs attention", "warning", text)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
