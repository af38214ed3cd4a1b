// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package reeve_test keeps the taste of the whole repository: what a reviewer
// would otherwise have to look for in every change.
package reeve_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/reeve-run/reeve/"

// maxLines bounds a file; one that grows past it holds more than one noun.
const maxLines = 500

// source is one Go file of the repository.
type source struct {
	path string // relative, with slashes
	dir  string
	text []byte
	ast  *ast.File
	fset *token.FileSet
}

func (s source) isTest() bool      { return strings.HasSuffix(s.path, "_test.go") }
func (s source) isGenerated() bool { return ast.IsGenerated(s.ast) }

// parsed holds every Go file of the repository, read and parsed once for all tests.
var parsed = sync.OnceValues(parseTree)

func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("only %d Go files found: the walk is wrong", len(all))
	}
	return all
}

func parseTree() ([]source, error) {
	var all []source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		s, err := parseSource(filepath.ToSlash(path))
		all = append(all, s)
		return err
	})
	return all, err
}

// parseSource parses one file. Of a generated file it parses the imports alone:
// those files are most of the tree's lines, and no rule looks into their code.
func parseSource(path string) (source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return source{}, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ImportsOnly|parser.ParseComments)
	if err == nil && !ast.IsGenerated(file) {
		fset = token.NewFileSet()
		file, err = parser.ParseFile(fset, path, text, parser.ParseComments)
	}
	return source{path, filepath.ToSlash(filepath.Dir(path)), text, file, fset}, err
}

func TestEveryFileHasTheLicence(t *testing.T) {
	const header = "// Copyright The Reeve Authors\n// SPDX-License-Identifier: Apache-2.0\n"
	for _, s := range sources(t) {
		if !s.isGenerated() && !bytes.HasPrefix(s.text, []byte(header)) {
			t.Errorf("%s: does not begin with the licence header:\n%s", s.path, header)
		}
	}
}

func TestEveryPackageHasOneComment(t *testing.T) {
	comments, packages := map[string][]string{}, map[string]bool{}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		packages[s.dir] = true
		if s.ast.Doc != nil {
			comments[s.dir] = append(comments[s.dir], s.path)
		}
	}
	for dir := range packages {
		if n := len(comments[dir]); n != 1 {
			t.Errorf("%s: has %d package comments %v, want one that says what the room is for", dir, n, comments[dir])
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, s := range sources(t) {
		if n := bytes.Count(s.text, []byte("\n")); n > maxLines && !s.isGenerated() {
			t.Errorf("%s: has %d lines, more than %d: give each noun its own file", s.path, n, maxLines)
		}
	}
}

// rooms lists, for the packages below a path, which of the repository's own
// packages they may import (by prefix; their own room is always allowed). The
// first matching entry decides. Tests may look around more freely.
var rooms = []struct {
	room    string
	imports []string
}{
	{"api", nil},
	{"jobspec", []string{"api"}},
	{"internal/reasons", []string{"api"}},
	{"internal/allocset", []string{"api", "internal/reasons"}},
	{"internal/nodeproto", []string{"api", "internal/allocset"}},
	{"client", []string{"api", "internal/nodeproto"}},
	{"internal/heap", nil},
	{"internal/limit", nil},
	{"internal/auditlog", []string{"api", "internal/limit"}},
	{"internal/auditsink", []string{"api", "internal/auditlog", "internal/secretfile"}},
	{"internal/coalesce", nil},
	{"internal/failpoint", nil},
	{"internal/latency", nil},
	{"internal/lifecycle", []string{"api"}},
	{"internal/state", []string{"api", "internal/reasons", "internal/allocset"}},
	{"internal/snapshotfile", []string{"api", "internal/state"}},
	{"internal/quota", []string{"api"}},
	{"internal/placement", []string{"internal/heap", "api", "internal/state", "internal/quota"}},
	{"internal/plan/opt", nil},
	{"internal/plan/slab", nil},
	{"internal/plan/ident", nil},
	{"internal/plan/update", []string{"api", "internal/plan/opt"}},
	{"internal/plan/reschedule", []string{"api", "internal/plan/opt"}},
	{"internal/plan/launch", []string{"api", "internal/plan/ident"}},
	{"internal/plan/decision", []string{"api"}},
	{"internal/plan/facts", []string{"api", "internal/placement", "internal/plan/opt", "internal/plan/slab", "internal/plan/update", "internal/plan/reschedule", "internal/plan/decision"}},
	{"internal/plan/tree", []string{"api", "internal/plan/opt", "internal/plan/slab", "internal/plan/reschedule", "internal/plan/decision", "internal/plan/facts"}},
	{"internal/plan/derive", []string{"api", "internal/plan/opt", "internal/plan/ident", "internal/plan/reschedule", "internal/plan/launch", "internal/plan/decision", "internal/plan/facts", "internal/plan/tree"}},
	{"internal/plan/deployment", []string{"api", "internal/plan/opt", "internal/plan/facts", "internal/plan/tree", "internal/plan/derive"}},
	{"internal/plan/view", []string{"api", "internal/plan/opt", "internal/plan/ident", "internal/plan/reschedule", "internal/plan/decision", "internal/plan/facts", "internal/plan/tree", "internal/plan/derive"}},
	{"internal/plan/operator", []string{"api", "internal/plan/opt", "internal/plan/ident", "internal/plan/launch", "internal/plan/decision", "internal/plan/facts", "internal/plan/tree", "internal/plan/derive", "internal/plan/deployment", "internal/plan/view"}},
	{"internal/plan/stackplan", []string{"api", "internal/lifecycle", "internal/plan/ident", "internal/plan/decision", "internal/plan/derive"}},
	{"internal/plan", []string{"api", "internal/placement"}},
	{"internal/catalogentry", []string{"api"}},
	{"internal/template", nil},
	{"internal/acl", []string{"api", "jobspec"}},
	{"internal/login", []string{"api"}},
	{"internal/server", []string{"internal/identity", "internal/acl", "internal/login", "internal/coalesce", "internal/failpoint", "internal/latency", "internal/pki", "internal/keyring", "internal/secretfile", "internal/lifecycle", "internal/heap", "api", "jobspec", "internal/nodeproto", "internal/state", "internal/snapshotfile", "internal/quota", "internal/placement", "internal/plan", "internal/catalogentry", "internal/template"}},
	{"internal/metrics", []string{"api", "internal/latency", "internal/limit", "internal/state", "internal/server"}},
	{"internal/nodelink", []string{"api", "internal/nodeproto"}},
	{"internal/node/stall", nil},
	{"internal/node/program", nil},
	{"internal/node/landlock", nil},
	{"internal/node/supervise/isolate", []string{"internal/node/landlock", "internal/node/program"}},
	{"internal/node/thread", nil},
	{"internal/node/supervise/oci", []string{"internal/node/beneath", "internal/node/thread"}},
	{"internal/node/supervise/step", []string{"internal/node/supervise/isolate", "internal/node/supervise/oci"}},
	{"internal/node/image/layer", []string{"internal/node/beneath"}},
	{"internal/node/image/store", []string{"internal/coalesce", "internal/secretfile", "internal/node/beneath", "internal/node/image/layer"}},
	{"internal/node/image/registry", []string{"internal/secretfile", "internal/node/beneath", "internal/node/stall"}},
	{"internal/node/image/registrytest", nil},
	{"internal/node/image", []string{"internal/node/beneath"}},
	{"internal/node", []string{"internal/coalesce", "internal/heap", "internal/secretfile", "api", "client", "internal/catalogentry", "internal/template"}},
	{"internal/port", []string{"api"}},
	{"internal/relay", nil},
	{"internal/pki", nil},
	{"internal/keyring", []string{"internal/pki"}},
	{"internal/kms", []string{"internal/secretfile"}},
	{"internal/identity", nil},
	{"internal/secretfile", nil},
	{"internal/founding", []string{"api", "internal/secretfile"}},
	{"internal/trust", []string{"internal/pki", "internal/secretfile"}},
	{"internal/socket", nil},
	{"internal/door", []string{"api", "internal/identity", "internal/socket", "internal/pki"}},
	{"internal/filter", []string{"api"}},
	{"internal/eventstream", []string{"api", "internal/state", "internal/catalogentry", "internal/filter"}},
	{"internal/httpapi", []string{"internal/identity", "internal/acl", "internal/auditlog", "internal/coalesce", "internal/limit", "internal/relay", "api", "client", "jobspec", "internal/door", "internal/pki", "internal/filter", "internal/eventstream", "internal/nodeproto", "internal/state", "internal/server", "internal/catalogentry", "internal/metrics", "internal/joblogs", "internal/ui", "internal/uilink"}},
	{"internal/joblogs", []string{"api"}},
	{"internal/uilink", nil},
	{"internal/ui", []string{"internal/uilink"}},
	{"internal/uiproxy", []string{"api", "internal/door", "internal/socket", "internal/ui"}},
	{"internal/dialect", []string{"api", "internal/state"}},
	{"internal/router/http1", nil},
	{"internal/router/acme", []string{"api", "internal/router/certs", "internal/router/variables"}},
	{"internal/router/variables", []string{"api", "client"}},
	{"internal/router/certs", []string{"api", "internal/secretfile", "internal/router/variables"}},
	{"internal/router", []string{"api", "client", "internal/latency", "internal/lifecycle"}},
	{"internal/dns", []string{"api", "client", "internal/lifecycle"}},
	{"internal/agent", []string{"internal/auditlog", "internal/auditsink", "internal/kms", "internal/limit", "internal/founding", "internal/keyring", "internal/relay", "internal/secretfile", "internal/dns", "internal/door", "internal/socket", "internal/pki", "internal/trust", "internal/port", "api", "client", "internal/router", "internal/state", "internal/server", "internal/node", "internal/nodelink", "internal/nodeproto", "internal/httpapi", "internal/metrics", "internal/dialect", "internal/ui"}},
	{"internal/sim", []string{"internal/heap", "internal/nodeproto", "internal/pki", "internal/trust", "api", "client", "jobspec"}},
	{"internal/demo", []string{"api", "client", "jobspec", "internal/sim"}},
	{"internal/cli/human", nil},
	{"internal/cli/term", []string{"api"}},
	{"internal/cli/plantree", []string{"api", "internal/cli/human", "internal/cli/term"}},
	{"internal/cli/view", []string{"api", "jobspec", "internal/cli/human", "internal/cli/term", "internal/cli/plantree", "internal/sim"}},
	{"internal/cli/clitest", []string{"api"}},
	{"internal/cli", []string{"api", "client", "jobspec", "internal/agent", "internal/node/doctor", "internal/keyring", "internal/pki", "internal/secretfile", "internal/trust", "internal/sim", "internal/demo", "internal/snapshotfile", "internal/uilink", "internal/uiproxy"}},
	{"cmd", []string{"internal/cli", "internal/node/supervise", "internal/node/artifact"}},
	{"internal/testbed", []string{"api", "client", "internal/failpoint"}},
	{"internal/bench", []string{"api", "client", "internal/testbed", "internal/node/driver/container/containertest"}},
	{"internal/jepsen", []string{"api", "client", "internal/failpoint", "internal/testbed"}},
	{"internal/pack", nil},
	{"examples", []string{"api", "client"}},
}

func TestImportsPointDownwards(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || s.dir == "." {
			continue
		}
		i := slices.IndexFunc(rooms, func(r struct {
			room    string
			imports []string
		}) bool {
			return s.dir == r.room || strings.HasPrefix(s.dir, r.room+"/")
		})
		if i < 0 {
			t.Errorf("%s: no rule says what this room may import: add one to rooms in style_test.go", s.path)
			continue
		}
		allowed := append([]string{rooms[i].room}, rooms[i].imports...)
		for _, path := range imports(s) {
			own, ours := strings.CutPrefix(path, module)
			if ours && !slices.ContainsFunc(allowed, func(a string) bool { return a == "" || own == a || strings.HasPrefix(own, a+"/") }) {
				t.Errorf("%s: imports %s, which %s may not", s.path, own, rooms[i].room)
			}
		}
	}
}

func imports(s source) []string {
	var paths []string
	for _, spec := range s.ast.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, path)
	}
	return paths
}

// testOnly are modules that the product does not contain.
var testOnly = []string{
	"github.com/hashicorp/nomad", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/google/go-cmp",
	"github.com/letsencrypt/pebble", "github.com/rogpeppe/go-internal", "github.com/anishathalye/porcupine", module + "internal/cli/clitest",
}

// unwanted are modules that were considered and turned down.
var unwanted = []string{
	"github.com/hashicorp/go-memdb", "github.com/hashicorp/go-plugin", "github.com/casbin", "github.com/tink-crypto",
	"go.etcd.io/etcd", "github.com/nats-io", "github.com/hashicorp/raft-boltdb",
}

func TestProductImportsOnlyWhatItShould(t *testing.T) {
	for _, s := range sources(t) {
		for _, path := range imports(s) {
			if !s.isTest() && s.dir != "internal/testbed/acmeca" && s.dir != "internal/cli/clitest" && s.dir != "internal/jepsen" && slices.ContainsFunc(testOnly, func(m string) bool { return strings.HasPrefix(path, m) }) {
				t.Errorf("%s: imports %s, which only tests may", s.path, path)
			}
			if slices.ContainsFunc(unwanted, func(m string) bool { return strings.HasPrefix(path, m) }) {
				t.Errorf("%s: imports %s, which was decided against", s.path, path)
			}
		}
	}
}

func TestGoModHasNoReplacements(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?m)^(replace|exclude)\b`).Match(text) {
		t.Error("go.mod: replace and exclude make the module unusable by others")
	}
}

func TestTestsDoNotSleep(t *testing.T) {
	for _, s := range sources(t) {
		if !s.isTest() || usesVirtualTime(s) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && isOfTime(sel, "Sleep") {
				t.Errorf("%s: sleeps; wait for a condition, or use virtual time", s.fset.Position(n.Pos()))
			}
			return true
		})
	}
}

// timers are the functions of package time that a test would poll with.
var timers = []string{"After", "NewTicker", "NewTimer", "Tick"}

func TestTestsWaitForConditions(t *testing.T) {
	for _, s := range sources(t) {
		if !s.isTest() || usesVirtualTime(s) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if isOfTime(n, timers...) {
					t.Errorf("%s: uses a timer; wait for a condition, and bound it with internal/testbed/wait", s.fset.Position(n.Pos()))
				}
			case *ast.ForStmt:
				if n.Cond == nil {
					return true
				}
				ast.Inspect(n.Cond, func(c ast.Node) bool {
					if sel, ok := c.(*ast.SelectorExpr); ok && isOfTime(sel, "Now", "Since", "Until") {
						t.Errorf("%s: loops until a time; wait for a condition, and bound it with internal/testbed/wait", s.fset.Position(n.Pos()))
					}
					return true
				})
			}
			return true
		})
	}
}

// isOfTime reports whether the selector is one of package time's names.
func isOfTime(sel *ast.SelectorExpr, names ...string) bool {
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "time" && slices.Contains(names, sel.Sel.Name)
}

// usesVirtualTime reports whether a test's sleeps take no real time.
func usesVirtualTime(s source) bool {
	return slices.Contains(imports(s), "testing/synctest") || slices.Contains(imports(s), bubbles)
}

const bubbles = module + "internal/testbed/bubble"

// realPackages are those whose tests start real processes, as in the Makefile.
var realPackages = regexp.MustCompile(`^internal/(agent|bench|cli|e2e|jepsen|node/artifact|node/beneath|node/driver/.*|node/network|node/supervise.*|testbed.*)$`)

func TestUnitTestsStartNoProcess(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if want := "REAL := /" + strings.Trim(realPackages.String(), "^$") + "$$"; !strings.Contains(string(makefile), want+"\n") {
		t.Errorf("Makefile: the lanes differ from this test, which knows %s", want)
	}
	for _, s := range sources(t) {
		if !s.isTest() || realPackages.MatchString(s.dir) {
			continue
		}
		for _, decl := range s.ast.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "TestReal") || f.Name.Name == "TestMain" {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && (id.Name == "runReal" || id.Name == "supervisetest" || id.Name == "exec") {
					t.Errorf("%s: %s starts a process: begin its name with TestReal, so that the unit lane leaves it out", s.fset.Position(n.Pos()), f.Name.Name)
				}
				return true
			})
		}
	}
}

func TestBubblesSurviveTheRaceDetector(t *testing.T) {
	for _, s := range sources(t) {
		if own, _ := strings.CutPrefix(bubbles, module); s.dir != own && bytes.Contains(s.text, []byte("synctest"+".Test(")) {
			t.Errorf("%s: calls synctest.Test; bubble.Test does the same, and the race detector survives it", s.path)
		}
	}
}

func TestTestsAreNotSkipped(t *testing.T) {
	skip := regexp.MustCompile(`\b[tb]\.(Skip|Skipf|SkipNow)\(`)
	for _, s := range sources(t) {
		if s.isTest() && s.path != "style_test.go" && skip.Match(s.text) {
			t.Errorf("%s: skips a test; check instead what must hold where it cannot run", s.path)
		}
	}
}

func TestNoLeftovers(t *testing.T) {
	mark := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|HA` + `CK|X` + `XX)\b`)
	for _, s := range sources(t) {
		if !s.isGenerated() {
			if m := mark.FindIndex(s.text); m != nil {
				t.Errorf("%s:%d: %s: finish it or leave it out whole", s.path, 1+bytes.Count(s.text[:m[0]], []byte("\n")), s.text[m[0]:m[1]])
			}
		}
	}
}

func TestPackagesAreNamedForWhatTheyProvide(t *testing.T) {
	empty := []string{"util", "utils", "common", "helper", "helpers", "manager", "misc", "base", "lib", "types", "data", "info"}
	for _, s := range sources(t) {
		if slices.Contains(empty, s.ast.Name.Name) {
			t.Errorf("%s: package %s says nothing about what it holds", s.path, s.ast.Name.Name)
		}
	}
}
