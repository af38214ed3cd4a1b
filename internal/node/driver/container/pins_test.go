// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// pins are servers with one image that keep its first digest.
type pins struct{ digest string }

func (p *pins) pin(ctx context.Context, _ string, resolve func(context.Context) (string, error)) (string, error) {
	if p.digest != "" {
		return p.digest, nil
	}
	digest, err := resolve(ctx)
	p.digest = digest
	return digest, err
}

// version pushes an image that says its version under the tag.
func (b *bed) version(t *testing.T, tag, version string) {
	t.Helper()
	b.image = b.push(t, tag, func(c *v1.Config) { c.Env = append(c.Env, "VERSION="+version) })
}

// away takes the registry away.
func (b *bed) away() {
	b.registry.Before(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusForbidden) })
}

// TestEveryRunHasThePinnedImage moves a tag between runs, also one with the tag latest and with force_pull,
// and takes the registry away.
func TestEveryRunHasThePinnedImage(t *testing.T) {
	for _, tag := range []string{"pinned:1", "pinned:latest"} {
		b, servers := newBed(t, nil), &pins{}
		run := func(id string, p *pins, more map[string]any) string {
			t.Helper()
			task := b.task(t, id, "env VERSION", more)
			task.PinImage = p.pin
			got, _ := b.run(t, task)
			return strings.TrimSpace(got)
		}
		b.version(t, tag, "one")
		first := run("a/web/1", servers, nil)
		b.version(t, tag, "two")
		second := run("a/web/2", servers, map[string]any{"force_pull": true})
		next := &pins{} // of another version of the job
		third := run("b/web/1", next, nil)
		b.away()
		fourth, fifth := run("a/web/3", servers, map[string]any{"force_pull": true}), run("b/web/2", next, nil)
		if got := strings.Join([]string{first, second, third, fourth, fifth}, " "); got != "VERSION=one VERSION=one VERSION=two VERSION=one VERSION=two" {
			t.Errorf("%s: the runs printed %s", tag, got)
		}
	}
}

func TestAPinThatTheRegistryLost(t *testing.T) {
	b := newBed(t, nil)
	start := func(digest string) error {
		task := b.task(t, "a/web/1", "exit 0")
		task.PinImage = (&pins{digest: digest}).pin
		_, err := b.Start(t.Context(), task)
		return err
	}
	err := start("sha256:" + strings.Repeat("0", 64))
	var again *driver.RecoverableError
	if err == nil || errors.As(err, &again) {
		t.Fatalf("a lost digest: %v", err)
	}
	for _, want := range []string{"registry.test/tool@sha256:000", "does not have any longer", "register it again"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in the error: %v", want, err)
		}
	}
	if err := start("sha256:nonsense"); err == nil || !strings.Contains(err.Error(), "its pin is not valid") {
		t.Errorf("a damaged pin: %v", err)
	}
}
