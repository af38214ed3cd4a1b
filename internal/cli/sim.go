// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
	"github.com/reeve-run/reeve/internal/sim"
)

func simCommand(c *cli) *command {
	var (
		fleet   string
		init    bool
		json    bool
		quiet   bool
		scale   float64
		keep    string
		foreign bool
		apart   bool
		links   int
	)
	return &command{
		use:   "sim SCENARIO | -nodes FLEET JOB...",
		short: "Simulate a fleet of nodes against a real server",
		long: `Run a scenario: thousands of simulated nodes register with a real server over
its API, hold their streams, and simulate tasks like the mock driver. The server
is a separate process with its log on disk. The final report contains placements
per second, latencies, utilization and spread of the fleet, waiting instances
with their reasons, and the server's resource usage. A scenario runs in real
time.

With -nodes, check whether jobs fit on a fleet: the file specifies the nodes,
and the arguments are job files. Tasks then never end by themselves, and the
report lists instances that do not fit, with the reasons.

"reeve sim -init" prints an example scenario. docs/sim.md describes the format.`,
		example: `reeve sim examples/sim/zone-loss.yaml
reeve sim -nodes fleet.yaml jobs/*.hcl
reeve sim -scale 0.01 -json examples/sim/c2m.yaml
reeve sim examples/sim/stacks.yaml`,
		exitCodes: "0  all instances were placed\n1  the scenario failed; stderr has the reason\n2  instances wait, the time limit was reached, or a stack with a caller became garbage",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&fleet, "nodes", "", "check whether the jobs fit on the nodes of the scenario `FILE`")
			f.BoolVar(&init, "init", false, "print an example scenario")
			f.BoolVar(&json, "json", false, "print the report as JSON; durations are in nanoseconds")
			f.BoolVar(&quiet, "quiet", false, "do not report progress")
			f.Float64Var(&scale, "scale", 1, "multiply the numbers of nodes, job copies and units by `FACTOR`")
			f.StringVar(&keep, "data-dir", "", "keep the server's data in the empty directory `DIR`")
			f.BoolVar(&foreign, "use-server", false, "use the server at -address: simulated nodes and jobs stay in its state")
			f.BoolVar(&apart, "detached", false, "register nodes and send heartbeats only, to measure placement alone")
			f.IntVar(&links, "links", 0, "connect nodes over TLS, `N` of them per connection; servers need the build tag simfleet")
		},
		offline: true,
		ownArgs: true,
		run: func(r *call) error {
			if init {
				_, err := fmt.Fprint(c.Stdout, sim.Template)
				return err
			}
			scenario, err := loadScenario(fleet, r.args)
			if err != nil {
				return err
			}
			if scale <= 0 {
				return usagef("-scale %v is not above 0", scale)
			}
			if links < 0 {
				return usagef("-links %d is below 0: name the number of nodes per connection", links)
			}
			scenario.Scale(scale)
			options := sim.Options{KeepData: keep, Detached: apart, Links: links}
			if !quiet {
				options.Progress = c.Stderr
			}
			if options.Address, err = c.simulatedServer(foreign); err != nil {
				return err
			}
			if options.Binary, err = os.Executable(); err != nil {
				return fmt.Errorf("find the path of this program: %w", err)
			}
			report, err := sim.Run(r.ctx, scenario, options)
			if err != nil {
				return err
			}
			if err := c.show(format{json: json}, report, func(p *term.Page) { view.SimReport(p, report, fleet != "") }); err != nil {
				return err
			}
			if !report.Fits() || !report.IsProven() {
				return exitWith(exitBlocked)
			}
			return nil
		},
	}
}

func loadScenario(fleet string, args []string) (*sim.Scenario, error) {
	if fleet != "" {
		if len(args) == 0 {
			return nil, usagef("missing argument JOB: -nodes needs at least one job file")
		}
		return sim.LoadFit(fleet, args)
	}
	if len(args) != 1 {
		return nil, usagef("want one argument SCENARIO, found %d", len(args))
	}
	return sim.Load(args[0])
}

// simulatedServer returns the address of the server to use; "" means a new one.
func (c *cli) simulatedServer(foreign bool) (string, error) {
	switch {
	case foreign && c.flags.address == "":
		return "", usagef("-use-server needs -address: the server stores the simulated nodes")
	case !foreign && c.flags.address != "":
		return "", usagef("-address names a real server, which would store simulated nodes; to allow this, set -use-server")
	case foreign && !strings.Contains(c.flags.address, "://"):
		return "http://" + c.flags.address, nil
	}
	return c.flags.address, nil
}
