// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"cmp"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Request is what the fetching process is to fetch.
type Request struct {
	Source   *api.ArtifactSource
	Headers  map[string]string
	Insecure bool // accept any certificate
	Limits   Limits
}

// Limits bounds one artifact.
type Limits struct {
	Download int64         // bytes of the file, and of a repository's pack
	Unpacked int64         // bytes of the files in an archive or repository
	Files    int64         // files, directories and links in it
	Timeout  time.Duration // of the whole fetch
	Stall    time.Duration // without a byte from the server
}

// DefaultLimits admits all but a few artifacts.
var DefaultLimits = Limits{Download: 4 << 30, Unpacked: 16 << 30, Files: 65536, Timeout: 30 * time.Minute, Stall: time.Minute}

// An outcome is the answer of the fetching process.
type outcome struct {
	Failure *Failure `json:",omitempty"`
	Bytes   int64    // downloaded
	Commit  string   `json:",omitempty"` // of a repository
}

// A Failure says why an artifact could not be fetched and what to check. It contains no secret of
// the artifact.
type Failure struct {
	Text      string
	Hint      string `json:",omitempty"` // imperative
	Temporary bool   `json:",omitempty"` // another attempt may succeed
}

func (f *Failure) Error() string {
	if f.Hint == "" {
		return f.Text
	}
	return f.Text + ": " + f.Hint
}

// Names below the directory of one fetch.
const (
	blobName  = "blob"  // the downloaded file
	filesName = "files" // the result
)

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	return Limits{
		Download: cmp.Or(l.Download, d.Download), Unpacked: cmp.Or(l.Unpacked, d.Unpacked), Files: cmp.Or(l.Files, d.Files),
		Timeout: cmp.Or(l.Timeout, d.Timeout), Stall: cmp.Or(l.Stall, d.Stall),
	}
}
