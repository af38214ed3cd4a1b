// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver"
)

func digestOf(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

// pins are servers with one image that keep its first digest.
type pins struct {
	digest string
	away   bool
}

var errNoServers = &driver.RecoverableError{Err: errors.New("no server answers")}

func (p *pins) pin(ctx context.Context, _ string, resolve func(context.Context) (string, error)) (string, error) {
	if p.away {
		return "", errNoServers
	}
	if p.digest != "" {
		return p.digest, nil
	}
	digest, err := resolve(ctx)
	if err == nil {
		p.digest = digest
	}
	return digest, err
}

// run starts the task, and returns which image the daemon made the container of.
func (f *fakeDaemon) run(t *testing.T, d *daemon, p *pins, more map[string]any) (image string, err error) {
	t.Helper()
	f.mu.Lock()
	f.handlers["POST /containers/create"] = func(w http.ResponseWriter, r *http.Request) {
		var what struct{ Image string }
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &what)
		image = what.Image
		http.Error(w, `{"message":"seen"}`, http.StatusBadRequest)
	}
	f.mu.Unlock()
	task := fakeTask(t)
	for k, v := range more {
		task.Config[k] = v
	}
	task.PinImage = p.pin
	config, err := parse(task)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.start(t.Context(), task, config)
	if image != "" {
		err = nil
	}
	return image, err
}

// TestDaemonTasksRunThePinnedImage starts a task in states of the daemon, the registry and the servers.
func TestDaemonTasksRunThePinnedImage(t *testing.T) {
	const repository = "docker.io/library/web@"
	local := func(digests ...string) func(*fakeDaemon) {
		return func(f *fakeDaemon) {
			f.answer("GET /images/web:1/json", 200, state{"Id": "sha256:1", "RepoDigests": digests})
		}
	}
	registry := func(digit string) func(*fakeDaemon) {
		return func(f *fakeDaemon) {
			f.answer("GET /distribution/docker.io/library/web:1/json", 200, state{"Descriptor": state{"Digest": digestOf(digit)}})
		}
	}
	pulls := func(digit string) func(*fakeDaemon) {
		return func(f *fakeDaemon) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.handlers["POST /images/create"] = func(w http.ResponseWriter, r *http.Request) {
				if r.FormValue("fromImage") != repository+digestOf(digit) {
					http.Error(w, `{"message":"manifest unknown"}`, http.StatusNotFound)
					return
				}
				f.answer("GET /images/"+repository+digestOf(digit)+"/json", 200, state{"Id": "sha256:2"})
				_, _ = io.WriteString(w, `{"status":"done"}`)
			}
		}
	}
	has := func(digit string) func(*fakeDaemon) {
		return func(f *fakeDaemon) {
			f.answer("GET /images/"+repository+digestOf(digit)+"/json", 200, state{"Id": "sha256:3"})
		}
	}
	for name, c := range map[string]struct {
		state   []func(*fakeDaemon)
		servers pins
		config  map[string]any
		want    string // the container's image, or a part of the error
		pin     string
	}{
		"the first instance asks the registry":    {[]func(*fakeDaemon){registry("a"), pulls("a")}, pins{}, nil, repository + digestOf("a"), "a"},
		"the daemon's image has a digest":         {[]func(*fakeDaemon){local("web@"+digestOf("b"), "other@"+digestOf("c")), has("b")}, pins{}, nil, repository + digestOf("b"), "b"},
		"force_pull asks in spite of it":          {[]func(*fakeDaemon){local("web@" + digestOf("b")), registry("a"), pulls("a")}, pins{}, map[string]any{"force_pull": true}, repository + digestOf("a"), "a"},
		"a later instance runs the pin":           {[]func(*fakeDaemon){local("web@" + digestOf("b")), registry("a"), pulls("c")}, pins{digest: digestOf("c")}, map[string]any{"force_pull": true}, repository + digestOf("c"), "c"},
		"a pin that the daemon has needs no pull": {[]func(*fakeDaemon){has("c")}, pins{digest: digestOf("c")}, nil, repository + digestOf("c"), "c"},
		"the daemon's own image":                  {[]func(*fakeDaemon){local()}, pins{}, nil, "web:1", ""},
		"the daemon's own image, no servers":      {[]func(*fakeDaemon){local()}, pins{away: true}, nil, "web:1", ""},
		"another node has pinned":                 {[]func(*fakeDaemon){local(), pulls("c")}, pins{digest: digestOf("c")}, nil, repository + digestOf("c"), "c"},
		"no servers":                              {[]func(*fakeDaemon){registry("a")}, pins{away: true}, nil, "no server answers", ""},
		"a lost digest":                           {[]func(*fakeDaemon){pulls("a")}, pins{digest: digestOf("c")}, nil, "does not have any longer", "c"},
		"a missing image":                         {nil, pins{}, nil, "find the digest of web:1: the Docker daemon: no such object", ""},
		"a registry whose answer is nonsense": {[]func(*fakeDaemon){func(f *fakeDaemon) {
			f.answer("GET /distribution/docker.io/library/web:1/json", 200, state{"Descriptor": state{"Digest": "../../x"}})
		}}, pins{}, nil, "is not a digest", "../../x"},
		"a name with a digest is its own pin":        {[]func(*fakeDaemon){func(f *fakeDaemon) { f.answer("GET /images/web@"+digestOf("d")+"/json", 200, state{"Id": "sha256:4"}) }}, pins{away: true}, map[string]any{"image": "web@" + digestOf("d")}, "web@" + digestOf("d"), ""},
		"credentials that nothing needs can be lost": {[]func(*fakeDaemon){has("c")}, pins{digest: digestOf("c")}, map[string]any{"auth": []any{map[string]any{"username": "u"}}}, repository + digestOf("c"), "c"},
	} {
		f, d := newFake(t)
		for _, set := range c.state {
			set(f)
		}
		servers := c.servers
		image, err := f.run(t, d, &servers, c.config)
		if image != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: the daemon ran %q, %v; want %q", name, image, err, c.want)
		}
		pin := c.pin
		if len(pin) == 1 {
			pin = digestOf(pin)
		}
		if servers.digest != pin {
			t.Errorf("%s: the pin is %q, want %q", name, servers.digest, pin)
		}
	}
}
