// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/image/layer"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// id returns the digest that consists of one digit.
func id(digit string) v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: strings.Repeat(digit, 64)}
}

// write fills a layer with one file that holds its digest.
func write(diffID v1.Hash, size int64) Fill {
	return func(_ context.Context, root *beneath.Dir) (layer.Size, error) {
		f, err := root.Create("f", 0o600)
		if err != nil {
			return layer.Size{}, err
		}
		_, err = f.WriteString(diffID.Hex)
		return layer.Size{Bytes: size, Entries: 1}, errors.Join(err, f.Close())
	}
}

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// pull records an image with layers of 10 bytes each.
func pull(s *Store, digest v1.Hash, name, owner string, layers ...v1.Hash) (*Image, error) {
	i := &Image{Digest: digest, Platform: "linux/amd64", Config: []byte("{}")}
	for _, l := range layers {
		release, err := s.Layer(context.Background(), l, write(l, 10))
		if err != nil {
			return nil, err
		}
		defer release()
		i.Layers = append(i.Layers, Layer{DiffID: l})
	}
	return s.Record(i, name, owner)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRecordsSurviveTheAgent(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for range 2 {
		_, err := pull(s, id("a"), "host/app:1", "alloc/task", id("1"), id("2"), id("1"))
		must(t, err)
	}
	_, err := pull(s, id("b"), "host/app:2", "other", id("2"))
	must(t, err)
	_, err = pull(s, id("c"), "host/app:1", "other", id("2")) // the tag moved
	must(t, err)
	for _, s := range []*Store{s, open(t, dir)} {
		i := s.Find("host/app:1", "linux/amd64")
		if i == nil || i.Digest != id("c") {
			t.Fatalf("the moved tag leads to %+v", i)
		}
		if s.Find("host/app:1", "linux/arm64") != nil || s.Find("host/app:3", "linux/amd64") != nil {
			t.Error("found an image of another platform or name")
		}
		all := s.Images()
		if len(all) != 3 || all[0].Digest != id("a") || all[0].Size() != 30 || !slices.Equal(all[0].Leases, []string{"alloc/task"}) || len(all[0].Names) != 0 {
			t.Errorf("images %+v", all)
		}
		if got, _ := os.ReadFile(filepath.Join(s.LayerPath(id("1")), "f")); string(got) != id("1").Hex {
			t.Errorf("the layer holds %q", got)
		}
	}
}

func TestOpenRemovesLeftoversAndKeepsTheRest(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	_, err := pull(s, id("a"), "app:1", "x", id("1"))
	must(t, err)
	_, err = pull(s, id("b"), "app:2", "y", id("2"))
	must(t, err)
	for name, text := range map[string]string{
		"tmp/7/fs/f": "", "layers/nonsense/f": "", "layers/" + id("3").Hex + "/fs/f": "", "layers/" + id("2").Hex + "/layer.json": "{",
		"images/half.tmp": "", "images/" + id("c").Hex + ".json": "{", "images/" + id("d").Hex + ".json": "{}",
	} {
		path := filepath.Join(dir, name)
		must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
	}
	s = open(t, dir)
	for name, want := range map[string]int{"tmp": 0, "layers": 1, "images": 4} {
		if entries, _ := os.ReadDir(filepath.Join(dir, name)); len(entries) != want {
			t.Errorf("%s holds %v", name, entries)
		}
	}
	if all := s.Images(); len(all) != 1 || all[0].Digest != id("a") {
		t.Errorf("images %+v", all)
	}
	if i, err := s.Lease(id("b"), "", "z"); i != nil || err != nil {
		t.Errorf("an image without its layer was leased: %+v, %v", i, err)
	}
	// The damaged records might name layer 1.
	must(t, s.Release("x"))
	verdicts, err := s.Collect(Policy{MaxBytes: 1}, Usage{}, nil)
	must(t, err)
	for _, v := range verdicts {
		if v.Removed {
			t.Errorf("removed %+v although a record is damaged", v)
		}
	}
	// Another pull heals records and completes images.
	for _, h := range []string{"b", "c", "d"} {
		_, err = pull(s, id(h), "app:2", "y", id("2"))
		must(t, err)
	}
	if i, _ := s.Lease(id("b"), "", "z"); i == nil || !slices.Equal(i.Leases, []string{"y", "z"}) {
		t.Errorf("the image after another pull: %+v", i)
	}
	verdicts, err = s.Collect(Policy{MaxBytes: 1}, Usage{}, nil)
	must(t, err)
	if !slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Removed }) {
		t.Errorf("verdicts %+v", verdicts)
	}
}

func TestDigestsAreNoPaths(t *testing.T) {
	s := open(t, t.TempDir())
	for _, h := range []v1.Hash{{}, {Algorithm: "sha256", Hex: "../../x"}, {Algorithm: "sha256", Hex: strings.Repeat("A", 64)}, {Algorithm: "md5", Hex: strings.Repeat("a", 64)}} {
		if _, err := s.Layer(t.Context(), h, nil); err == nil {
			t.Errorf("%v is accepted for a layer", h)
		}
		if _, err := s.Record(&Image{Digest: h}, "x", "y"); err == nil {
			t.Errorf("%v is accepted for an image", h)
		}
	}
	if _, err := s.Record(&Image{Digest: id("a"), Layers: []Layer{{DiffID: id("1")}}}, "x", "y"); err == nil {
		t.Error("an image without its layer was recorded")
	}
}

func TestCallersShareOneFill(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := open(t, t.TempDir())
		calls := 0
		end := make(chan error)
		slow := func(ctx context.Context, root *beneath.Dir) (layer.Size, error) {
			calls++
			select {
			case err := <-end:
				if err != nil {
					return layer.Size{}, err
				}
				return write(id("1"), 10)(ctx, root)
			case <-ctx.Done():
				return layer.Size{}, ctx.Err()
			}
		}
		first, leaveFirst := context.WithCancel(t.Context())
		results := make(chan error, 10)
		ask := func(ctx context.Context) {
			release, err := s.Layer(ctx, id("1"), slow)
			if err == nil {
				release()
			}
			results <- err
		}
		go ask(first)
		synctest.Wait()
		for range 3 {
			go ask(t.Context())
		}
		synctest.Wait()
		leaveFirst() // the fill continues for the others
		if err := <-results; !errors.Is(err, context.Canceled) || calls != 1 {
			t.Fatalf("the first caller: %v after %d calls", err, calls)
		}
		end <- errors.New("denied") // the first caller's credentials: another tries with its own
		synctest.Wait()
		if calls != 2 || len(results) != 0 {
			t.Fatalf("%d calls, %d results", calls, len(results))
		}
		end <- nil
		for range 3 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if calls != 2 {
			t.Errorf("%d calls", calls)
		}

		// When all have left, the fill ends and leaves no files.
		last, leave := context.WithCancel(t.Context())
		go func() {
			_, err := s.Layer(last, id("2"), slow)
			results <- err
		}()
		synctest.Wait()
		leave()
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		synctest.Wait()
		if entries, _ := os.ReadDir(filepath.Join(s.dir, "tmp")); len(entries) > 0 || calls != 3 {
			t.Errorf("tmp holds %v after %d calls", entries, calls)
		}
	})
}

func TestLayersOfARunningPullStay(t *testing.T) {
	s := open(t, t.TempDir())
	release, err := s.Layer(t.Context(), id("1"), write(id("1"), 10))
	must(t, err)
	verdicts, err := s.Collect(Policy{MaxBytes: 1}, Usage{}, nil)
	if err != nil || len(verdicts) != 1 || verdicts[0].Removed || verdicts[0].Reason != "a running pull needs it" {
		t.Errorf("%+v, %v", verdicts, err)
	}
	if _, err := os.Lstat(s.LayerPath(id("1"))); err != nil {
		t.Errorf("the layer is not in place: %v", err)
	}
	release()
	release() // has no effect: another pull may hold the layer
	verdicts, err = s.Collect(Policy{MaxBytes: 1}, Usage{}, nil)
	if err != nil || len(verdicts) != 1 || !verdicts[0].Removed || verdicts[0].Frees != 10 {
		t.Errorf("%+v, %v", verdicts, err)
	}
	if _, err := os.Lstat(s.LayerPath(id("1"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the layer is still in place: %v", err)
	}
}

func TestTheOldestImagesAreRemovedUntilTheDiskHasRoom(t *testing.T) {
	s := open(t, t.TempDir())
	start := time.Unix(1_700_000_000, 0)
	for n, h := range []string{"a", "b", "c", "d", "e"} {
		s.now = func() time.Time { return start.Add(time.Duration(n) * time.Hour) }
		// a and b share layer 0.
		own := id(h)
		layers := []v1.Hash{own}
		if n < 2 {
			layers = append(layers, id("0"))
		}
		_, err := pull(s, own, h, h, layers...)
		must(t, err)
		if h != "c" {
			must(t, s.Release(h))
		}
	}
	s.now = func() time.Time { return start.Add(5 * time.Hour) }
	// 15 bytes have to go: image a frees 10, because b still needs the shared layer.
	verdicts, err := s.Collect(Policy{High: 0.8, Low: 0.7, Keep: 90 * time.Minute}, Usage{Used: 85, Total: 100}, nil)
	must(t, err)
	want := map[string]string{
		"a": "removed, 10: not used for 5h0m0s, and the disk is too full", "b": "removed, 20: not used for 4h0m0s, and the disk is too full",
		"c": "in use by c", "d": "the removal of others freed enough", "e": "used 1h0m0s ago, and kept for 1h30m0s",
	}
	for _, v := range verdicts {
		got := v.Reason
		if v.Removed {
			got = "removed, " + string('0'+byte(v.Frees/10)) + "0: " + got
		}
		if h := v.Image.Digest.Hex[:1]; got != want[h] {
			t.Errorf("%s: %s, want %s", h, got, want[h])
		}
	}
	if all := s.Images(); len(all) != 3 || len(verdicts) != 5 {
		t.Errorf("%d images, %d verdicts", len(all), len(verdicts))
	}
	verdicts, err = s.Collect(Policy{High: 0.8, Low: 0.7}, Usage{Used: 80, Total: 100}, nil)
	must(t, err)
	for _, v := range verdicts {
		if v.Removed {
			t.Errorf("removed below the threshold: %+v", v)
		}
	}
}

// TestALeaseMovesANameInOneWrite leases an image under a name that led to another one, as a tag that moved back does.
func TestALeaseMovesANameInOneWrite(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	_, err := pull(s, id("a"), "app:1", "x", id("1"))
	must(t, err)
	_, err = pull(s, id("b"), "app:1", "y", id("2"))
	must(t, err)
	writes := 0
	s.step = func(name string) {
		if name == "recorded" {
			writes++
		}
	}
	i, err := s.Lease(id("a"), "app:1", "z")
	must(t, err)
	if writes != 1 || i == nil || !slices.Equal(i.Leases, []string{"x", "z"}) || !slices.Equal(i.Names, []string{"app:1"}) {
		t.Errorf("after %d writes the image is %+v", writes, i)
	}
	for _, s := range []*Store{s, open(t, dir)} {
		if found := s.Find("app:1", "linux/amd64"); found == nil || found.Digest != id("a") {
			t.Errorf("the name leads to %+v", found)
		}
		if other := s.Image(id("b")); other == nil || len(other.Names) != 0 {
			t.Errorf("the other image is %+v", other)
		}
	}
	if i, err := s.Lease(id("b"), "", "z"); err != nil || i == nil || len(i.Names) != 0 {
		t.Errorf("a lease without a name names the image: %+v, %v", i, err)
	}
}
