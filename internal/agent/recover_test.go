// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/server"
)

// TestRecoverServerRefuses names the directory of a server that runs, and of one that never
// had others.
func TestRecoverServerRefuses(t *testing.T) {
	dir := t.TempDir()
	s, err := server.New(server.Config{DataDir: filepath.Join(dir, "server"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := RecoverServer(dir, false); err == nil || !strings.Contains(err.Error(), "is in use by") {
		t.Errorf("a server that runs: %v", err)
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := RecoverServer(dir, false); err == nil || !strings.Contains(err.Error(), "is the only server of its cluster already") {
		t.Errorf("a server that never had others: %v", err)
	}
}
