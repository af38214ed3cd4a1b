// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Bounds of a stack block.
const (
	maxStackLimit  = 1000
	maxDepends     = 200
	maxExposures   = 50
	maxChecks      = 20
	maxGateAddress = 2048
	minShiftOver   = time.Second
	minInterval    = 5 * time.Second
	maxInterval    = time.Hour
	maxFailures    = 100
)

var retentionPolicies = []string{
	RetainActive, RetainLatest, RetainTwoMajor, RetainTwoFeature, RetainUntilDeprecated, RetainAlways,
}

// StackProblems lists the errors in the stack block of a job. It returns nothing for a
// job without the block.
func (j *Job) StackProblems() []Problem {
	if j.Stack == nil {
		return nil
	}
	c := stackCheck{job: j, spec: j.Stack, shape: j.StackShape()}
	if _, _, _, registered := ParseStackName(j.ID); !registered { // else Reeve gave it its name and routes
		c.unit()
		c.routes()
		c.dependencyNames()
	}
	c.block()
	c.warm()
	return c.problems
}

// stackCheck collects the problems of a stack block.
type stackCheck struct {
	job      *Job
	spec     *StackSpec
	shape    string
	problems []Problem
}

func (c *stackCheck) add(at any, key, format string, args ...any) {
	c.problems = append(c.problems, Problem{At: at, Key: key, Text: fmt.Sprintf(format, args...)})
}

// block checks the block alone, without the rest of the job.
func (c *stackCheck) block() {
	c.version()
	c.times()
	c.depends()
	c.policy()
	c.shift()
	c.expose()
}

func (c *stackCheck) unit() {
	if err := ValidateUnitName(c.job.ID); err != nil {
		c.add(c.job, "", "%v", err)
	}
}

func (c *stackCheck) version() {
	v, err := ParseStackVersion(c.spec.Version)
	switch {
	case err != nil:
		c.add(c.spec, "version", "stack: %v", err)
	case v.IsZero():
		c.add(c.spec, "version", "stack: version 0.0.0: must be at least 0.0.1")
	}
}

func (c *stackCheck) times() {
	c.time("initial_ttl", c.spec.InitialTTL, time.Second)
	c.time("extend_ttl", c.spec.ExtendTTL, time.Second)
	c.time("grace", c.spec.Grace, 0)
	c.time("idle", c.spec.Idle, 0)
	if n := c.spec.MaxStacks; n != nil && (*n < 1 || *n > maxStackLimit) {
		c.add(c.spec, "max_stacks", "stack: max_stacks %d: must be between 1 and %d", *n, maxStackLimit)
	}
}

func (c *stackCheck) time(key string, d *time.Duration, least time.Duration) {
	if d != nil && (*d < least || *d > maxDuration) {
		c.add(c.spec, key, "stack: %s %s: must be between %s and 10 years", key, *d, least)
	}
}

func (c *stackCheck) depends() {
	if len(c.spec.Depends) > maxDepends {
		c.add(c.spec, "", "stack: %d dependencies are more than %d", len(c.spec.Depends), maxDepends)
		return
	}
	seen := make(map[string]bool)
	for _, d := range c.spec.Depends {
		if d == nil {
			c.add(c.spec, "", "stack: a dependency is null")
			continue
		}
		if err := ValidateUnitName(d.Unit); err != nil {
			c.add(d, "", "depends: %v", err)
		}
		if _, err := ParseFeatureVersion(d.Version); err != nil {
			c.add(d, "version", "depends %q: %v", d.Unit, err)
		}
		if d.Unit == c.job.ID {
			c.add(d, "", "depends %q: a unit cannot depend on itself; remove the block", d.Unit)
		}
		if key := d.Unit + "@" + d.Wants().String(); seen[key] {
			c.add(d, "", "depends %q: version %s is declared twice; remove one of the blocks", d.Unit, d.Version)
		} else {
			seen[key] = true
		}
	}
}

// dependencyNames refuses dependencies that would set the same variables of tasks.
func (c *stackCheck) dependencyNames() {
	versions := make(map[string]string)
	for _, d := range c.spec.Depends {
		if d == nil {
			continue
		}
		if earlier, ok := versions[d.Unit]; ok && earlier != d.Version {
			c.add(d, "", "depends %q: versions %s and %s both set %s; remove one of the blocks", d.Unit, earlier, d.Version, d.Variable("HOST"))
			continue
		}
		versions[d.Unit] = d.Version
	}
}

func (c *stackCheck) policy() {
	if p := c.spec.Policy; p != nil {
		for key, text := range p.problems() {
			c.add(c.spec, key, "stack: %s", text)
		}
	}
}

func (c *stackCheck) expose() {
	if len(c.spec.Expose) > maxExposures {
		c.add(c.spec, "", "stack: %d expose blocks are more than %d", len(c.spec.Expose), maxExposures)
		return
	}
	seen := make(map[string]bool)
	for _, e := range c.spec.Expose {
		switch {
		case e == nil:
			c.add(c.spec, "", "stack: an expose block is null")
			continue
		case !isHostName(e.Host):
			c.add(e, "host", "expose: host %q: must be a host name in lower case, without a port", Printable(e.Host, 64))
		case seen[e.Host]:
			c.add(e, "host", "expose: host %q is exposed twice; remove one of the blocks", e.Host)
		case e.Sticky != "" && e.Sticky != StickyClient:
			c.add(e, "sticky", "expose %q: sticky %q: must be %q, or absent", e.Host, Printable(e.Sticky, 64), StickyClient)
		case e.Preview != "" && e.Preview != PreviewTrusted && e.Preview != PreviewPublic:
			c.add(e, "preview", "expose %q: preview %q: must be true (requests from trusted proxies), %q or false", e.Host, Printable(e.Preview, 64), PreviewPublic)
		case c.shape != ShapeService:
			c.add(e, "", "expose: the job has no port that requests can be sent to; remove the block, or label one port %q", defaultPort)
		}
		seen[e.Host] = true
	}
}

// routes refuses routes: a route belongs to one job, and an exposure to all stacks of a unit.
func (c *stackCheck) routes() {
	for _, g := range c.job.Groups {
		if g != nil && len(g.Routes) > 0 {
			c.add(g, "route", "group %q: a route belongs to one job, and a stack shares its traffic with others: write expose { host = \"...\" } in the stack block instead", g.Name)
		}
	}
}

func isHTTPAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// Validate returns an error if the policy is invalid.
func (p *RetentionPolicy) Validate() error {
	for _, text := range p.problems() {
		return Errorf(CodeInvalid, "%s", text)
	}
	return nil
}

// problems yields the errors in a policy, by its key in a job file.
func (p *RetentionPolicy) problems() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		if !slices.Contains(retentionPolicies, p.Name) &&
			!yield("policy", fmt.Sprintf("policy %q: must be one of %s", Printable(p.Name, 64), strings.Join(retentionPolicies, ", "))) {
			return
		}
		for _, f := range []struct {
			key    string
			number int
		}{{"majors", p.Majors}, {"features", p.Features}, {"patches", p.Patches}} {
			var text string
			switch {
			case f.number < 0 || f.number > maxStackLimit:
				text = fmt.Sprintf("%s %d: must be between 1 and %d", f.key, f.number, maxStackLimit)
			case f.number > 0 && p.Name != RetainLatest:
				text = fmt.Sprintf("policy %s has no %s: only %s counts versions", p.Name, f.key, RetainLatest)
			}
			if text != "" && !yield(f.key, text) {
				return
			}
		}
	}
}

// ValidateTag returns an error if the name of a tag is invalid. A tag is a label in DNS that
// cannot be taken for a version.
func ValidateTag(tag string) error {
	if err := ValidateUnitName(tag); err != nil || tag[0] >= '0' && tag[0] <= '9' {
		return Errorf(CodeInvalid, "tag %q: must be 1 to %d lower-case letters, digits and single hyphens, and begin with a letter", Printable(tag, 64), maxUnitName)
	}
	return nil
}
