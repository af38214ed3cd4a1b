// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"os"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	for _, path := range []string{"testdata/web.hcl", "testdata/functions.hcl", "testdata/twins/web.json", "testdata/twins/web.yaml"} {
		b.Run(path, func(b *testing.B) {
			text, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(Source{Name: path, Text: text}, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
