// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"slices"
	"strings"
	"testing"
)

func TestDirectoriesOfPlugins(t *testing.T) {
	var b Bridge
	if err := b.mergeCNI(&fileClient{CNIConfigDir: "/a", CNIPath: "/b:/c"}); err != nil || !slices.Equal(b.CNI.Dirs, []string{"/a"}) || !slices.Equal(b.CNI.Paths, []string{"/b", "/c"}) {
		t.Errorf("%+v, %v", b.CNI, err)
	}
	for _, k := range []fileClient{{CNIConfigDir: "a"}, {CNIPath: "/b:c"}, {CNIPath: "/b:"}} {
		if err := b.mergeCNI(&k); err == nil || !strings.Contains(err.Error(), "must be") {
			t.Errorf("%+v: %v", k, err)
		}
	}
}
