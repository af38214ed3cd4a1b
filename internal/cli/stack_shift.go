// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func stackShiftCommand(c *cli) *command {
	var (
		to, reason     string
		supersede, now bool
		detach         bool
	)
	return &command{
		use:   "shift UNIT [VERB] [SHARE]",
		short: "Shift a unit's traffic to another stack, or change a running shift",
		long: `Without a verb: shows the running shift, or begins one with -to. The verbs
change the running shift: pause, resume, reverse, finish, and set with a share.`,
		example: `reeve stack shift -to 1.1.0 inventory
reeve stack shift inventory
reeve stack shift inventory set 25%
reeve stack shift -now inventory reverse`,
		exitCodes: `0    done; a shift that was followed is complete
1    refused
2    the followed shift was reversed
124  the shift did not end within -timeout; it continues
130  ended by Ctrl-C; the shift continues`,
		format: true,
		limit:  true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&to, "to", "", "begin a shift to the ready stack with this `VERSION` or name")
			f.BoolVar(&supersede, "supersede", false, "with -to: end a running shift immediately")
			f.BoolVar(&now, "now", false, "with reverse: immediately")
			f.BoolVar(&detach, "detach", false, "with -to: return as soon as the shift has begun")
			f.StringVar(&reason, "reason", "", "why, kept in the audit record as `TEXT`")
		},
		check: func(r *call) error { return checkShift(r, to) },
		run: func(r *call) error {
			unit, verb := r.args[0], r.arg(1)
			switch {
			case to != "":
				res, err := r.cl.Units().Shift(r.ctx, unit, &api.ShiftRequest{To: to, Supersede: supersede, By: c.operator()})
				if err != nil {
					return err
				}
				if detach {
					return r.showShift(res.Shift)
				}
				return r.awaitShift(res.Shift)
			case verb == "":
				shift, _, err := r.cl.Shifts().Get(r.ctx, unit, nil)
				if err != nil {
					return err
				}
				return r.showShift(shift)
			}
			req := &api.ShiftVerbRequest{By: c.operator(), Reason: reason, Now: now}
			if verb == "set" {
				share, err := parseShare(r.arg(2))
				if err != nil {
					return err
				}
				req.Share = &share
			}
			res, err := r.cl.Shifts().Do(r.ctx, unit, verb, req)
			if err != nil {
				return err
			}
			return r.showShift(res.Shift)
		},
	}
}

func checkShift(r *call, to string) error {
	verb := r.arg(1)
	switch verb {
	case "", "pause", "resume", "reverse", "finish", "set":
	default:
		return usagef("unknown verb %q of a shift: use pause, resume, reverse, finish or set", verb)
	}
	switch {
	case to == "" && r.timeout > 0:
		return usagef("-timeout limits the watch of a shift that -to begins; to watch a running one: reeve plan show -watch -timeout %s %s", r.timeout, r.args[0])
	case to != "" && verb != "":
		return usagef("-to begins a shift: leave out %q", verb)
	case verb == "set" && len(r.args) < 3:
		return usagef("set needs a share: reeve stack shift %s set 25%%", r.args[0])
	case verb == "set":
		_, err := parseShare(r.arg(2))
		return err
	case len(r.args) > 2:
		return usagef("unexpected argument %q", r.args[2])
	}
	return nil
}

// parseShare parses "25%" or "0.25".
func parseShare(text string) (float64, error) {
	percent, isPercent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(percent, 64)
	if isPercent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, usagef("share %q: write a percentage from 0%% to 100%%", text)
	}
	return v, nil
}

func (r *call) showShift(s *api.Shift) error {
	return r.show(s, func(p *term.Page) {
		p.Line("%s", view.ShiftLine(s))
		view.ShiftNext(p, s)
	})
}

// awaitShift follows a shift to its end.
func (r *call) awaitShift(s *api.Shift) error {
	limited, cancel := r.limited()
	defer cancel()
	last, err := limited.followShift(r.cl.WithNamespace(s.Namespace), s.ID)
	switch {
	case isLate(limited.ctx, err):
		return lateError("the shift to "+s.To, r.timeout, "reeve plan show -watch "+view.JobArgs(s.Namespace, s.To)+" "+api.PlanShift)
	case err != nil:
		return r.stackInterrupted(err)
	}
	if err := r.showShift(last); err != nil {
		return err
	}
	if last.Status != api.ShiftComplete {
		return exitWith(exitStackFailed)
	}
	return nil
}
