// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

func TestWarningsOfAuditSinks(t *testing.T) {
	since := time.Date(2026, 3, 2, 9, 14, 0, 0, time.UTC)
	for _, c := range []struct {
		sink api.AuditSink
		want []string
	}{
		{api.AuditSink{Name: "siem", Records: 7, Failures: 3}, nil},
		{api.AuditSink{Name: "siem", Target: "https://siem/x", FailingSince: since, Error: "the collector answers 500\x1b[2J", WaitingBytes: 3 << 20, Gaps: 1},
			[]string{"audit sink siem does not deliver to https://siem/x since 2026-03-02T09:14:00Z: the collector answers 500", "wait in the audit log", "block audit"}},
		{api.AuditSink{Name: "local", Target: "/var/log/a", Gaps: 2}, []string{"missed records 2 times", "increase files or file_mb"}},
	} {
		got := sinkWarning(&c.sink)
		if (got == "") != (c.want == nil) || strings.ContainsRune(got, 0x1b) {
			t.Errorf("%+v: %q", c.sink, got)
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q does not contain %q", got, want)
			}
		}
	}
}
