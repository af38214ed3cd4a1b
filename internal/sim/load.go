// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/jobspec"
)

// Load loads a scenario and the job files that it names. It reports all errors with file and
// line.
func Load(file string) (*Scenario, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the scenario: %w", err)
	}
	return parse(file, text)
}

func parse(file string, text []byte) (*Scenario, error) {
	s := &Scenario{file: file}
	tree, err := parser.ParseBytes(text, 0)
	if err == nil && len(tree.Docs) > 0 && tree.Docs[0].Body != nil {
		err = yaml.NodeToValue(tree.Docs[0].Body, s, yaml.Strict())
	}
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%s", message(file, tree, err))
	}
	c := &checker{file: file, tree: tree}
	s.fillIn()
	s.check(c)
	if len(c.problems) > 0 {
		return nil, &api.Error{Code: api.CodeInvalid, Message: "the scenario is not valid", Detail: c.problems}
	}
	for i := range s.Jobs {
		if s.Jobs[i].job, err = s.loadJob(s.Jobs[i].File, s.Jobs[i].Vars); err != nil {
			return nil, err
		}
	}
	if s.Stacks != nil {
		return s, s.loadStacks()
	}
	return s, nil
}

// loadStacks loads the job file of the units.
func (s *Scenario) loadStacks() (err error) {
	if s.Stacks.job, err = s.loadJob(s.Stacks.File, s.Stacks.Vars); err != nil {
		return err
	}
	switch spec := s.Stacks.job.Stack; {
	case spec == nil:
		return api.Errorf(api.CodeInvalid, "%s: has no stack block, which describes a unit; add stack { version = \"1.0.0\" }", s.Stacks.File)
	case len(spec.Depends) > 0 || len(spec.Expose) > 0:
		return api.Errorf(api.CodeInvalid, "%s: the stack block of a simulated unit has depends or expose: remove them; the simulation draws dependencies, and all units use the file", s.Stacks.File)
	}
	return nil
}

// message formats an error of the library as FILE:LINE: TEXT.
func message(file string, tree *ast.File, err error) string {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil {
		return fmt.Sprintf("%s:%d: %s", file, lineOf(tree, err), err)
	}
	text := strings.ReplaceAll(e.GetMessage(), "into Go struct field ", "as ")
	text = strings.ReplaceAll(text, "of type ", "which is a ")
	text = strings.TrimPrefix(text, "cannot unmarshal ")
	return fmt.Sprintf("%s:%d: %s", file, e.GetToken().Position.Line, text)
}

// quoted matches a value in a message.
var quoted = regexp.MustCompile(`"([^"]+)"`)

// lineOf finds the line of the value that a message without a position concerns: an invalid
// time.
func lineOf(tree *ast.File, err error) int {
	value := quoted.FindStringSubmatch(err.Error())
	if tree == nil || value == nil {
		return 1
	}
	for _, doc := range tree.Docs {
		for t := doc.Body.GetToken(); t != nil; t = t.Next {
			if t.Value == value[1] {
				return t.Position.Line
			}
		}
	}
	return 1
}

// loadJob loads a job file.
func (s *Scenario) loadJob(name string, vars map[string]string) (*api.Job, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(s.file), name)
	}
	return readJob(name, vars)
}

func readJob(name string, vars map[string]string) (*api.Job, error) {
	job, err := jobspec.ParseFile(name, jobspec.Options{Vars: vars, Env: os.Environ(), Strict: true, AllowFS: true, BaseDir: filepath.Dir(name)})
	if err != nil {
		return nil, err
	}
	job.Canonicalize()
	if err := job.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return job, nil
}

// AddJob adds a job file to the scenario.
func (s *Scenario) AddJob(file string) error {
	job, err := readJob(file, nil)
	if err != nil {
		return err
	}
	s.Jobs = append(s.Jobs, JobGroup{File: file, Copies: 1, job: job})
	return nil
}

// Scale multiplies the numbers of nodes and copies.
func (s *Scenario) Scale(by float64) {
	for i := range s.Nodes {
		s.Nodes[i].Count = scaled(s.Nodes[i].Count, by)
	}
	for i := range s.Jobs {
		s.Jobs[i].Copies = scaled(s.Jobs[i].Copies, by)
	}
	if s.Stacks != nil {
		s.Stacks.Units = scaled(s.Stacks.Units, by)
	}
}

func scaled(n int, by float64) int { return max(1, int(float64(n)*by+0.5)) }

// fillIn sets the defaults.
func (s *Scenario) fillIn() {
	if s.Name == "" {
		s.Name = strings.TrimSuffix(filepath.Base(s.file), filepath.Ext(s.file))
	}
	fallback(&s.Seed, 1)
	fallback(&s.Limit, 5*time.Minute)
	fallback(&s.Until, untilRunning)
	fallback(&s.Tasks.RunFor, 10*time.Second)
	if s.Tasks.FailIn == (Range{}) {
		s.Tasks.FailIn = Range{time.Second, 10 * time.Second}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		fallback(&n.Count, 1)
		fallback(&n.Name, "node")
		fallback(&n.Datacenter, "dc1")
		fallback(&n.Pool, api.NodePoolDefault)
		fallback(&n.CPU, 4000)
		fallback(&n.Cores, int(max(1, n.CPU/1000)))
		fallback(&n.Memory, 8192)
		fallback(&n.Disk, 100_000)
		if n.Drivers == nil {
			n.Drivers = []string{"raw_exec", "exec", "docker"}
		}
		for j := range n.Devices {
			fallback(&n.Devices[j].Count, 1)
		}
	}
	for i := range s.Jobs {
		fallback(&s.Jobs[i].Copies, 1)
	}
	for i := range s.Events {
		fallback(&s.Events[i].Deadline, time.Hour)
	}
	if s.Stacks != nil {
		s.Stacks.fillIn()
	}
}

func (s *Stacks) fillIn() {
	fallback(&s.Units, 10)
	if len(s.Namespaces) == 0 {
		s.Namespaces = []string{api.DefaultNamespace}
	}
	fallback(&s.Every, time.Second)
	fallback(&s.For, 30*time.Second)
	fallback(&s.Sweep, 2*time.Second)
	if s.Depends == nil {
		two := 2
		s.Depends = &two
	}
}

func fallback[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

// A checker collects errors with lines.
type checker struct {
	file     string
	tree     *ast.File
	problems []string
}

// fail records an error of the value at a path such as $.nodes[0].count, or of its parent if
// the file does not contain it.
func (c *checker) fail(at, format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf("%s:%d: %s", c.file, c.line(at), fmt.Sprintf(format, args...)))
}

func (c *checker) line(at string) int {
	for at != "" && at != "$" {
		if t := c.token(at); t != nil {
			return t.Position.Line
		}
		at = at[:max(strings.LastIndexByte(at, '.'), strings.LastIndexByte(at, '['), 0)]
	}
	return 1
}

// token returns the first token at a path; nil if the file does not contain it.
func (c *checker) token(at string) *token.Token {
	p, err := yaml.PathString(at)
	if err != nil {
		return nil
	}
	n, err := p.FilterFile(c.tree)
	if err != nil || n == nil {
		return nil
	}
	return n.GetToken()
}

// text returns the text at a path.
func (c *checker) text(at string) string {
	if t := c.token(at); t != nil {
		return t.Value
	}
	return ""
}

func (s *Scenario) check(c *checker) {
	if len(s.Nodes) == 0 {
		c.fail("$", "nodes: the list is empty; describe the fleet, as in \"nodes: [{count: 10, cpu: 4000, memory: 8192}]\"")
	}
	for i, n := range s.Nodes {
		at := fmt.Sprintf("$.nodes[%d]", i)
		positive(c, at+".count", "count", int64(n.Count))
		positive(c, at+".cpu", "cpu", n.CPU)
		positive(c, at+".memory", "memory", n.Memory)
		positive(c, at+".disk", "disk", n.Disk)
		for j, d := range n.Devices {
			if d.Type == "" {
				c.fail(fmt.Sprintf("%s.devices[%d]", at, j), "a device needs a type, such as gpu")
			}
			positive(c, fmt.Sprintf("%s.devices[%d].count", at, j), "count", int64(d.Count))
		}
	}
	for i, j := range s.Jobs {
		at := fmt.Sprintf("$.jobs[%d]", i)
		if j.File == "" {
			c.fail(at, "a job needs a file")
		}
		positive(c, at+".copies", "copies", int64(j.Copies))
		if j.Count != nil && *j.Count < 0 {
			c.fail(at+".count", "count is %d, which is below 0", *j.Count)
		}
	}
	if s.Until != untilRunning && s.Until != untilDone {
		c.fail("$.until", "until is %q; it is %s or %s", s.Until, untilRunning, untilDone)
	}
	s.Server.check(c)
	if s.Tasks.Fail < 0 || s.Tasks.Fail > 1 {
		c.fail("$.tasks.fail", "fail is %v; it is a share from 0 to 1", s.Tasks.Fail)
	}
	for i := range s.Events {
		s.Events[i].check(c, fmt.Sprintf("$.events[%d]", i))
	}
	if s.Stacks != nil {
		s.Stacks.check(c)
	}
}

func (s *Stacks) check(c *checker) {
	if s.File == "" {
		c.fail("$.stacks", "stacks need a file: the job file of a unit")
	}
	for i, name := range s.Namespaces {
		at := fmt.Sprintf("$.stacks.namespaces[%d]", i)
		switch {
		case !api.IsNamespaceName(name):
			c.fail(at, "%q is not the name of a namespace", name)
		case i > 0 && !strings.HasPrefix(name, s.Namespaces[0]+"/"):
			c.fail(at, "namespace %q is not below the first one, %q, where every unit has its first version", name, s.Namespaces[0])
		case slices.Contains(s.Namespaces[:i], name):
			c.fail(at, "namespace %q is listed twice", name)
		}
	}
	positive(c, "$.stacks.units", "units", int64(s.Units))
	positive(c, "$.stacks.every", "every", int64(s.Every))
	positive(c, "$.stacks.for", "for", int64(s.For))
	positive(c, "$.stacks.sweep", "sweep", int64(s.Sweep))
	if *s.Depends < 0 {
		c.fail("$.stacks.depends", "depends is %d, which is below 0", *s.Depends)
	}
	if !(s.Leave >= 0 && s.Leave <= 1) {
		c.fail("$.stacks.leave", "leave is %v; it is a share from 0 to 1", s.Leave)
	}
}

func (s *Server) check(c *checker) {
	if a := s.Algorithm; a != "" && a != api.AlgorithmBinpack && a != api.AlgorithmSpread {
		c.fail("$.server.algorithm", "algorithm is %q; it is %s or %s", a, api.AlgorithmBinpack, api.AlgorithmSpread)
	}
	for i, t := range s.Preempt {
		if !slices.Contains([]string{api.JobTypeService, api.JobTypeBatch, api.JobTypeSystem, api.JobTypeSysBatch}, t) {
			c.fail(fmt.Sprintf("$.server.preempt[%d]", i), "there is no job type %q", t)
		}
	}
	if m := s.MemoryLimit; m != "" && !memoryLimit.MatchString(m) {
		c.fail("$.server.memory_limit", "memory_limit is %q; write it as 512MiB or 2GiB", m)
	}
}

// memoryLimit matches the values that the Go runtime accepts in GOMEMLIMIT.
var memoryLimit = regexp.MustCompile(`^[1-9][0-9]*(MiB|GiB)$`)

// positive reports a value that is not above 0; an absent one has its default.
func positive(c *checker, at, name string, n int64) {
	if c.text(at) == "0" {
		n = 0
	}
	if n <= 0 {
		c.fail(at, "%s is %d, which is not above 0", name, n)
	}
}

func (e *Event) check(c *checker, at string) {
	verbs := 0
	for name, sel := range map[string]*Selection{"kill": e.Kill, "revive": e.Revive, "partition": e.Partition, "heal": e.Heal, "drain": e.Drain} {
		if sel == nil {
			continue
		}
		verbs++
		if sel.Percent < 0 || sel.Percent > 100 {
			c.fail(at+"."+name+".percent", "percent is %v; it is from 0 to 100", sel.Percent)
		}
		for key, glob := range sel.Where {
			if !isSelectable(key) {
				c.fail(at+"."+name+".where", "where: there is no %q: use name, datacenter, class, pool, meta.X or attr.X", key)
			}
			if _, err := path.Match(glob, ""); err != nil {
				c.fail(at+"."+name+".where", "where: %s: %q is not a pattern", key, glob)
			}
		}
	}
	if e.Stop != "" {
		verbs++
	}
	if verbs != 1 {
		c.fail(at, "an event has one verb (kill, revive, partition, heal, drain or stop), this one has %d", verbs)
	}
	if e.For != 0 && e.Kill == nil && e.Partition == nil {
		c.fail(at+".for", "only kill and partition can be undone after a time")
	}
}

func isSelectable(key string) bool {
	switch key {
	case "name", "datacenter", "class", "pool":
		return true
	}
	return strings.HasPrefix(key, "meta.") || strings.HasPrefix(key, "attr.")
}

// UnmarshalYAML parses "200ms" or "100ms..2s".
func (r *Range) UnmarshalYAML(read func(any) error) error {
	var text string
	if err := read(&text); err != nil {
		return err
	}
	low, high, two := strings.Cut(text, "..")
	var err error
	if r.Min, err = time.ParseDuration(low); err == nil {
		if r.Max = r.Min; two {
			r.Max, err = time.ParseDuration(high)
		}
	}
	if err != nil || r.Min < 0 || r.Max < r.Min {
		return fmt.Errorf("%q is not a time such as 200ms, or two such as 100ms..2s", text)
	}
	return nil
}
