// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package layer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// system returns an archive like a system's root: many small files and few large ones.
func system(b *testing.B) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 4096)
	for i := range words {
		words[i] = fmt.Sprintf("%x ", r.Uint32()>>(r.UintN(24)))
	}
	var entries []entry
	for d := range 100 {
		entries = append(entries, dir(fmt.Sprintf("usr/share/package-%d", d)))
		for f := range 30 {
			size := 1 << (8 + r.UintN(8))
			if f == 0 {
				size = 1 << 20
			}
			var text bytes.Buffer
			for text.Len() < size {
				text.WriteString(words[r.IntN(len(words))])
			}
			entries = append(entries, file(fmt.Sprintf("usr/share/package-%d/file-%d", d, f), text.String()))
		}
	}
	return archive(b, entries...)
}

// BenchmarkUnpack compares Unpack, which also verifies two digests, with tar -x.
func BenchmarkUnpack(b *testing.B) {
	plain := system(b)
	for _, c := range []struct {
		name string
		blob []byte
		flag string
	}{{"plain", plain, "-x"}, {"gzip", gzipped(b, plain), "-xz"}, {"zstd", zstandard(b, plain), ""}} {
		blobDigest, diffID := digest(b, c.blob), digest(b, plain)
		b.Run(c.name+"/reeve", func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			for b.Loop() {
				p := newPlace(b)
				if err := p.unpack(b, c.blob, blobDigest, diffID, DefaultLimits); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				os.RemoveAll(p.above)
				b.StartTimer()
			}
		})
		if c.flag == "" {
			continue // tar needs a program that many machines lack
		}
		path := filepath.Join(b.TempDir(), "layer.tar")
		if err := os.WriteFile(path, c.blob, 0o600); err != nil {
			b.Fatal(err)
		}
		b.Run(c.name+"/tar", func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			for b.Loop() {
				p := newPlace(b)
				if out, err := exec.Command("tar", c.flag, "-f", path, "-C", p.root).CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				b.StopTimer()
				os.RemoveAll(p.above)
				b.StartTimer()
			}
		})
	}
}
