// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/internal/agent"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/node/doctor"
)

// exitMissing is the exit code of "node doctor" if a feature lacks something.
const exitMissing = 2

func nodeDoctorCommand(c *cli) *command {
	var (
		files   []string
		dataDir string
	)
	return &command{
		use:   "doctor [FEATURE]...",
		short: "Check what this machine lacks for drivers and features",
		long: `Try the drivers and features of a node on this machine, and tell what to install
or to set for those that do not work. The command asks no server, needs no
agent, and leaves nothing behind. Run it as root, as the agent does.

With FEATURE, such as exec, container or bridge, it checks only these.`,
		example:   "reeve node doctor\nreeve node doctor -config /etc/reeve.d exec container bridge",
		exitCodes: "0  nothing is missing; there may be warnings\n1  the command failed\n2  something is missing",
		format:    true,
		offline:   true,
		flags: func(f *pflag.FlagSet) {
			f.StringArrayVar(&files, "config", nil, "read the agent's configuration from `PATH`, a file or a directory of *.hcl and *.json; repeatable")
			f.StringVar(&dataDir, "data-dir", "", "check the disk of `DIR` (default: that of the configuration, or "+agent.DefaultDataDir+")")
		},
		run: func(r *call) error {
			config, err := agent.LoadConfig(files)
			if err != nil {
				return err
			}
			if dataDir != "" {
				config.DataDir = dataDir
			}
			facts, err := agent.Examine(r.ctx, config)
			if err != nil {
				return err
			}
			report, known, ok := doctor.Judge(facts, r.args)
			if !ok {
				return usagef("no such feature; the features are %s", strings.Join(known, ", "))
			}
			if err := r.show(report, func(p *term.Page) { doctorPage(p, report) }); err != nil {
				return err
			}
			if report.Missing > 0 {
				return exitWith(exitMissing)
			}
			return nil
		},
	}
}

func doctorPage(p *term.Page, r *doctor.Report) {
	var rows [][]string
	var fixes []doctor.Check
	for _, c := range r.Checks {
		rows = append(rows, []string{c.Feature, c.Name, p.Style.Status(string(c.State)), c.Finding})
		if c.Fix != "" {
			fixes = append(fixes, c)
		}
	}
	p.Table([]string{"Feature", "Check", "State", "Finding"}, rows)
	if len(fixes) == 0 {
		return
	}
	p.Section("Fixes")
	for _, c := range fixes {
		p.Line("%s, %s: %s", c.Feature, c.Name, c.Finding)
		p.Line("    %s", c.Fix)
	}
}
