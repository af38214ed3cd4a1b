// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A fakeSigner numbers the tokens that it signs.
type fakeSigner struct {
	mu     sync.Mutex
	away   bool
	signed int
}

func (s *fakeSigner) sign(_ context.Context, r *api.IdentityRequest) (*api.IdentityResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, errors.New("no server answers")
	}
	s.signed++
	return &api.IdentityResponse{Token: fmt.Sprintf("%s-%s-%d", r.Task, r.Identity, s.signed)}, nil
}

func (s *fakeSigner) set(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

// count returns the number of signatures.
func (s *fakeSigner) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signed
}

// secret returns what a file of a task's directory of secrets contains.
func (b *bench) secret(a *api.Allocation, task, name string) string {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(b.host.Dirs.Task(a.ID, task).Secrets, name))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func identities(all ...*api.Identity) func(*api.Task) {
	return func(t *api.Task) { t.Identities = all }
}

func TestATaskGetsItsIdentities(t *testing.T) {
	inBubble(t, func(b *bench) {
		signer := &fakeSigner{away: true}
		b.host.Identity = signer.sign
		a := allocation("service", taskSpec("web", func(t *api.Task) {
			t.Identity = &api.Identity{Env: true}
			t.Identities = []*api.Identity{{Name: "vault", Audience: []string{"vault.io"}, File: true}, {Name: "unused", Audience: []string{"x"}}}
		}), taskSpec("plain"))
		r := b.start(a)
		time.Sleep(2 * time.Minute)
		b.want("tasks that wait for no identity", []string{"plain"}, running(b))
		if events := story(r, "web"); !slices.ContainsFunc(events, func(s string) bool { return strings.Contains(s, `Waits for its identity "default": no server answers`) }) || len(events) > 4 {
			b.Errorf("the events of a task that waits are %q", events)
		}
		signer.set(false)
		time.Sleep(identityRetryMost)
		synctest.Wait()
		p := b.driver.Process("web")
		b.want("the variable", true, slices.Contains(p.Task.Env, "NOMAD_TOKEN=web-default-1"))
		b.want("the file", "web-vault-2", b.secret(a, "web", "nomad_vault.jwt"))
		b.want("no file of the default", true, strings.Contains(b.secret(a, "web", "nomad_token"), "no such file"))
		b.want("signatures", 2, signer.count())
		info, err := os.Stat(filepath.Join(b.host.Dirs.Task(a.ID, "web").Secrets, "nomad_vault.jwt"))
		if err != nil || info.Mode().Perm() != 0o600 {
			b.Errorf("the file has mode %v, %v", info.Mode(), err)
		}
		time.Sleep(1000 * time.Hour)
		b.want("signatures of tokens without an end", 2, signer.count())
	})
}

// running returns the names of the tasks with a process.
func running(b *bench) (tasks []string) {
	for _, p := range b.driver.Started() {
		tasks = append(tasks, p.Task.Name)
	}
	return tasks
}

func TestIdentitiesAreRenewed(t *testing.T) {
	inBubble(t, func(b *bench) {
		signer := &fakeSigner{}
		b.host.Identity = signer.sign
		a := allocation("service",
			taskSpec("quiet", identities(&api.Identity{Name: "x", Audience: []string{"x"}, File: true, TTL: time.Hour})),
			taskSpec("told", identities(&api.Identity{Name: "x", Audience: []string{"x"}, File: true, TTL: time.Hour, ChangeMode: "signal", ChangeSignal: "SIGHUP"})),
			taskSpec("again", identities(&api.Identity{Name: "x", Audience: []string{"x"}, Env: true, TTL: time.Hour, ChangeMode: "restart"})))
		r := b.start(a)
		b.driver.Wait(3)
		first := b.secret(a, "quiet", "nomad_x.jwt")
		time.Sleep(25 * time.Minute)
		b.want("the file before half of its life", first, b.secret(a, "quiet", "nomad_x.jwt"))
		signer.set(true) // servers that are away delay a renewal, and end no task
		time.Sleep(10 * time.Minute)
		b.want("the file while the servers are away", first, b.secret(a, "quiet", "nomad_x.jwt"))
		signer.set(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if second := b.secret(a, "quiet", "nomad_x.jwt"); second == first || !strings.HasPrefix(second, "quiet-x-") {
			b.Errorf("the renewed file is %q", second)
		}
		b.want("signals", []string{"SIGHUP"}, b.driver.Process("told").Signals())
		b.want("processes", 4, len(b.driver.Started()))
		if events := story(r, "again"); !slices.Contains(events, "Restart Signaled: Its identity was renewed") {
			b.Errorf("the events of the task that is restarted are %q", events)
		}

		renewed, signed := b.secret(a, "quiet", "nomad_x.jwt"), signer.count()
		processes := []string{"quiet", "told", "again"}
		for _, task := range processes {
			b.driver.Remember(b.driver.Process(task))
		}
		b.close() // the agent ends, and the next one finds its tasks
		b.open()
		b.host.Identity = signer.sign
		b.restore(a.Job)
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		b.want("signatures before they are due", signed, signer.count())
		b.want("the file after a restart of the agent", renewed, b.secret(a, "quiet", "nomad_x.jwt"))
		time.Sleep(15 * time.Minute)
		synctest.Wait()
		if b.secret(a, "quiet", "nomad_x.jwt") == renewed {
			b.Error("the next agent does not renew identities")
		}
	})
}

// TestHostileFilesReceiveNoIdentity has a task put other things in the place of its identity.
func TestHostileFilesReceiveNoIdentity(t *testing.T) {
	inBubble(t, func(b *bench) {
		signer := &fakeSigner{}
		b.host.Identity = signer.sign
		a := allocation("service", taskSpec("web", identities(
			&api.Identity{Name: "x", Audience: []string{"x"}, File: true, TTL: time.Hour},
			&api.Identity{Name: "y", Audience: []string{"x"}, File: true, Filepath: "local/deep/y", TTL: time.Hour})))
		b.start(a)
		b.driver.Wait(1)
		outside := filepath.Join(b.TempDir(), "outside")
		if err := os.WriteFile(outside, []byte("kept"), 0o600); err != nil {
			b.Fatal(err)
		}
		dirs := b.host.Dirs.Task(a.ID, "web")
		for path, make := range map[string]func(path string) error{
			filepath.Join(dirs.Secrets, "nomad_x.jwt"):      func(p string) error { return os.Symlink(outside, p) },
			filepath.Join(dirs.Secrets, ".nomad_x.jwt.new"): func(p string) error { return os.Symlink(outside, p) },
			filepath.Join(dirs.Local, "deep"):               func(p string) error { return os.Symlink(filepath.Dir(outside), p) },
		} {
			os.RemoveAll(path)
			if err := make(path); err != nil {
				b.Fatal(err)
			}
		}
		time.Sleep(40 * time.Minute)
		synctest.Wait()
		if text, err := os.ReadFile(outside); err != nil || string(text) != "kept" {
			b.Errorf("the file outside is %q, %v", text, err)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(outside), "y")); err == nil {
			b.Error("a file was written outside")
		}
		if text := b.secret(a, "web", "nomad_x.jwt"); !strings.HasPrefix(text, "web-x-") {
			b.Errorf("the file of the identity is %q", text)
		}

		// The directory itself, for the next renewal.
		if err := os.Rename(dirs.Local, dirs.Local+".old"); err != nil {
			b.Fatal(err)
		}
		if err := os.Symlink(filepath.Dir(outside), dirs.Local); err != nil {
			b.Fatal(err)
		}
		time.Sleep(40 * time.Minute)
		synctest.Wait()
		if _, err := os.Stat(filepath.Join(filepath.Dir(outside), "deep")); err == nil {
			b.Error("a file was written outside through the directory itself")
		}
	})
}
