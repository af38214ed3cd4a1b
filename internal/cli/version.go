// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/reeve-run/reeve/internal/cli/term"
)

// version is the release of this binary. The linker sets it.
var version = "0.1.0-dev"

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
