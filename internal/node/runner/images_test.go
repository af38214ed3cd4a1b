// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// fakePins are servers that keep the first digest.
type fakePins struct {
	mu     sync.Mutex
	digest string
	away   bool
	loose  bool // pins nothing
	asked  int
}

func (s *fakePins) pin(_ context.Context, r *api.ImagePinRequest) (*api.ImagePinResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.away {
		return nil, errors.New("no server answers")
	}
	if s.loose {
		return &api.ImagePinResponse{Digest: r.Digest}, nil
	}
	if s.digest == "" {
		s.digest = r.Digest
	}
	return &api.ImagePinResponse{Digest: s.digest, Pinned: s.digest != ""}, nil
}

func imageDigest(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

// pulling has the driver pin an image at each start, and returns the digests of the starts. The tag leads
// to what tag says.
func (b *bench) pulling(tag *string) func() []string {
	var mu sync.Mutex
	var digests []string
	b.driver.Starting = func(t *driver.Task) error {
		digest, err := t.PinImage(context.Background(), "web:1", func(context.Context) (string, error) {
			if *tag == "" {
				return "", &driver.RecoverableError{Err: errors.New("the registry is away")}
			}
			return imageDigest(*tag), nil
		})
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		digests = append(digests, digest[len("sha256:"):][:1])
		return nil
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return digests
	}
}

// TestAnAllocationKeepsItsImage moves the tag between the runs of a task, restarts the agent, and takes the
// servers and the registry away.
func TestAnAllocationKeepsItsImage(t *testing.T) {
	inBubble(t, func(b *bench) {
		servers, tag := &fakePins{}, "a"
		digests := b.pulling(&tag)
		b.host.Pin = servers.pin
		a := allocation("service", taskSpec("web", policy(9, "fail")))
		b.start(a)
		p := b.driver.Wait(1)
		asked := servers.asked
		tag, servers.away = "", true
		p.Exit(1)
		p = b.driver.Wait(2)
		b.close()

		b.open()
		b.host.Pin = servers.pin
		b.restore(a.Job)
		tag = "b"
		p.Exit(1)
		b.driver.Wait(3)
		synctest.Wait()
		b.want("digests", []string{"a", "a", "a"}, digests())
		b.want("requests", asked, servers.asked)
	})
}

func TestAnInstanceTakesThePinOfAnother(t *testing.T) {
	inBubble(t, func(b *bench) {
		servers, tag := &fakePins{digest: imageDigest("c")}, ""
		digests := b.pulling(&tag)
		b.host.Pin = servers.pin
		b.start(allocation("service", taskSpec("web")))
		b.driver.Wait(1)
		b.want("digests without a registry", []string{"c"}, digests())
	})
}

// TestServersWithoutPins starts a task while the servers are being upgraded: it resolves its tag each time.
func TestServersWithoutPins(t *testing.T) {
	inBubble(t, func(b *bench) {
		servers, tag := &fakePins{loose: true}, "a"
		digests := b.pulling(&tag)
		b.host.Pin = servers.pin
		b.start(allocation("service", taskSpec("web", policy(9, "fail"))))
		p := b.driver.Wait(1)
		tag = "b"
		p.Exit(1)
		b.driver.Wait(2)
		synctest.Wait()
		b.want("digests", []string{"a", "b"}, digests())
	})
}

// TestAPinIsAskedForAgain has servers that come back later, and ones that answer with nonsense.
func TestAPinIsAskedForAgain(t *testing.T) {
	inBubble(t, func(b *bench) {
		servers, tag := &fakePins{away: true}, "a"
		digests := b.pulling(&tag)
		b.host.Pin = servers.pin
		r := b.start(allocation("service", taskSpec("web", policy(9, "fail"))))
		synctest.Wait()
		if got := strings.Join(story(r, "web"), "\n"); !strings.Contains(got, `ask the servers which digest of image "web:1" this version of the job runs: no server answers`) {
			t.Errorf("events:\n%s", got)
		}
		servers.mu.Lock()
		servers.away = false
		servers.mu.Unlock()
		b.driver.Wait(1)
		b.want("digests", []string{"a"}, digests())
	})
	inBubble(t, func(b *bench) {
		servers, tag := &fakePins{digest: "sha256:../../etc"}, "a"
		b.pulling(&tag)
		b.host.Pin = servers.pin
		r := b.start(allocation("service", taskSpec("web", policy(0, "fail"))))
		synctest.Wait()
		if got := strings.Join(story(r, "web"), "\n"); !strings.Contains(got, "which is not a digest") {
			t.Errorf("events:\n%s", got)
		}
	})
}
