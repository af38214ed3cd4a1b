// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
	"github.com/reeve-run/reeve/jobspec"
)

// Ends of the jobs of the corpus, in the header "# ends:" of their files.
const (
	endRunning  = "running"  // all instances run, and their deployment is successful
	endComplete = "complete" // all instances of the job, or of the job that it starts, have ended with success
	endFails    = "fails"    // with what an event of a task says
	endWaits    = "waits"    // with what "job explain" says about instances without a place
)

// A corpusFile is an accepted job file of the corpus.
type corpusFile struct {
	name   string
	job    *api.Job
	end    string
	reason string // a part of what the user reads
	under  string // the prefix of the ids of jobs whose instances count
	since  time.Time
}

var (
	endsLine    = regexp.MustCompile(`(?m)^# ends: (\w+)(?:: (.+))?$`)
	withoutLine = regexp.MustCompile(`(?m)^# ends without (\S+): (\w+): (.+)$`) // if root lacks a capability, or the machine a device
)

// lacks reports whether root lacks a capability, or the machine a device.
func lacks(what string) bool {
	if strings.HasPrefix(what, "/") {
		_, err := os.Stat(what)
		return err != nil
	}
	return !slices.Contains(isolate.HeldCapabilities(), what)
}

// acceptedFiles reads the accepted job files of the corpus.
func acceptedFiles(t *testing.T) (files []*corpusFile) {
	t.Helper()
	paths, err := filepath.Glob("../../jobspec/testdata/nomad/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\n# accept: yes\n") && !strings.Contains(string(text), `"accept": "yes"`) {
			continue
		}
		f := &corpusFile{name: filepath.Base(path), end: endRunning}
		if f.job, err = jobspec.ParseFile(path, jobspec.Options{AllowFS: true}); err != nil {
			t.Fatal(err)
		}
		if f.job.Type == api.JobTypeBatch || f.job.Type == api.JobTypeSysBatch {
			f.end = endComplete
		}
		if m := endsLine.FindStringSubmatch(string(text)); m != nil {
			f.end, f.reason = m[1], m[2]
		}
		if m := withoutLine.FindStringSubmatch(string(text)); m != nil && lacks(m[1]) {
			f.end, f.reason = m[2], m[3]
		}
		files = append(files, f)
	}
	if len(files) < 100 {
		t.Fatalf("the corpus has %d accepted files, want most of it", len(files))
	}
	return files
}

// TestContainerCorpusRuns runs every accepted job file of the corpus, unchanged, to the end that its
// header names. Programs, images and artifacts are stand-ins by the names in the files.
func TestContainerCorpusRuns(t *testing.T) {
	if !apart(t, unix.CLONE_NEWNET|unix.CLONE_NEWNS) {
		return
	}
	files := acceptedFiles(t)
	newCorpusWorld(t, files)
	m := unstarted(t)
	m.Args = []string{"-dev", "-config", m.configured(corpusNode(t))}
	m.start()
	m.waitReady()
	for path, items := range map[string]string{"nomad/jobs/shop": "database_url=db", "nomad/jobs/template-nomad-var": "db_password=x", "secrets/db": "password=x", "nomad/jobs/mysql": "root_password=x"} {
		m.reeve("var", "put", path, items)
	}
	m.reeve("var", "put", "nomad/jobs/minio", "user=x", "password=y")
	policy := filepath.Join(t.TempDir(), "secrets.hcl")
	if err := os.WriteFile(policy, []byte("namespace \"default\" {\n  variables {\n    path \"secrets/db\" { capabilities = [\"read\"] }\n  }\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, job := range []string{"api", "secret-nomad"} {
		m.reeve("acl", "policy", "apply", "-namespace", "default", "-job", job, "secrets-of-"+job, policy)
	}
	m.createVolume("ledger", "")
	m.runCorpus(files)
	m.hasNetworks(0)
	os.Remove(m.networksDir())
}

// corpusNode returns the configuration of a node that has what most of the jobs ask for.
func corpusNode(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`router { http = "127.0.0.8:7080" }
client {
  node_class = "compute-1"
  meta {
    rack  = "1"
    ssd   = "true"
    zone  = "a"
    zones = "a,b"
  }
  host_network "public" { interface = "lo" }
  host_network "private" { interface = "lo" }
  container {
    volumes          = true
    allow_privileged = true
  }
`)
	for _, volume := range []string{"postgres", "mysql", "minio", "store", "store[0]", "store[1]", "store[2]", "reference", "media", "cache", "grafana", "content", "images"} {
		fmt.Fprintf(&b, "  host_volume %q { path = %q }\n", volume, openDir(t))
	}
	return b.String() + "}\n"
}

// Limits of a run of the corpus: a node with two processors starts so many jobs at once without
// missing the deadlines of their checks.
const (
	corpusAtOnce   = 40
	corpusPatience = 3 * time.Minute // for one job; the longest waits 30 seconds for its health
)

// runCorpus runs all jobs, many at once, and stops each as soon as it has its end.
func (m *machine) runCorpus(files []*corpusFile) {
	m.t.Helper()
	waiting, active, done := slices.Clone(files), []*corpusFile(nil), 0
	slices.SortStableFunc(waiting, func(a, b *corpusFile) int { return cmp.Compare(b.cores(), a.cores()) }) // while the node is empty
	ctx, cancel := context.WithTimeout(m.t.Context(), 7*time.Minute)
	defer cancel()
	err := m.Poll(ctx, 100*time.Millisecond, func(ctx context.Context) error {
		active = slices.DeleteFunc(active, func(f *corpusFile) bool {
			err := m.ended(ctx, f)
			if err != nil && time.Since(f.since) < corpusPatience {
				return false
			}
			if err != nil {
				m.t.Errorf("%s: not %s: %s: after %s: %v", f.name, f.end, f.reason, time.Since(f.since).Round(time.Second), err)
				jobs, _ := m.reeveCommand("", "job", "status")
				m.t.Log(jobs)
			}
			m.stopAll(ctx, f)
			done++
			return true
		})
		waiting = slices.DeleteFunc(waiting, func(f *corpusFile) bool {
			if len(active) >= corpusAtOnce || slices.ContainsFunc(active, func(a *corpusFile) bool { return a.job.ID == f.job.ID }) {
				return false
			}
			f.since = time.Now()
			if err := m.launch(ctx, f); err != nil {
				m.t.Errorf("%s: %v", f.name, err)
				return true
			}
			active = append(active, f)
			return true
		})
		if len(waiting)+len(active) > 0 {
			return fmt.Errorf("%d of %d jobs have their ends", done, len(files))
		}
		return nil
	})
	if err != nil {
		var left []string
		for _, f := range active {
			left = append(left, fmt.Sprintf("%s: %v", f.name, m.ended(m.t.Context(), f)))
		}
		m.t.Errorf("%v; the others:\n%s", err, strings.Join(left, "\n"))
	}
}

// cores returns the number of whole cores that a job asks for.
func (f *corpusFile) cores() (n int) {
	for _, g := range f.job.Groups {
		for _, task := range g.Tasks {
			if r := task.Resources; r != nil && r.Cores != nil {
				n += *r.Cores
			}
		}
	}
	return n
}

// launch registers a job, and starts what it starts only when told.
func (m *machine) launch(ctx context.Context, f *corpusFile) error {
	f.under = f.job.ID
	if _, err := m.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: f.job}); err != nil {
		return err
	}
	switch {
	case f.job.Periodic != nil:
		f.under = f.job.ID + api.PeriodicLaunchSuffix
		_, err := m.Client.Jobs().ForcePeriodic(ctx, f.job.ID)
		return err
	case f.job.IsParameterized():
		req := &api.DispatchJobRequest{JobID: f.job.ID, Meta: map[string]string{}}
		for _, key := range f.job.Parameterized.MetaRequired {
			req.Meta[key] = "busybox:1.36"
		}
		if f.job.Parameterized.Payload != "forbidden" {
			req.Payload = []byte("{}\n")
		}
		resp, err := m.Client.Jobs().Dispatch(ctx, req)
		if err == nil {
			f.under = resp.DispatchedJobID
		}
		return err
	}
	return nil
}

// launchedBy returns the ids of the jobs whose instances count.
func (m *machine) launchedBy(ctx context.Context, f *corpusFile) (ids []string, err error) {
	if f.job.Periodic == nil {
		return []string{f.under}, nil
	}
	list, _, err := m.Client.Jobs().List(ctx, &client.QueryOptions{Prefix: f.under})
	for _, j := range list {
		ids = append(ids, j.ID)
	}
	return ids, err
}

func (m *machine) stopAll(ctx context.Context, f *corpusFile) {
	ids, err := m.launchedBy(ctx, f)
	for _, id := range append([]string{f.job.ID}, ids...) {
		if err == nil {
			_, err = m.Client.Jobs().Deregister(ctx, id, client.DeregisterOptions{Purge: true, NoShutdownDelay: true})
		}
	}
	if err != nil {
		m.t.Errorf("%s: stop: %v", f.name, err)
	}
}

// ended returns why a job does not have its end yet.
func (m *machine) ended(ctx context.Context, f *corpusFile) error {
	ids, err := m.launchedBy(ctx, f)
	if err != nil || len(ids) == 0 {
		return errors.Join(err, errors.New("no job was started"))
	}
	var list []*api.AllocationListStub
	for _, id := range ids {
		part, _, err := m.Client.Jobs().Allocations(ctx, id, true, nil)
		if err != nil {
			return err
		}
		for _, a := range part {
			if !time.Unix(0, a.CreateTime).Before(f.since) { // another file may have had a job with this id
				list = append(list, a)
			}
		}
	}
	have, want, text := 0, 0, ""
	for _, g := range f.job.Groups {
		switch {
		case f.job.Type == api.JobTypeSystem || f.job.Type == api.JobTypeSysBatch || g.Count == nil:
			want++
		default:
			want += *g.Count
		}
	}
	for _, a := range list {
		if f.end == endRunning && a.ClientStatus == api.AllocClientRunning || f.end == endComplete && a.ClientStatus == api.AllocClientComplete {
			have++
		}
		text += fmt.Sprintf("\n  %s %s is %s %s", a.ID, a.Name, a.ClientStatus, a.ClientDescription)
		for name, s := range a.TaskStates {
			text += fmt.Sprintf("\n    %s %s%s", name, s.State, events(s))
		}
	}
	if f.end == endWaits || len(list) == 0 {
		explained, err := m.reeveCommand("", "job", "explain", ids[0])
		if err != nil {
			return fmt.Errorf("explain: %w: %s", err, explained)
		}
		text += explained
	}
	switch f.end {
	case endFails, endWaits:
		if f.reason == "" || !strings.Contains(text, f.reason) {
			return errors.New(text)
		}
		return nil
	}
	if have < want {
		return fmt.Errorf("%d of %d instances:%s", have, want, text)
	}
	if f.end == endRunning {
		return m.deployedWell(ctx, f, text)
	}
	return nil
}

func (m *machine) deployedWell(ctx context.Context, f *corpusFile, text string) error {
	d, _, err := m.Client.Jobs().LatestDeployment(ctx, f.job.ID, nil)
	if err == nil && d != nil && d.Status != api.DeploymentSuccessful {
		err = fmt.Errorf("the deployment is %s: %s%s", d.Status, d.StatusDescription, text)
	}
	return err
}
