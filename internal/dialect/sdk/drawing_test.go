// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/reeve-run/reeve/api"
)

var (
	planLine  = regexp.MustCompile(`^(\S+) \((\S+) strategy\) \((\w+)\)(.*)$`)
	phaseLine = regexp.MustCompile(`^[├└]─ (.+) \((\S+) strategy\) \((\w+)\)(.*)$`)
	stepLine  = regexp.MustCompile(`^[│ ]  [├└]─ (.+) \((\w+)\)(.*)$`)
	stepName  = regexp.MustCompile(`^(.+)-(\d+):\[(.*)\]$`)
)

// parsePlan reads a tree as the SDK's command line draws it. What follows a
// status says more: "held" that an operator holds the element, "begun" that a plan of the
// job's own was started, a kind of recovery, and a reason after a dash. Lines after "Errors:" are errors.
func parsePlan(text string) (*api.Plan, error) {
	p := &api.Plan{}
	var phase *api.Phase
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := planLine.FindStringSubmatch(line); m != nil {
			p.ID, p.Name, p.Strategy, p.Status = "plan-"+m[1], m[1], m[2], api.PlanStatus(m[3])
			p.Interrupted = strings.Contains(m[4], "held")
			if strings.Contains(m[4], "begun") {
				p.Run = "run"
			}
		} else if m := phaseLine.FindStringSubmatch(line); m != nil {
			phase = &api.Phase{ID: p.Name + "." + m[1], Name: m[1], Strategy: m[2], Status: api.PlanStatus(m[3]), Interrupted: strings.Contains(m[4], "held")}
			p.Phases = append(p.Phases, phase)
		} else if m := stepLine.FindStringSubmatch(line); m != nil && phase != nil {
			st := &api.Step{ID: phase.ID + "." + m[1], Name: m[1], Status: api.PlanStatus(m[2]), Interrupted: strings.Contains(m[3], "held")}
			_, st.Message, _ = strings.Cut(m[3], " - ")
			for _, kind := range []string{api.RecoveryTransient, api.RecoveryPermanent} {
				if strings.Contains(m[3], kind) {
					st.Recovery = kind
				}
			}
			if of := stepName.FindStringSubmatch(m[1]); of != nil {
				st.Group = of[1]
				fmt.Sscan(of[2], &st.Index)
				st.Tasks = strings.Split(of[3], ", ")
			}
			p.Total++
			if st.Status == api.PlanComplete {
				p.Completed++
			}
			phase.Steps = append(phase.Steps, st)
		} else if e, ok := strings.CutPrefix(line, "- "); ok {
			p.Errors = append(p.Errors, e)
		} else if line != "Errors:" && strings.TrimSpace(line) != "" {
			return nil, fmt.Errorf("%q is no line of a tree", line)
		}
	}
	return p, nil
}

// drawPlan draws a plan's body as the SDK's command line does.
func drawPlan(name, body string) (string, error) {
	var p planBody
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s (%s strategy) (%s)\n", name, p.Strategy, p.Status)
	for i, ph := range p.Phases {
		branch, stem := "├─", "│ "
		if i == len(p.Phases)-1 {
			branch, stem = "└─", "  "
		}
		fmt.Fprintf(&out, "%s %s (%s strategy) (%s)\n", branch, ph.Name, ph.Strategy, ph.Status)
		for j, st := range ph.Steps {
			branch := "├─"
			if j == len(ph.Steps)-1 {
				branch = "└─"
			}
			fmt.Fprintf(&out, "%s %s %s (%s)\n", stem, branch, st.Name, st.Status)
		}
	}
	if len(p.Errors) > 0 {
		out.WriteString("\nErrors:\n- " + strings.Join(p.Errors, "\n- ") + "\n")
	}
	return out.String(), nil
}

// drawPods draws the body of pod/status as the SDK's command line does.
func drawPods(body string) (string, error) {
	var pods podsBody
	if err := json.Unmarshal([]byte(body), &pods); err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString(pods.Service + "\n")
	last := func(i, n int) (branch, stem string) {
		if i == n-1 {
			return "└─ ", "   "
		}
		return "├─ ", "│  "
	}
	for i, kind := range pods.Pods {
		branch, stem := last(i, len(pods.Pods))
		out.WriteString(branch + kind.Name + "\n")
		for j, pod := range kind.Instances {
			branch, deeper := last(j, len(kind.Instances))
			out.WriteString(stem + branch + pod.Name + "\n")
			for k, t := range pod.Tasks {
				branch, _ := last(k, len(pod.Tasks))
				fmt.Fprintf(&out, "%s%s%s%s (%s)\n", stem, deeper, branch, t.Name, t.Status)
			}
		}
	}
	return out.String(), nil
}
