// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/metrics"
)

func TestLabelsAreBoundedValidAndDistinct(t *testing.T) {
	huge := strings.Repeat("é", 1<<20)
	seen := map[string]string{}
	for _, text := range []string{"", "web", "a\nb", `a"b\`, "\xff", "\xfe", "?", huge, huge + "x", huge[:3], strings.Repeat("a", 128), strings.Repeat("a", 129)} {
		got := metrics.Label(text)
		if len(got) > 128 || !utf8.ValidString(got) {
			t.Errorf("%.20q becomes %q, of %d bytes", text, got, len(got))
		}
		if other, taken := seen[got]; taken {
			t.Errorf("%.20q and %.20q both become %q", text, other, got)
		}
		seen[got] = text
	}
	for _, text := range []string{"web", "a\nb", `a"b\`, "日本"} {
		if got := metrics.Label(text); got != text {
			t.Errorf("%q becomes %q, want it unchanged", text, got)
		}
	}
}

func TestTagsBecomeLabels(t *testing.T) {
	names, values := metrics.Tags(map[string]*api.MetricTag{
		"app": {Static: "shop"}, "cell": {Dynamic: api.MetricTagIndex}, "a-b": {Static: "1"}, "a.b": {Static: "2"}, "a_b": {Static: "3"}, "none": nil,
	})
	if d := cmp.Diff([]string{"tag_a_b", "tag_app"}, names); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"1", "shop"}, values); d != "" {
		t.Errorf("values (-want +got):\n%s", d)
	}
	many := map[string]*api.MetricTag{}
	for i := range 1000 {
		many[fmt.Sprintf("tag%04d", i)] = &api.MetricTag{Static: "x"}
	}
	if names, _ := metrics.Tags(many); len(names) != 8 || names[7] != "tag_tag0007" {
		t.Errorf("1000 tags become %v, want the first 8", names)
	}
}

func FuzzTagNames(f *testing.F) {
	for _, name := range []string{"app", "__name__", "host", "a\nb", "\xff", "", "é", `"} 1`, strings.Repeat("é", 100)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		names, _ := metrics.Tags(map[string]*api.MetricTag{name: {Static: "x"}})
		if len(names) != 1 || !strings.HasPrefix(names[0], "tag_") || len(names[0]) > 68 || strings.Trim(names[0], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			t.Errorf("%q becomes %q", name, names)
		}
	})
}
