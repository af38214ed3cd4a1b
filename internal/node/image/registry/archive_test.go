// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// A member is an entry of an archive.
type member struct {
	tar.Header
	body string
}

func file(name, body string) member {
	return member{tar.Header{Name: name, Mode: 0o644, Typeflag: tar.TypeReg}, body}
}

func link(name, to string) member {
	return member{tar.Header{Name: name, Linkname: to, Typeflag: tar.TypeSymlink}, ""}
}

func pack(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		m.Size = int64(len(m.body))
		if err := w.WriteHeader(&m.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read reads the image of an archive and all its blobs.
func read(t *testing.T, archive []byte, image string) (*Image, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.tar")
	if err := os.WriteFile(path, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ref, err := ParseReference(image)
	if err != nil {
		t.Fatal(err)
	}
	a, err := OpenArchive(t.Context(), f, ref)
	if err != nil {
		return nil, err
	}
	platform := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	m, err := Select(t.Context(), a, "", platform)
	if err != nil {
		return nil, err
	}
	i, err := Describe(t.Context(), a, m, platform)
	if err != nil {
		return nil, err
	}
	for _, l := range i.Layers {
		blob, err := a.Blob(t.Context(), l)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(blob)
		if err != nil || hashOf(text) != l.Digest {
			return nil, fmt.Errorf("the layer %s has the digest %s, %v", l.Digest, hashOf(text), err)
		}
	}
	return i, nil
}

func randomImage(t *testing.T, seed int64) v1.Image {
	t.Helper()
	i, err := random.Image(1000, 3, random.WithSource(rand.NewSource(seed)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := i.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c = c.DeepCopy()
	c.OS, c.Architecture = "linux", runtime.GOARCH
	if i, err = mutate.ConfigFile(i, c); err != nil {
		t.Fatal(err)
	}
	return i
}

// saved writes images as docker save did: their layers are compressed.
func saved(t *testing.T, images map[string]v1.Image) []byte {
	t.Helper()
	tags := map[name.Tag]v1.Image{}
	for n, i := range images {
		tag, err := name.NewTag(n)
		if err != nil {
			t.Fatal(err)
		}
		tags[tag] = i
	}
	var b bytes.Buffer
	if err := tarball.MultiWrite(tags, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// layoutOf writes images as a layout in one file.
func layoutOf(t *testing.T, images map[string]v1.Image, annotation string) []byte {
	t.Helper()
	dir := t.TempDir()
	p, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	for n, i := range images {
		annotations := map[string]string{}
		if n != "" {
			annotations[annotation] = n
		}
		if err := p.AppendImage(i, layout.WithAnnotations(annotations)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestArchivesOfAllWriters(t *testing.T) {
	one, two := randomImage(t, 1), randomImage(t, 2)
	both := map[string]v1.Image{"app:1": one, "registry.test/team/app:2": two}
	short := map[string]v1.Image{"1": one, "2": two}
	digest, err := two.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		archive []byte
		image   string
		want    v1.Image
	}{
		"docker save, a short name":    {saved(t, both), "app:1", one},
		"docker save, a full name":     {saved(t, both), "docker.io/library/app:1", one},
		"docker save, of a registry":   {saved(t, both), "registry.test/team/app:2", two},
		"a layout with full names":     {layoutOf(t, both, fullName), "registry.test/team/app:2", two},
		"a layout with tags":           {layoutOf(t, short, shortName), "anything:1", one},
		"a layout without a name":      {layoutOf(t, map[string]v1.Image{"": two}, shortName), "app:1", two},
		"a layout, named by a digest":  {layoutOf(t, both, fullName), "app@" + digest.String(), two},
		"docker save without a name":   {unnamed(t), "app:1", nil},
		"docker save with links":       {linked(t), "app:1", nil},
		"a directory before the files": {pack(t, append([]member{{tar.Header{Name: "./", Typeflag: tar.TypeDir}, ""}}, plain("app:1")...)...), "app:1", nil},
	} {
		got, err := read(t, c.archive, c.image)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.want == nil {
			continue
		}
		config, err := c.want.RawConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Config, config) || len(got.Layers) != 3 {
			t.Errorf("%s: another image, with %d layers", name, len(got.Layers))
		}
	}
}

// unnamed is an archive of docker save by id.
func unnamed(t *testing.T) []byte {
	return bytes.ReplaceAll(pack(t, plain("other:1")...), []byte(`"RepoTags":["other:1"]`), []byte(`"RepoTags":[]         `))
}

// plain are the files of an image with two equal layers without compression.
func plain(tag string) []member {
	body := strings.Repeat("\x00", 1024) // an empty archive
	id := hashOf([]byte(body)).String()
	config := fmt.Sprintf(`{"os":"linux","architecture":%q,"rootfs":{"type":"layers","diff_ids":[%q,%q]}}`, runtime.GOARCH, id, id)
	table, _ := json.Marshal([]map[string]any{{"Config": "c.json", "RepoTags": []string{tag}, "Layers": []string{"a/layer.tar", "b/layer.tar"}}})
	return []member{file("c.json", config), file("a/layer.tar", body), link("b/layer.tar", "../a/layer.tar"), file("manifest.json", string(table))}
}

func linked(t *testing.T) []byte { return pack(t, plain("app:1")...) }

// TestHostileArchives has archives that no tool writes. None may be accepted, or read what is not in it.
func TestHostileArchives(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(m ...member) []byte { return pack(t, append(plain("app:1"), m...)...) }
	table := func(config string, layers ...string) member {
		text, _ := json.Marshal([]map[string]any{{"Config": config, "RepoTags": []string{"app:1"}, "Layers": layers}})
		return file("manifest.json", string(text))
	}
	good := with()
	many := make([]member, maxEntries+1)
	for n := range many {
		many[n] = file(fmt.Sprint(n), "")
	}
	sparse := file("a/layer.tar", strings.Repeat("\x00", 1024))
	sparse.PAXRecords, sparse.Format = map[string]string{"REEVE.x": strings.Repeat("x", 100_000)}, tar.FormatPAX
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"empty":                    {nil, "neither index.json nor manifest.json"},
		"no archive":               {bytes.Repeat([]byte("hello "), 1000), "damaged, or is no tar archive"},
		"compressed":               {append([]byte{0x1f, 0x8b}, good...), "uncompress it first"},
		"cut off":                  {good[:1000], "neither index.json nor"},
		"too many files":           {pack(t, many...), "more than 20000 entries"},
		"another name":             {pack(t, plain("other:1")...), "has no image docker.io/library/app:1; it has: other:1"},
		"a table that is a link":   {pack(t, link("manifest.json", secret)), "neither"},
		"a config of the host":     {with(table(secret, "a/layer.tar", "a/layer.tar")), "has no file"},
		"a link to the host":       {with(link("c.json", secret)), "has no file"},
		"a link out":               {with(link("c.json", "../../../../../../etc/passwd")), "has no file"},
		"a loop of links":          {with(link("a/layer.tar", "../b/layer.tar")), "has no file"},
		"fewer layers":             {with(table("c.json", "a/layer.tar")), "1 layers and the image's configuration 2"},
		"too many layers":          {with(table("c.json", make([]string, maxLayers+1)...)), "squash it"},
		"a layer that is a device": {with(member{tar.Header{Name: "a/layer.tar", Typeflag: tar.TypeBlock}, ""}, member{tar.Header{Name: "a/layer.tar", Typeflag: tar.TypeSymlink, Linkname: "/dev/sda"}, ""}), "has no file"},
		"a changed layer":          {with(file("a/layer.tar", strings.Repeat("\x00", 512)+strings.Repeat("x", 512))), "has the digest"},
		"a huge table":             {with(file("manifest.json", strings.Repeat(" ", maxManifest+1))), "has more than"},
		"a table without JSON":     {with(file("manifest.json", "[{]")), "not valid"},
		"an index without JSON":    {with(file("index.json", "{")), "not valid"},
		"an index with a lost one": {with(file("index.json", `{"schemaVersion":2,"manifests":[{"digest":"sha256:`+strings.Repeat("0", 64)+`","size":5}]}`)), "has no file"},
		"an index of itself":       {with(file("index.json", `{"schemaVersion":2,"manifests":[{"digest":"sha256:../../index.json","size":5}]}`)), "not valid"},
		"no image":                 {with(file("manifest.json", "[]")), "has no image"},
	} {
		got, err := read(t, c.archive, "app:1")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want %q", name, got, err, c.want)
		}
	}
	if _, err := read(t, pack(t, append(plain("app:1"), sparse)...), "app:1"); err != nil {
		t.Errorf("a long header: %v", err)
	}
}

func FuzzArchives(f *testing.F) {
	f.Add(pack(f, plain("app:1")...))
	f.Fuzz(func(t *testing.T, archive []byte) { _, _ = read(t, archive, "app:1") })
}
