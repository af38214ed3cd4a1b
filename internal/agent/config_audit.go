// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/auditlog"
)

// Bounds of the files of the audit log.
const (
	minAuditFiles = 2
	maxAuditFiles = 1000
	maxAuditMB    = 1000
)

// Audit configures the records of requests that a server stores.
type Audit struct {
	Disabled bool
	Files    int // that are kept; default: auditlog.DefaultFiles
	FileMB   int // size at which the next file begins; default: auditlog.DefaultFileMB
	Sinks    []AuditSink
}

type fileAudit struct {
	Enabled *bool `hcl:"enabled,optional"`
	Files   *int  `hcl:"files,optional"`
	FileMB  *int  `hcl:"file_mb,optional"`

	Sinks []fileAuditSink `hcl:"sink,block"`
}

func (a *Audit) merge(path string, f *fileAudit) error {
	if f == nil {
		return nil
	}
	if f.Enabled != nil {
		a.Disabled = !*f.Enabled
	}
	for _, n := range []struct {
		name   string
		value  *int
		lo, hi int
		into   *int
	}{{"files", f.Files, minAuditFiles, maxAuditFiles, &a.Files}, {"file_mb", f.FileMB, 1, maxAuditMB, &a.FileMB}} {
		if n.value == nil {
			continue
		}
		if *n.value < n.lo || *n.value > n.hi {
			return api.Errorf(api.CodeInvalid, "%s: audit: %s = %d: must be from %d to %d", path, n.name, *n.value, n.lo, n.hi)
		}
		*n.into = *n.value
	}
	return a.mergeSinks(path, f.Sinks)
}

// openAudit opens the records of requests. Only servers keep some.
func (a *Agent) openAudit() (err error) {
	if a.server == nil || a.config.Audit.Disabled {
		return nil
	}
	c := a.config.Audit
	a.audit, err = auditlog.Open(auditlog.Config{
		Dir: a.auditDir(), Files: c.Files, FileBytes: int64(c.FileMB) << 20, Server: a.config.Name, Logger: a.log,
	})
	if err != nil {
		return err
	}
	return a.openSinks()
}

func (a *Agent) auditDir() string { return filepath.Join(a.config.DataDir, "audit") }

// auditTimeout bounds the wait for a disk that hangs when the agent ends.
const auditTimeout = 2 * time.Second

// closeAudit writes the last records.
func (a *Agent) closeAudit() {
	if a.audit == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), auditTimeout)
	defer cancel()
	if err := a.audit.Close(ctx); err != nil {
		a.log.Error("audit log did not end", "error", err)
	}
	a.closeSinks(ctx)
}
