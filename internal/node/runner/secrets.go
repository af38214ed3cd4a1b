// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/secrets"
	"github.com/reeve-run/reeve/internal/node/taskenv"
)

// Secrets reads the values of secret blocks.
type Secrets interface {
	// Variable returns the items of a variable that the bearer of the token may read.
	Variable(ctx context.Context, token, namespace, path string) (map[string]string, error)
	// Plugin returns what a program of the node answers.
	Plugin(ctx context.Context, r secrets.Request) (map[string]string, error)
}

// obtainSecrets reads the values of the task's secrets. They stay in memory: neither the ledger nor an
// event contains one. A variable that is missing, and servers that are away, make the task wait.
func (t *task) obtainSecrets(ctx context.Context, a *api.Allocation, g *api.Group, s *api.Task) (taskenv.Secrets, error) {
	if len(s.Secrets) == 0 {
		return nil, nil
	}
	if t.r.host.Secrets == nil || t.r.host.Identity == nil {
		return nil, errors.New("this node cannot read secrets")
	}
	env := t.r.host.env(a, g, s, t.r.host.Dirs.Task(a.ID, s.Name))
	values := taskenv.Secrets{}
	for _, block := range s.Secrets {
		keys := keysOf(s, block.Name)
		path := env.Replace(block.Path)
		var items map[string]string
		var err error
		if block.IsVariable() {
			items, err = t.awaitVariable(ctx, a, s, block, path, keys)
		} else {
			items, err = t.runSecretPlugin(ctx, a, env, block, path, keys)
		}
		if err != nil {
			return nil, fmt.Errorf("secret %q: %w", block.Name, err)
		}
		values[block.Name] = items
	}
	return values, nil
}

// keysOf returns the keys of a secret that the task needs.
func keysOf(s *api.Task, secret string) (keys []string) {
	for _, use := range s.SecretUses() {
		if use.Name == secret {
			keys = append(keys, use.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

func lacking(items map[string]string, keys []string) (missing []string) {
	for _, key := range keys {
		if _, ok := items[key]; !ok {
			missing = append(missing, key)
		}
	}
	return missing
}

// secretRetryMost is the longest pause before a task asks again for a variable that it waits for. People look at
// the screen meanwhile.
const secretRetryMost = 4 * time.Second

// awaitVariable reads a variable with the task's identity, and waits until it has all items that the
// task needs. The task's events say what it waits for, once per reason.
func (t *task) awaitVariable(ctx context.Context, a *api.Allocation, s *api.Task, block *api.Secret, path string, keys []string) (map[string]string, error) {
	namespace := block.Namespace()
	if namespace == "" {
		namespace = a.Namespace
	}
	said := ""
	for pause := identityRetry; ; pause = min(2*pause, secretRetryMost) {
		token, err := t.signedIdentity(ctx, a, s, &api.Identity{})
		if err != nil {
			return nil, err
		}
		items, err := t.r.host.Secrets.Variable(ctx, token.Token, namespace, path)
		missing := lacking(items, keys)
		if err == nil && len(missing) == 0 {
			t.sayWaiting("")
			return items, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		why := waitReason(err, namespace, path, a.JobID, keys, missing)
		if why != said {
			said = why
			t.sayWaiting(fmt.Sprintf("its secret %q: %s", block.Name, why))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// sayWaiting shows what the task waits for before it starts; "" if it does not wait any longer.
func (t *task) sayWaiting(what string) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	what = api.Printable(what, 1000)
	if what == t.state.Waiting {
		return
	}
	t.change(func(s *api.TaskState) { s.Waiting = what })
	if what != "" {
		t.addEvent(message("Waits for %s", what))
	}
	t.r.host.Changed(t.r, true)
}

// waits describes what the task waits for before it starts; "" if for nothing. The mutex is held.
func (t *task) waits() string {
	if t.state.Waiting != "" {
		return t.state.Waiting
	}
	for _, s := range t.state.Templates {
		if s.Waiting != "" {
			return fmt.Sprintf("%s in template %q", s.Waiting, s.Destination)
		}
	}
	return ""
}

func waitReason(err error, namespace, path, job string, keys, missing []string) string {
	switch {
	case err == nil:
		return missingItems(namespace, path, missing)
	case api.CodeOf(err) == api.CodeNotFound:
		return missingVariable(namespace, path, keys)
	case api.CodeOf(err) == api.CodeForbidden:
		return forbiddenVariable(namespace, path, job)
	}
	return fmt.Sprintf("the variable %q of the namespace %q was not read: %v", path, namespace, err)
}

// runSecretPlugin asks a program of the node. If it fails, the restart policy decides.
func (t *task) runSecretPlugin(ctx context.Context, a *api.Allocation, env *taskenv.Env, block *api.Secret, path string, keys []string) (map[string]string, error) {
	r := secrets.Request{Plugin: block.Provider, Path: path, Namespace: a.Namespace, JobID: a.JobID, Env: map[string]string{}}
	for k, v := range block.Env {
		r.Env[k] = env.Replace(v)
	}
	items, err := t.r.host.Secrets.Plugin(ctx, r)
	if err != nil {
		return nil, err
	}
	if missing := lacking(items, keys); len(missing) > 0 {
		return nil, &driver.RecoverableError{Err: fmt.Errorf("the plugin %q returned no value %v for the path %q", block.Provider, missing, path)}
	}
	return items, nil
}

// secretFailure makes the event of secrets that could not be read.
func secretFailure(err error) *api.TaskEvent {
	e := setupFailure(err)
	var again *driver.RecoverableError
	e.FailsTask = !errors.As(err, &again)
	return e
}
