// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/reeve-run/reeve/internal/cli/term"
)

// linked is the version that the linker sets in the binaries of "make build" and of packages.
var linked string

// unreleased is the version of a binary that neither the linker nor Go gave one, such as a
// test.
const unreleased = "0.1.0-dev"

// version is the version of this binary.
var version = versionOf(linked, debug.ReadBuildInfo)

// versionOf returns the linked version, or the version of the module that "go install" built:
// its tag, or the time and the hash of its commit.
func versionOf(linked string, read func() (*debug.BuildInfo, bool)) string {
	if linked != "" {
		return linked
	}
	if info, ok := read(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return unreleased
}

// build is the information that "version" shows.
type build struct {
	Version  string
	Revision string `json:",omitempty"`
	Go       string
	Platform string
}

func versionCommand(c *cli) *command {
	return &command{
		use:     "version",
		short:   "Print the version of Reeve",
		format:  true,
		offline: true,
		run: func(r *call) error {
			b := thisBuild()
			return r.show(b, func(p *term.Page) { p.Line("%s", b) })
		},
	}
}

// String formats the build in one line.
func (b build) String() string {
	text := "Reeve " + b.Version
	if b.Revision != "" {
		text += " (" + b.Revision + ")"
	}
	return text + ", " + b.Go + ", " + b.Platform
}

// thisBuild reads the build information of the binary.
func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				b.Revision = s.Value[:12]
			}
		}
	}
	return b
}
