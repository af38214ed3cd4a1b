// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"testing"
)

func TestLibrariesLogAtDebug(t *testing.T) {
	to, flags := log.Writer(), log.Flags()
	defer func() {
		log.SetOutput(to)
		log.SetFlags(flags)
	}()
	for level, want := range map[slog.Level]int{slog.LevelDebug: 1, slog.LevelInfo: 0} {
		var text bytes.Buffer
		logLibraries(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: level}))
		log.Printf("Unsolicited response: %q", "from an instance")
		if got := strings.Count(text.String(), "level=DEBUG msg=\"Unsolicited response"); got != want || text.Len() > 0 && want == 0 {
			t.Errorf("at level %s the log has %d of these lines, want %d:\n%s", level, got, want, &text)
		}
	}
}
