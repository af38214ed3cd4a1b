// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
)

const (
	debugTimeout   = 15 * time.Second // of one question
	debugEvents    = 10_000
	debugEventTime = 2 * time.Second
)

func operatorDebugCommand(c *cli) *command {
	var (
		output  string
		nodes   []string
		profile time.Duration
	)
	return &command{
		use:   "debug",
		short: "Collect a support archive",
		long: `Collect a support archive of the cluster: its status, and of each server and of
chosen nodes the configuration, the metrics, the end of the log, and profiles of
goroutines and memory. If a member does not answer, the archive has the error.

The archive contains no tokens, no keys and no environment of jobs. It contains
the names of machines, jobs and nodes: read it before you pass it on.`,
		example: "reeve operator debug\nreeve operator debug -node worker-1 -profile 10s -output debug.tar.gz",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&output, "output", "", "write the archive to `FILE` (default: reeve-debug-TIME.tar.gz)")
			f.StringArrayVar(&nodes, "node", nil, "include node `NODE`, by id or name; repeatable")
			f.DurationVar(&profile, "profile", 0, "measure the processor time of each member for `D`, at most 30s")
		},
		run: func(r *call) error {
			name := "reeve-debug-" + c.Now().UTC().Format("20060102T150405Z")
			if output == "" {
				output = name + ".tar.gz"
			}
			a, err := newArchive(output, name, c.Now())
			if err != nil {
				return err
			}
			s := &support{call: r, archive: a, profile: profile}
			if err := errors.Join(s.collect(nodes), a.finish(version)); err != nil {
				return errors.Join(fileError("write", output, err), a.discard())
			}
			p := c.page()
			p.Line("Wrote %s (%s, %s).", output, human.Bytes(a.size), human.Count(len(a.manifest.Files), "file", "files"))
			for _, failure := range a.manifest.Errors {
				p.Line("%s", p.Style.Red("Missing: "+failure))
			}
			fmt.Fprint(c.Stdout, p.String())
			return nil
		},
	}
}

// A support collects an archive.
type support struct {
	*call
	archive *archive
	profile time.Duration
}

// collect fills the archive.
func (s *support) collect(nodes []string) error {
	cl := s.cl.WithNamespace("*")
	status, err := s.readClusterStatus(s.ctx, cl)
	if status != nil {
		err = errors.Join(s.archive.failed("cluster/status.json", err), s.archive.addJSON("cluster/status.json", status))
	}
	errs := []error{err}
	for _, part := range []struct {
		name string
		read func(context.Context) (any, error)
	}{
		{"scheduler.json", func(ctx context.Context) (any, error) {
			config, _, err := cl.Operator().SchedulerConfig(ctx, nil)
			return config, err
		}},
		{"certificates.json", func(ctx context.Context) (any, error) { return cl.Cluster().CAStatus(ctx) }},
		{"revocations.json", func(ctx context.Context) (any, error) {
			list, _, err := cl.Cluster().Revocations(ctx, nil)
			return list, err
		}},
		{"evaluations.json", func(ctx context.Context) (any, error) {
			list, _, err := cl.Evaluations().List(ctx, &client.QueryOptions{PerPage: 1000})
			return list, err
		}},
		{"deployments.json", func(ctx context.Context) (any, error) {
			list, _, err := cl.Deployments().List(ctx, &client.QueryOptions{PerPage: 1000})
			return list, err
		}},
		{"events.json", func(ctx context.Context) (any, error) { return s.events(ctx, cl) }},
	} {
		ctx, cancel := context.WithTimeout(s.ctx, debugTimeout)
		v, err := part.read(ctx)
		cancel()
		if err != nil {
			errs = append(errs, s.archive.failed("cluster/"+part.name, err))
			continue
		}
		errs = append(errs, s.archive.addJSON("cluster/"+part.name, v))
	}
	if status == nil {
		return errors.Join(append(errs, s.member("agent", "", ""))...)
	}
	for _, m := range status.Members {
		if m.Status != api.ServerLeft {
			errs = append(errs, s.member("servers", m.Name, m.ID))
		}
	}
	for _, ref := range nodes {
		errs = append(errs, s.node(ref, status.Nodes))
	}
	return errors.Join(errs...)
}

// node collects from a node that is named by its id or its name.
func (s *support) node(ref string, nodes []*api.NodeListStub) error {
	for _, n := range nodes {
		if n.Name == ref || len(ref) >= 4 && strings.HasPrefix(n.ID, ref) {
			return s.member("nodes", n.Name, n.ID)
		}
	}
	return s.archive.failed("nodes/"+ref, fmt.Errorf("node %q not found: see \"reeve node status\"", ref))
}

// member collects what one member reports.
func (s *support) member(kind, name, id string) error {
	dir := kind + "/" + fileName(name)
	if id != "" {
		dir += "-" + fileName(api.ShortID(id))
	}
	var errs []error
	for _, part := range []struct{ part, file string }{
		{api.DebugSelf, "self.json"}, {api.DebugMetrics, "metrics.json"}, {api.DebugLog, "log.txt"},
		{api.DebugGoroutines, "goroutines.txt"}, {api.DebugHeap, "heap.pprof"}, {api.DebugProfile, "processor.pprof"},
	} {
		length := time.Duration(0)
		if part.part == api.DebugProfile {
			if length = s.profile; length == 0 {
				continue
			}
		}
		ctx, cancel := context.WithTimeout(s.ctx, debugTimeout+length)
		text, err := s.cl.Operator().Debug(ctx, id, part.part, length)
		cancel()
		if err != nil {
			errs = append(errs, s.archive.failed(dir+"/"+part.file, err))
			var no *client.NoAnswer
			if errors.As(err, &no) || api.CodeOf(err) == api.CodeUnavailable {
				break // the other parts would take as long
			}
			continue
		}
		errs = append(errs, s.archive.add(dir+"/"+part.file, text))
	}
	return errors.Join(errs...)
}

// events returns what the servers still keep of the event stream, without the objects: those of
// jobs have environments.
func (s *support) events(ctx context.Context, cl *client.Client) ([]json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, debugEventTime)
	defer cancel()
	list := []json.RawMessage{}
	for batch, err := range cl.Events().Stream(ctx, client.EventOptions{Index: 1, Namespace: "*"}) {
		if err != nil {
			if ctx.Err() != nil {
				return list, nil
			}
			return list, err
		}
		for _, e := range batch.Events {
			line, err := json.Marshal(struct {
				Index                       uint64
				Topic, Type, Key, Namespace string
				Deleted                     bool `json:",omitempty"`
			}{e.Index, e.Topic, e.Type, e.Key, e.Namespace, e.Deleted})
			if err != nil {
				return list, err
			}
			list = append(list, line)
		}
		if len(list) >= debugEvents {
			break
		}
	}
	return list, nil
}

// fileName makes a name safe as a part of a path.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
	if safe == "" {
		return "agent"
	}
	return safe[:min(len(safe), 64)]
}
