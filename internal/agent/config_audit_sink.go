// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/auditsink"
)

// Types of audit sinks.
const (
	sinkFile = "file"
	sinkHTTP = "http"
)

// An AuditSink is a place to which a server copies its records of requests.
type AuditSink struct {
	Name string
	Type string // sinkFile or sinkHTTP

	Path           string
	RotateBytes    int64 // 0: auditsink.DefaultRotateBytes; negative: another program rotates the file
	RotateMaxFiles int   // 0: auditsink.DefaultRotateMaxFiles

	URL        string
	CAFile     string
	HeaderFile string
	Timeout    time.Duration // 0: auditsink.DefaultTimeout
}

// A fileAuditSink has Nomad's names where Nomad has the setting.
type fileAuditSink struct {
	Name           string `hcl:"name,label"`
	Type           string `hcl:"type"`
	Path           string `hcl:"path,optional"`
	RotateBytes    *int64 `hcl:"rotate_bytes,optional"`
	RotateMaxFiles *int   `hcl:"rotate_max_files,optional"`
	URL            string `hcl:"url,optional"`
	CAFile         string `hcl:"ca_file,optional"`
	HeaderFile     string `hcl:"header_file,optional"`
	Timeout        string `hcl:"timeout,optional"`
}

// Bounds of the settings of sinks.
const (
	maxSinks          = 8
	minRotateBytes    = 1 << 20
	maxRotateFiles    = 1000
	minDeliverTimeout = time.Second
	maxDeliverTimeout = 5 * time.Minute
)

var sinkName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// mergeSinks adds sinks. A later file replaces a sink of the same name.
func (a *Audit) mergeSinks(path string, sinks []fileAuditSink) error {
	for _, f := range sinks {
		s, err := f.sink()
		if err != nil {
			return api.Errorf(api.CodeInvalid, "%s: audit: sink %q: %v", path, f.Name, err)
		}
		if i := slices.IndexFunc(a.Sinks, func(other AuditSink) bool { return other.Name == s.Name }); i >= 0 {
			a.Sinks[i] = s
			continue
		}
		if a.Sinks = append(a.Sinks, s); len(a.Sinks) > maxSinks {
			return api.Errorf(api.CodeInvalid, "%s: audit: %d sinks: at most %d are possible", path, len(a.Sinks), maxSinks)
		}
	}
	return nil
}

func (f *fileAuditSink) sink() (s AuditSink, err error) {
	s = AuditSink{Name: f.Name, Type: f.Type, Path: f.Path, URL: f.URL, CAFile: f.CAFile, HeaderFile: f.HeaderFile}
	if !sinkName.MatchString(f.Name) {
		return s, api.Errorf(api.CodeInvalid, "the name must consist of at most 32 lower-case letters, digits and hyphens")
	}
	switch f.Type {
	case sinkFile:
		if !filepath.IsAbs(f.Path) {
			return s, api.Errorf(api.CodeInvalid, "path = %q: must be an absolute path", f.Path)
		}
		if f.URL+f.CAFile+f.HeaderFile+f.Timeout != "" {
			return s, api.Errorf(api.CodeInvalid, "url, ca_file, header_file and timeout are settings of the type %q", sinkHTTP)
		}
	case sinkHTTP:
		if f.Path != "" || f.RotateBytes != nil || f.RotateMaxFiles != nil {
			return s, api.Errorf(api.CodeInvalid, "path, rotate_bytes and rotate_max_files are settings of the type %q", sinkFile)
		}
		if f.URL == "" {
			return s, api.Errorf(api.CodeInvalid, "it needs url")
		}
	default:
		return s, api.Errorf(api.CodeInvalid, "type = %q: must be %q or %q", f.Type, sinkFile, sinkHTTP)
	}
	if n := f.RotateBytes; n != nil {
		if *n != 0 && *n < minRotateBytes {
			return s, api.Errorf(api.CodeInvalid, "rotate_bytes = %d: must be at least %d, or 0 if another program rotates the file", *n, minRotateBytes)
		}
		if s.RotateBytes = *n; *n == 0 {
			s.RotateBytes = -1
		}
	}
	if n := f.RotateMaxFiles; n != nil {
		if *n < 1 || *n > maxRotateFiles {
			return s, api.Errorf(api.CodeInvalid, "rotate_max_files = %d: must be from 1 to %d", *n, maxRotateFiles)
		}
		s.RotateMaxFiles = *n
	}
	if f.Timeout != "" {
		if s.Timeout, err = time.ParseDuration(f.Timeout); err != nil || s.Timeout < minDeliverTimeout || s.Timeout > maxDeliverTimeout {
			return s, api.Errorf(api.CodeInvalid, "timeout = %q: must be a duration from %s to %s", f.Timeout, minDeliverTimeout, maxDeliverTimeout)
		}
	}
	return s, nil
}

// openSinks starts to copy the records.
func (a *Agent) openSinks() error {
	for _, s := range a.config.Audit.Sinks {
		var r auditsink.Receiver
		var err error
		if s.Type == sinkFile {
			r = auditsink.NewFile(auditsink.File{Path: s.Path, RotateBytes: s.RotateBytes, RotateMaxFiles: s.RotateMaxFiles})
		} else {
			r, err = auditsink.NewHTTP(auditsink.HTTP{URL: s.URL, CAFile: s.CAFile, HeaderFile: s.HeaderFile, Timeout: s.Timeout, Server: a.config.Name})
		}
		if err != nil {
			return api.Errorf(api.CodeInvalid, "open the audit sink %q: %v: correct the block audit of the configuration", s.Name, err)
		}
		a.sinks = append(a.sinks, auditsink.Start(auditsink.Config{Name: s.Name, Type: s.Type, Log: a.audit, Dir: a.auditDir(), Receiver: r, Logger: a.log}))
	}
	return nil
}

// closeSinks delivers the last records to the sinks that do not fail.
func (a *Agent) closeSinks(ctx context.Context) {
	for _, s := range a.sinks {
		s.Close(ctx)
	}
}

// sinkStatus describes the audit sinks.
func (a *Agent) sinkStatus() []*api.AuditSink {
	list := make([]*api.AuditSink, len(a.sinks))
	for i, s := range a.sinks {
		list[i] = s.Status()
	}
	return list
}
