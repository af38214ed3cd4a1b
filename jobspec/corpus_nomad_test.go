// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/api"
)

// Verdicts of the header of a job file in testdata/nomad.
const (
	acceptYes = "yes"     // a server registers the job
	acceptNo  = "refused" // rejected for something that Reeve does not intend to have, or for an error
)

const (
	corpusPage  = "../docs/compatibility.md"
	corpusBegin = "<!-- corpus: go test ./jobspec -run TheCorpusIsInThePage -rewrite -->\n"
	corpusEnd   = "<!-- end of corpus -->\n"
	minCorpus   = 150 // files, so that a broken pattern does not empty the test
)

// A corpusFile is a job file as users of Nomad write it, with the verdict of its header.
type corpusFile struct {
	path   string
	text   []byte
	accept string
	needs  []string // features that Reeve does not have
	errors []string // sentences of the error, in the order of the file
	warns  []string // sentences of warnings about an accepted job
	end    string   // of an accepted job on a node: running, complete, fails or waits
	reason string   // of an end that is fails or waits, as the user reads it
}

func (f *corpusFile) name() string { return filepath.Base(f.path) }

// nomadCorpus reads the corpus. A file in HCL has its header in its first comments, a file in JSON in
// the meta of its job.
func nomadCorpus(t testing.TB) []*corpusFile {
	t.Helper()
	var files []*corpusFile
	for _, path := range corpus(t, "testdata/nomad/*.*") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := &corpusFile{path: path, text: text}
		for key, value := range headerOf(t, f) {
			switch key {
			case "accept":
				f.accept = value[0]
			case "needs":
				f.needs = strings.Split(value[0], ", ")
			case "error":
				f.errors = value
			case "warns":
				f.warns = value
			case "ends":
				f.end, f.reason, _ = strings.Cut(value[0], ": ")
			}
		}
		files = append(files, f)
	}
	if len(files) < minCorpus {
		t.Fatalf("the corpus has %d files, want at least %d", len(files), minCorpus)
	}
	return files
}

var headerLine = regexp.MustCompile(`(?m)^# (accept|needs|error|warns|ends): (.+)$`)

func headerOf(t testing.TB, f *corpusFile) map[string][]string {
	t.Helper()
	header := map[string][]string{}
	if filepath.Ext(f.path) == ".json" {
		job, err := Parse(Source{Name: f.name(), Text: f.text}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"accept", "needs", "error"} {
			if value := job.Meta[key]; value != "" {
				header[key] = []string{value}
			}
		}
		return header
	}
	comments, _, _ := strings.Cut(string(f.text), "\n\n")
	if first, _, _ := strings.Cut(comments, "\n"); !strings.HasPrefix(first, "# ") || headerLine.MatchString(first) {
		t.Errorf("%s: the first line is %q, want a comment that describes the file", f.path, first)
	}
	for _, m := range headerLine.FindAllStringSubmatch(comments, -1) {
		header[m[1]] = append(header[m[1]], m[2])
	}
	return header
}

// admit decides as a server without nodes does: parse, canonicalize, validate.
func admit(f *corpusFile) (*api.Job, error) {
	job, places, err := ParseWithPlaces(Source{Name: f.name(), Text: f.text}, Options{AllowFS: true, BaseDir: filepath.Dir(f.path), Strict: true})
	if err != nil {
		return nil, err
	}
	whole := job.Copy()
	whole.Canonicalize()
	if err := whole.Validate(); err != nil {
		return nil, places.Explain(err)
	}
	if refused := api.Unsupported(whole); len(refused) > 0 {
		return nil, places.Explain(&api.Error{Code: api.CodeInvalid, Message: "not supported", Detail: refused})
	}
	return job, nil
}

var unsupportedWhat = regexp.MustCompile(`(?:^|: )([^:]*?) is not supported: `)

// needsOf returns the features that a rejected job needs.
func needsOf(problems []Problem) (needs []string) {
	for _, p := range problems {
		m := unsupportedWhat.FindStringSubmatch(p.Message)
		if m == nil {
			continue
		}
		words := strings.Fields(strings.TrimPrefix(m[1], "the "))
		need := words[0]
		switch {
		case need == "mode":
			need, _, _ = strings.Cut(strings.Trim(words[1], `"`), "/")
		case need == "volume" && strings.HasSuffix(m[1], `"csi"`):
			need = "csi"
		}
		if !slices.Contains(needs, need) {
			needs = append(needs, need)
		}
	}
	slices.Sort(needs)
	return needs
}

func problemsOf(t *testing.T, err error) []Problem {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("the error has no problems with places: %v", err)
	}
	return e.Problems
}

// Each job file written for Nomad is registered, or rejected for the features in its header, each
// with its line and what to do.
func TestJobFilesForNomadAreAcceptedOrExplained(t *testing.T) {
	for _, f := range nomadCorpus(t) {
		t.Run(f.name(), func(t *testing.T) {
			job, err := admit(f)
			if err == nil {
				job.Canonicalize()
				f.checkEnd(t)
				if warns := job.Warnings(); !slices.Equal(warns, f.warns) {
					t.Errorf("the header has the warnings\n%q, want\n# warns: %s", f.warns, strings.Join(warns, "\n# warns: "))
				}
				if f.accept != acceptYes || len(f.needs)+len(f.errors) > 0 {
					t.Errorf("the job is accepted; the header: %q, needs %q, errors %q", f.accept, f.needs, f.errors)
				}
				return
			}
			problems := problemsOf(t, err)
			needs := needsOf(problems)
			if f.accept != acceptNo || !slices.Equal(needs, f.needs) {
				t.Errorf("accept: %s\nneeds: %s\nThe header has %q, needs %q. The error:\n%v", acceptNo, strings.Join(needs, ", "), f.accept, f.needs, err)
			}
			lines := strings.Split(string(f.text), "\n")
			for _, p := range problems {
				switch m := unsupportedWhat.FindStringSubmatch(p.Message); {
				case p.Line == 0 || p.Excerpt == "":
					t.Errorf("no line for: %s", p.Message)
				case m != nil && filepath.Ext(f.path) == ".hcl" && !mentions(lines[p.Line-1], m[1]):
					t.Errorf("line %d is\n%s\nwhich is not about: %s", p.Line, lines[p.Line-1], p.Message)
				}
			}
			if f.accept != acceptNo {
				return
			}
			var got []string
			for _, p := range problems {
				got = append(got, p.Message)
			}
			if !slices.Equal(f.errors, got) {
				t.Errorf("the header has the errors\n%q, want\n# error: %s", f.errors, strings.Join(got, "\n# error: "))
			}
		})
	}
}

// checkEnd reports a header whose end is unknown, or without the reason that users read.
func (f *corpusFile) checkEnd(t *testing.T) {
	t.Helper()
	switch f.end {
	case "", "running", "complete":
		if f.reason != "" {
			t.Errorf("the end %s needs no reason, and has %q", f.end, f.reason)
		}
	case "fails", "waits":
		if f.reason == "" {
			t.Errorf("the end %s needs the reason that a user reads", f.end)
		}
	default:
		t.Errorf("the end is %q, want running, complete, fails or waits", f.end)
	}
}

// mentions reports whether a line of a file has a word of what a sentence names.
func mentions(line, what string) bool {
	line = fold(line)
	return slices.ContainsFunc(strings.Fields(strings.TrimPrefix(what, "the ")), func(w string) bool {
		w = fold(strings.Trim(w, `"`))
		return len(w) > 2 && strings.Contains(line, w)
	})
}

// Nothing of an accepted job is lost on the way through Nomad's own types.
func TestAcceptedJobsSurviveNomadsTypes(t *testing.T) {
	for _, f := range nomadCorpus(t) {
		if f.accept != acceptYes {
			continue
		}
		t.Run(f.name(), func(t *testing.T) {
			job, err := admit(f)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(job)
			if err != nil {
				t.Fatal(err)
			}
			var theirs nomad.Job
			if err := json.Unmarshal(text, &theirs); err != nil {
				t.Fatal(err)
			}
			if text, err = json.Marshal(theirs); err != nil {
				t.Fatal(err)
			}
			again, err := Parse(Source{Name: "job.json", Text: text}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(string(dump(t, job)), string(dump(t, again))); diff != "" {
				t.Errorf("the job changed (-ours +through Nomad's types):\n%s", diff)
			}
		})
	}
}

func TestTheNomadCorpusIsFormatted(t *testing.T) {
	for _, f := range nomadCorpus(t) {
		if filepath.Ext(f.path) != ".hcl" {
			continue
		}
		formatted, err := Format(f.text, f.name())
		if err != nil {
			t.Fatal(err)
		}
		golden(t, f.path, formatted)
	}
}

func TestTheCorpusIsInThePage(t *testing.T) {
	text, err := os.ReadFile(corpusPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), corpusBegin)
	_, after, ended := strings.Cut(rest, corpusEnd)
	if !found || !ended {
		t.Fatalf("%s has no place for the corpus: %q and %q", corpusPage, corpusBegin, corpusEnd)
	}
	golden(t, corpusPage, []byte(before+corpusBegin+corpusTables(nomadCorpus(t))+corpusEnd+after))
}

// corpusTables returns the section of the page: the verdicts, and what becomes of accepted jobs.
func corpusTables(files []*corpusFile) string {
	count := map[string]int{}
	for _, f := range files {
		count[f.accept]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n| verdict | files | share |\n|---|---|---|\n")
	for _, row := range [][2]string{{acceptYes, "accepted"}, {acceptNo, "rejected by name on purpose, or an error of the file"}} {
		fmt.Fprintf(&b, "| %s | %d | %.0f %% |\n", row[1], count[row[0]], 100*float64(count[row[0]])/float64(len(files)))
	}
	fmt.Fprintf(&b, "| all | %d | |\n\n", len(files))
	return b.String() + endTables(files)
}

// endTables returns what becomes of accepted jobs on a node without a Docker daemon and without special hardware.
func endTables(files []*corpusFile) string {
	accepted, count, rows := 0, map[string]int{}, ""
	for _, f := range files {
		if f.accept != acceptYes {
			continue
		}
		accepted++
		end := cmp.Or(f.end, "running")
		if end == "complete" {
			end = "running"
		}
		count[end]++
		if f.reason != "" {
			rows += fmt.Sprintf("| `%s` | %s | %s |\n", strings.TrimSuffix(f.name(), filepath.Ext(f.name())), end, strings.ReplaceAll(f.reason, "|", "\\|"))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "`TestContainerCorpusRuns` runs the accepted files, unchanged, on a node:\n\n| end on a node | files | share of the accepted |\n|---|---|---|\n")
	for _, row := range [][2]string{{"running", "runs and is healthy, or ends with success"}, {"waits", "waits for a node that has what it needs"}, {"fails", "fails"}} {
		fmt.Fprintf(&b, "| %s | %d | %.0f %% |\n", row[1], count[row[0]], 100*float64(count[row[0]])/float64(accepted))
	}
	return b.String() + "\nThe others, and what their users read:\n\n| file | end | reason |\n|---|---|---|\n" + rows + "\n"
}
