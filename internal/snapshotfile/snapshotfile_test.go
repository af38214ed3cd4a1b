// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package snapshotfile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// sample returns a file whose state has some jobs.
func sample(t *testing.T) ([]byte, *api.Snapshot) {
	t.Helper()
	store := state.New()
	store.Apply(1, []state.Command{&state.BeginCluster{ID: "cluster-a"}, &state.BeginTimeline{ID: "timeline-a"}})
	for i := range 20 {
		job := &api.Job{ID: fmt.Sprint("job-", i), Namespace: "default", Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "exec"}}}}}
		if errs := store.Apply(uint64(i)+2, []state.Command{&state.RegisterJob{Job: job}}); errs[0] != nil {
			t.Fatal(errs[0])
		}
	}
	var b bytes.Buffer
	meta, err := Write(&b, store.Snapshot(), Source{Version: "1.2.3", Server: "one", Time: time.Unix(1e9, 0), Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), meta
}

func TestAFileIsReadAsItWasWritten(t *testing.T) {
	file, wrote := sample(t)
	if wrote.Jobs != 20 || wrote.Index != 21 || wrote.ClusterID != "cluster-a" || wrote.Timeline != "timeline-a" {
		t.Errorf("it describes itself as %+v", wrote)
	}
	checked, err := Check(bytes.NewReader(file))
	if err != nil || *checked != *wrote {
		t.Errorf("checked: %+v, %v; want %+v", checked, err, wrote)
	}
	loaded, store, err := Load(bytes.NewReader(file))
	if err != nil || *loaded != *wrote {
		t.Fatalf("loaded: %+v, %v; want %+v", loaded, err, wrote)
	}
	if store.Index() != 21 || store.Snapshot().Job("default", "job-7") == nil {
		t.Errorf("the state is at index %d, and has job-7: %t", store.Index(), store.Snapshot().Job("default", "job-7") != nil)
	}
}

// TestEveryDamageIsNoticed flips each bit and cuts at each byte of a file.
func TestEveryDamageIsNoticed(t *testing.T) {
	file, _ := sample(t)
	content, err := unzip(file)
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for at := range file {
		damaged := bytes.Clone(file)
		damaged[at] ^= 1 << (at % 8)
		if again, err := unzip(damaged); err == nil && bytes.Equal(again, content) {
			same++ // a bit without meaning, such as the time in gzip's header or padding
			continue
		}
		for _, read := range readers {
			if err := read(damaged); api.CodeOf(err) != api.CodeInvalid {
				t.Fatalf("with a flipped bit in byte %d of %d: %v", at, len(file), err)
			}
		}
	}
	if same > len(file)/50 {
		t.Errorf("%d of %d flipped bits mean nothing", same, len(file))
	}
	for size := range file {
		for _, read := range readers {
			if err := read(file[:size]); api.CodeOf(err) != api.CodeInvalid {
				t.Fatalf("cut after %d of %d bytes: %v", size, len(file), err)
			}
		}
	}
}

func unzip(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

var readers = []func([]byte) error{
	func(b []byte) error { _, err := Check(bytes.NewReader(b)); return err },
	func(b []byte) error { _, _, err := Load(bytes.NewReader(b)); return err },
	func(b []byte) error {
		return State(bytes.NewReader(b), func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err })
	},
}

// archive packs files as a snapshot is packed.
func archive(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	var entries []entry
	for i := 0; i < len(files); i += 2 {
		entries = append(entries, entry{files[i], int64(len(files[i+1])), strings.NewReader(files[i+1])})
	}
	if err := pack(&b, time.Unix(1e9, 0), entries); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// contents returns the files in a snapshot, with their names.
func contents(t *testing.T, file []byte) (files []string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if err == io.EOF {
			return files
		}
		text, readErr := io.ReadAll(archive)
		if err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		files = append(files, h.Name, string(text))
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	file, _ := sample(t)
	parts := contents(t, file)
	meta, content, sums := parts[1], parts[3], parts[5]
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprint(z, "some text")
	z.Close()
	for _, test := range []struct {
		name, want string
		file       []byte
	}{
		{"nothing", "cut short", nil},
		{"text", "not compressed", []byte("some text, longer than a header")},
		{"compressed text", "cut short", zipped.Bytes()},
		{"no entries", "it is empty", archive(t)},
		{"another archive", `contains "../../etc/passwd" instead of meta.json`, archive(t, "../../etc/passwd", "x")},
		{"of another program", "its meta.json is not one of Reeve", archive(t, "meta.json", `{"Version": 1, "ID": "2-9-1"}`, "state.bin", "x", "SHA256SUMS", "")},
		{"no JSON", "its meta.json is not one of Reeve", archive(t, "meta.json", "x")},
		{"newer", "the snapshot has format 9, written by Reeve 1.2.3", archive(t, "meta.json", strings.Replace(meta, `"Format": 1`, `"Format": 9`, 1), "state.bin", "from the future")},
		{"large meta.json", "its meta.json is too large", archive(t, "meta.json", strings.Repeat(" ", maxSmall+1))},
		{"no state", "cut short", archive(t, "meta.json", meta)},
		{"no checksums", "cut short", archive(t, "meta.json", meta, "state.bin", content)},
		{"other checksums", "state.bin does not have the checksum", archive(t, "meta.json", meta, "state.bin", content+"x", "SHA256SUMS", sums)},
		{"changed description", "meta.json does not have the checksum", archive(t, "meta.json", meta+" ", "state.bin", content, "SHA256SUMS", sums)},
		{"one more file", "it continues after SHA256SUMS", archive(t, "meta.json", meta, "state.bin", content, "SHA256SUMS", sums, "more", "x")},
		{"text behind", "damaged", append(bytes.Clone(file), "text behind the end"...)},
	} {
		_, _, err := Load(bytes.NewReader(test.file))
		if api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", test.name, err, test.want)
		}
	}
}

func sumsOf(meta, content string) string {
	return fmt.Sprintf("%x  %s\n%x  %s\n", sha256.Sum256([]byte(meta)), metaFile, sha256.Sum256([]byte(content)), stateFile)
}

// TestADescriptionOfAnotherStateIsRefused has right checksums.
func TestADescriptionOfAnotherStateIsRefused(t *testing.T) {
	_, meta := sample(t)
	store := state.New()
	store.Apply(1, []state.Command{&state.BeginCluster{ID: "cluster-b"}})
	var b bytes.Buffer
	if _, err := Write(&b, store.Snapshot(), Source{Scratch: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	parts := contents(t, b.Bytes())
	parts[1] = strings.Replace(parts[1], `"Jobs": 0`, fmt.Sprintf(`"Jobs": %d`, meta.Jobs), 1)
	parts[5] = sumsOf(parts[1], parts[3])
	_, _, err := Load(bytes.NewReader(archive(t, parts...)))
	if err == nil || !strings.Contains(err.Error(), "contradicts itself") {
		t.Error(err)
	}
}
