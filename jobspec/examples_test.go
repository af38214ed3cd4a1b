// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestExamplesAreValid parses and validates every job file of the examples.
func TestExamplesAreValid(t *testing.T) {
	paths, err := filepath.Glob("../examples/*.*")
	if err != nil {
		t.Fatal(err)
	}
	isJob := regexp.MustCompile(`(?m)^job[ :]`)
	jobs := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !isJob.Match(text) {
			continue // of an agent, a volume, ...
		}
		jobs++
		job, err := ParseFile(path, Options{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		job.Canonicalize()
		if err := job.Validate(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if jobs < 40 {
		t.Errorf("%d job files were found among %d examples", jobs, len(paths))
	}
}
