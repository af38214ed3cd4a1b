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
	)
	return &command{
		use:   "sim SCENARIO | -nodes FLEET JOB...",
		short: "Play a fleet of simulated nodes against a real server",
		long: `Plays a scenario: thousands of simulated nodes that register with a real server
over its API, hold their streams, and pretend to run what is placed on them, as
the mock driver does. The server is a process of its own with its log on the
disk. At the end comes a report of what was measured: placements per second,
latencies, how full and how spread out the fleet is, what waits and why, and
what the server needed. Everything takes real time.

With -nodes, asks whether jobs would fit a fleet: the file says what nodes there
are, the arguments are job files. Nothing ends by itself then; what does not fit
is listed with the reasons.

"reeve sim -init" prints a scenario to begin with. docs/sim.md describes the
format.`,
		example: `reeve sim examples/sim/zone-loss.yaml
reeve sim -nodes fleet.yaml jobs/*.hcl
reeve sim -scale 0.01 -json examples/sim/c2m.yaml`,
		exitCodes: "0  everything that was wanted found room\n1  the scenario could not be played; stderr says why\n2  something waits for room, or the time was up before all was done",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&fleet, "nodes", "", "would the jobs fit the nodes of `FILE`? It is a scenario of which only the nodes are looked at")
			f.BoolVar(&init, "init", false, "print a scenario to begin with")
			f.BoolVar(&json, "json", false, "print the report as JSON; durations are in nanoseconds")
			f.BoolVar(&quiet, "quiet", false, "do not tell meanwhile how far it is")
			f.Float64Var(&scale, "scale", 1, "`FACTOR` for the numbers of nodes and of copies of jobs")
			f.StringVar(&keep, "data-dir", "", "keep the server's data in `DIR`, which must be empty")
			f.BoolVar(&foreign, "use-server", false, "use the server at -address instead of an own one: it will have the simulated nodes and jobs in its state")
			f.BoolVar(&apart, "detached", false, "nodes only register and send heartbeats: to measure placing without them")
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
				return usagef("-scale %v: it must be above 0", scale)
			}
			scenario.Scale(scale)
			options := sim.Options{KeepData: keep, Detached: apart}
			if !quiet {
				options.Progress = c.Stderr
			}
			if options.Address, err = c.simulatedServer(foreign); err != nil {
				return err
			}
			if options.Binary, err = os.Executable(); err != nil {
				return fmt.Errorf("find this program's file: %w", err)
			}
			report, err := sim.Run(r.ctx, scenario, options)
			if err != nil {
				return err
			}
			if err := c.show(format{json: json}, report, func(p *term.Page) { view.SimReport(p, report, fleet != "") }); err != nil {
				return err
			}
			if !report.Fits() {
				return exitWith(exitBlocked)
			}
			return nil
		},
	}
}

func loadScenario(fleet string, args []string) (*sim.Scenario, error) {
	if fleet != "" {
		if len(args) == 0 {
			return nil, usagef("-nodes asks whether jobs would fit: name at least one job file")
		}
		return sim.LoadFit(fleet, args)
	}
	if len(args) != 1 {
		return nil, usagef("name one SCENARIO, not %d", len(args))
	}
	return sim.Load(args[0])
}

// simulatedServer is the address of the server to use; "" is an own one.
func (c *cli) simulatedServer(foreign bool) (string, error) {
	switch {
	case foreign && c.flags.address == "":
		return "", usagef("-use-server needs -address: say which server, it will hold simulated nodes afterwards")
	case !foreign && c.flags.address != "":
		return "", usagef("-address names a server that is there, which would hold simulated nodes afterwards: if you want that, add -use-server")
	case foreign && !strings.Contains(c.flags.address, "://"):
		return "http://" + c.flags.address, nil
	}
	return c.flags.address, nil
}
