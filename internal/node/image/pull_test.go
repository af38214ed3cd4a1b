// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"

	"github.com/reeve-run/reeve/internal/node/image/layer"
	"github.com/reeve-run/reeve/internal/node/image/registry"
	"github.com/reeve-run/reeve/internal/node/image/registrytest"
	"github.com/reeve-run/reeve/internal/node/image/store"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

var amd64 = &v1.Platform{OS: "linux", Architecture: "amd64"}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// oneFile returns a layer with one file, compressed as the type says.
func oneFile(t testing.TB, name, content string, mediaType types.MediaType) registrytest.Layer {
	t.Helper()
	var plain, blob bytes.Buffer
	w := tar.NewWriter(&plain)
	must(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content))}))
	_, err := w.Write([]byte(content))
	must(t, errors.Join(err, w.Close()))
	diffID, _, err := v1.SHA256(bytes.NewReader(plain.Bytes()))
	must(t, err)
	switch mediaType {
	case types.OCILayerZStd:
		z, err := zstd.NewWriter(&blob)
		must(t, err)
		_, err = z.Write(plain.Bytes())
		must(t, errors.Join(err, z.Close()))
	case types.OCILayer:
		z := gzip.NewWriter(&blob)
		_, err := z.Write(plain.Bytes())
		must(t, errors.Join(err, z.Close()))
	default:
		blob = plain
	}
	return registrytest.Layer{Blob: blob.Bytes(), Diff: diffID, Type: mediaType}
}

// A bench is a puller with a registry in memory.
type bench struct {
	*Puller
	dir      string
	registry *registrytest.Registry
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), registry: registrytest.New()}
	s, err := store.Open(b.dir, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(func() { s.Close() })
	b.Puller = &Puller{Store: s, Client: registry.NewClient(registry.Options{Transport: b.registry})}
	return b
}

func (b *bench) pull(ctx context.Context, name string) (*store.Image, error) {
	return b.Pull(ctx, Request{Image: name, Owner: "task", Platform: amd64})
}

// isEmpty fails the test if the store holds a layer or a part of one.
func (b *bench) isEmpty(t *testing.T, after string) {
	t.Helper()
	for _, dir := range []string{"tmp", "layers", "images"} {
		if entries, _ := os.ReadDir(filepath.Join(b.dir, dir)); len(entries) > 0 {
			t.Errorf("after %s, %s holds %v", after, dir, entries)
		}
	}
}

func TestPullUnpacksTheImageOfThePlatform(t *testing.T) {
	b := newBench(t)
	var layers []v1.Layer
	for n := range 120 {
		mediaType := []types.MediaType{types.OCILayer, types.OCILayerZStd, types.OCIUncompressedLayer}[n%3]
		layers = append(layers, oneFile(t, fmt.Sprintf("file-%d", n), fmt.Sprint(n), mediaType))
	}
	layers = append(layers, oneFile(t, ".wh.file-7", "", types.OCILayer), layers[3]) // a layer may repeat
	mine := registrytest.Image(t, "amd64", layers...)
	other := registrytest.Image(t, "arm64", oneFile(t, "other", "x", types.OCILayer))
	inner := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: mine, Descriptor: v1.Descriptor{Platform: amd64}})
	index := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: other, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm64", Variant: "v8"}}},
		mutate.IndexAddendum{Add: inner})
	name := b.registry.Push(t, "team/app:1", index)
	var reports []Progress
	i, err := b.Pull(t.Context(), Request{Image: name, Owner: "alloc/task", Platform: amd64, Progress: func(p Progress) { reports = append(reports, p) }})
	must(t, err)
	want, err := mine.Digest()
	must(t, err)
	if i.Digest != want || len(i.Layers) != 122 || !slices.Equal(i.Leases, []string{"alloc/task"}) || i.Platform != "linux/amd64" {
		t.Fatalf("image %+v, want digest %s", i, want)
	}
	if config, _ := v1.ParseConfigFile(bytes.NewReader(i.Config)); config.Config.Cmd[0] != "/bin/app" {
		t.Errorf("config %+v", config)
	}
	for n, l := range i.Layers[:120] {
		if got, err := os.ReadFile(filepath.Join(b.Store.LayerPath(l.DiffID), fmt.Sprintf("file-%d", n))); string(got) != fmt.Sprint(n) {
			t.Fatalf("layer %d holds %q (%v)", n, got, err)
		}
	}
	if info, err := os.Lstat(filepath.Join(b.Store.LayerPath(i.Layers[120].DiffID), "file-7")); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Errorf("the whiteout is %v (%v)", info, err)
	}
	last := reports[len(reports)-1]
	if last.Bytes != last.TotalBytes || last.Layers != 122 || last.TotalLayers != 122 || len(reports) > 60 {
		t.Errorf("%d reports, the last one %+v", len(reports), last)
	}

	pinned, err := b.Resolve(t.Context(), Request{Image: name})
	must(t, err)
	digest, err := index.Digest()
	must(t, err)
	if pinned.String() != registrytest.Host+"/team/app@"+digest.String() {
		t.Errorf("resolved %s", pinned)
	}
	_, err = b.pull(t.Context(), pinned.String())
	must(t, err)
	b.registry.Before(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusForbidden) })
	if i, err = b.pull(t.Context(), pinned.String()); err != nil || len(i.Leases) != 2 {
		t.Errorf("an image that is there, by digest and without the registry: %+v, %v", i, err)
	}
}

func TestConcurrentPullsFetchEachLayerOnce(t *testing.T) {
	b := newBench(t)
	shared := oneFile(t, "shared", strings.Repeat("s", 1<<20), types.OCIUncompressedLayer)
	var names []string
	var layers []registrytest.Layer
	for n := range 5 {
		l := oneFile(t, "own", fmt.Sprint(n), types.OCILayer)
		layers = append(layers, l)
		names = append(names, b.registry.Push(t, fmt.Sprintf("app:%d", n), registrytest.Image(t, "amd64", shared, l)))
	}
	var wg sync.WaitGroup
	for range 3 {
		for _, name := range names {
			wg.Go(func() {
				if _, err := b.pull(t.Context(), name); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	for n, l := range append(layers, shared) {
		digest, _ := l.Digest()
		if got := b.registry.Fetches(digest); got != 1 {
			t.Errorf("layer %d was fetched %d times", n, got)
		}
	}
	if len(b.Store.Images()) != 5 {
		t.Errorf("%d images", len(b.Store.Images()))
	}
}

func TestWrongContentIsNotStored(t *testing.T) {
	good := oneFile(t, "a", "1", types.OCILayer)
	wrong := good
	wrong.Diff.Hex = strings.Repeat("0", 64)
	plain := oneFile(t, "a", "1", types.OCIUncompressedLayer)
	digest, _ := plain.Digest()
	serve := func(path string, text []byte) func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			if strings.Contains(req.URL.Path, path) {
				w.Write(text)
				return
			}
			next.ServeHTTP(w, req)
		}
	}
	other := oneFile(t, "a", "2", types.OCIUncompressedLayer)
	for name, c := range map[string]struct {
		layer  registrytest.Layer
		before func(http.ResponseWriter, *http.Request, http.Handler)
		want   string
	}{
		"a blob with another digest":     {plain, serve("/blobs/"+digest.String(), other.Blob), "the digest of the layer's blob is"},
		"an archive with another digest": {wrong, nil, "the digest of the layer's unpacked archive is"},
		"a manifest that is no JSON":     {plain, serve("/manifests/", []byte("<html>")), "not JSON"},
		"an old manifest":                {plain, serve("/manifests/", []byte(`{"schemaVersion": 1}`)), "push it again"},
		"a manifest of another kind":     {plain, serve("/manifests/", []byte(`{"schemaVersion": 2, "mediaType": "x/y"}`)), "is not an image"},
		"a huge manifest":                {plain, serve("/manifests/", bytes.Repeat([]byte(" "), 5<<20)), "more than 4194304 bytes"},
		"an index of itself":             {plain, serve("/manifests/", []byte(`{"schemaVersion": 2, "manifests": [{"mediaType": "application/vnd.oci.image.index.v1+json", "digest": "`+digest.String()+`", "size": 1}]}`)), "changed it"},
		"another platform":               {plain, serve("/manifests/", []byte(`{"schemaVersion": 2, "manifests": [{"platform": {"os": "linux", "architecture": "s390x"}, "digest": "`+digest.String()+`", "size": 1}]}`)), "only for: linux/s390x"},
		"a huge configuration":           {plain, serve("/manifests/", []byte(`{"schemaVersion": 2, "config": {"digest": "`+digest.String()+`", "size": 99999999}}`)), "configuration has 99999999 bytes"},
		"a negative size":                {plain, serve("/manifests/", []byte(`{"schemaVersion": 2, "config": {"digest": "`+digest.String()+`", "size": -1}}`)), "configuration has -1 bytes"},
	} {
		b := newBench(t)
		ref := b.registry.Push(t, "app:1", registrytest.Image(t, "amd64", c.layer))
		b.registry.Before(c.before)
		_, err := b.pull(t.Context(), ref)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "app:1") {
			t.Errorf("%s: error = %v, want %q", name, err, c.want)
		}
		b.isEmpty(t, name)
	}
	b := newBench(t)
	b.Limits = layer.Limits{Bytes: 4096, Entries: 1, Path: 100, Names: 100}
	ref := b.registry.Push(t, "app:1", registrytest.Image(t, "amd64", good, oneFile(t, "b", "", types.OCILayer)))
	var limit *layer.LimitError
	if _, err := b.pull(t.Context(), ref); !errors.As(err, &limit) {
		t.Errorf("two layers with one file each: error = %v, want a limit of the image", err)
	}
}

// TestPullsSurviveABrokenConnection breaks each connection after a third of the layer.
func TestPullsSurviveABrokenConnection(t *testing.T) {
	for _, ranges := range []bool{true, false} {
		bubble.Test(t, func(t *testing.T) {
			b := newBench(t)
			l := oneFile(t, "a", strings.Repeat("x", 3<<20), types.OCIUncompressedLayer)
			digest, _ := l.Digest()
			ref := b.registry.Push(t, "app:1", registrytest.Image(t, "amd64", l))
			sent, calls := 0, 0
			b.registry.Before(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				if !strings.HasSuffix(req.URL.Path, digest.String()) {
					next.ServeHTTP(w, req)
					return
				}
				calls++
				start := 0
				if ranges {
					fmt.Sscanf(req.Header.Get("Range"), "bytes=%d-", &start)
				}
				if start > 0 {
					w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(l.Blob)-1, len(l.Blob)))
					w.WriteHeader(http.StatusPartialContent)
				}
				end := min(calls*len(l.Blob)/3+1, len(l.Blob))
				sent += end - start
				w.Write(l.Blob[start:end])
				if end < len(l.Blob) {
					panic(http.ErrAbortHandler)
				}
			})
			_, err := b.pull(t.Context(), ref)
			must(t, err)
			if calls != 3 || ranges && sent != len(l.Blob) {
				t.Errorf("ranges %v: %d calls, %d of %d bytes", ranges, calls, sent, len(l.Blob))
			}
		})
	}
}

func TestStalledRegistriesEndThePull(t *testing.T) {
	for _, where := range []string{"/manifests/", "/blobs/"} {
		bubble.Test(t, func(t *testing.T) {
			b := newBench(t)
			ref := b.registry.Push(t, "app:1", registrytest.Image(t, "amd64", oneFile(t, "a", strings.Repeat("x", 1<<20), types.OCIUncompressedLayer)))
			b.registry.Before(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				if strings.Contains(req.URL.Path, where) {
					w.Write([]byte("{"))
					<-req.Context().Done()
					return
				}
				next.ServeHTTP(w, req)
			})
			start := time.Now()
			_, err := b.pull(t.Context(), ref)
			if err == nil || !strings.Contains(err.Error(), "no byte for too long") || !strings.Contains(err.Error(), registrytest.Host) {
				t.Errorf("%s: error = %v", where, err)
			}
			if d := time.Since(start); d < 10*time.Minute || d > 11*time.Minute {
				t.Errorf("%s: it took %s, want five times 2 minutes and the pauses", where, d)
			}
			b.isEmpty(t, "a stalled pull")

			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := b.pull(ctx, ref); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: error = %v after the pull's own limit", where, err)
			}
		})
	}
}

func TestAnswersBecomeAdvice(t *testing.T) {
	for status, c := range map[int]struct {
		want     string
		attempts int
		least    time.Duration
	}{
		401: {"check that the image exists, and that the credentials for registry.test", 1, 0},
		403: {"(DENIED no) : check", 1, 0},
		404: {"check that registry.test has the repository app, and in it the tag 1", 1, 0},
		429: {"pull with the credentials", 5, 4 * 50 * time.Second},
		503: {"503 Service Unavailable (DENIED no) (5 attempts): check the state of registry.test", 5, 15 * time.Second},
	} {
		bubble.Test(t, func(t *testing.T) {
			b := newBench(t)
			calls := 0
			b.registry.Before(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				if strings.HasSuffix(req.URL.Path, "/v2/") {
					next.ServeHTTP(w, req)
					return
				}
				calls++
				if status == 429 {
					w.Header().Set("Retry-After", "50")
				}
				w.WriteHeader(status)
				w.Write([]byte(`{"errors": [{"code": "DENIED", "message": "no"}]}`))
			})
			start, told := time.Now(), 0
			ctx := registry.OnFailure(t.Context(), func(err error, wait time.Duration) {
				if told++; wait < time.Second || !strings.Contains(err.Error(), strconv.Itoa(status)) {
					t.Errorf("%d: told %v, and to wait %s", status, err, wait)
				}
			})
			_, err := b.pull(ctx, registrytest.Host+"/app:1")
			if told != c.attempts-1 {
				t.Errorf("%d: %d failures were told before the last", status, told)
			}
			var e *registry.Error
			want := strings.Replace(c.want, ") :", "):", 1)
			if !errors.As(err, &e) || e.Status != status || !strings.Contains(err.Error(), want) {
				t.Errorf("%d: error = %v, want %q", status, err, want)
			}
			if took := time.Since(start); calls != c.attempts || took < c.least || took > c.least+2*time.Minute {
				t.Errorf("%d: %d attempts in %s", status, calls, took)
			}
		})
	}
}

func TestLayoutsAreASource(t *testing.T) {
	dir := t.TempDir()
	path, err := layout.Write(dir, empty.Index)
	must(t, err)
	must(t, path.AppendImage(registrytest.Image(t, "amd64", oneFile(t, "a", "1", types.OCILayer))))
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	b := newBench(t)
	i, err := b.Pull(t.Context(), Request{Image: "app", Owner: "task", Platform: amd64, Layout: root})
	must(t, err)
	if got, err := os.ReadFile(filepath.Join(b.Store.LayerPath(i.Layers[0].DiffID), "a")); string(got) != "1" {
		t.Errorf("the layer holds %q (%v)", got, err)
	}
	if _, err := b.Pull(t.Context(), Request{Image: "app", Owner: "task", Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}, Layout: root}); err == nil || !strings.Contains(err.Error(), "the node runs linux/arm64") {
		t.Errorf("another platform: error = %v", err)
	}
	// A task replaces the blob by a link to a file of the host.
	digest := "blobs/sha256/" + i.Digest.Hex
	must(t, errors.Join(os.Remove(filepath.Join(dir, digest)), os.Symlink("/etc/passwd", filepath.Join(dir, digest))))
	if _, err := newBench(t).Pull(t.Context(), Request{Image: "app", Owner: "task", Platform: amd64, Layout: root}); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("a link out of the layout: error = %v", err)
	}
}
