// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// values is a Source for tests.
type values map[Dependency]Value

func (s values) Value(d Dependency) Value { return s[d] }

func (s values) Env(name string) (string, bool) {
	v, ok := map[string]string{"NOMAD_JOB_NAME": "web", "node.unique.id": "n1", "EMPTY": ""}[name]
	return v, ok
}

func (s values) File(path string) (string, error) {
	if path == "local/a" {
		return "content", nil
	}
	return "", errors.New("the task has no such file")
}

func (s values) Choose(all []ServiceInstance, n int, key string) []ServiceInstance { return all[:n] }

var testValues = values{
	{Variable, "", "nomad/jobs/web"}: {State: Present, Items: map[string]string{"user": "ada", "pass": "p4ss"}, Metadata: VariableMetadata{Namespace: "default", Path: "nomad/jobs/web", ModifyIndex: 7}},
	{Variable, "prod", "shared/db"}:  {State: Present, Items: map[string]string{"host": "db1", "Parent": "mine"}, Metadata: VariableMetadata{Namespace: "prod", Path: "shared/db"}},
	{Variable, "", "other"}:          {State: Forbidden},
	{Variable, "", "none"}:           {State: Absent},
	{Variables, "", "nomad/jobs"}:    {State: Present, Variables: []VariableMetadata{{Path: "nomad/jobs/api"}, {Path: "nomad/jobs/web"}}},
	{Variables, "", "empty"}:         {State: Present},
	{Service, "", "db"}: {State: Present, Instances: []ServiceInstance{
		{Name: "db", Address: "10.0.0.1", Port: 5432, Tags: []string{"primary"}, Meta: map[string]string{"v": "1"}},
		{Name: "db", Address: "10.0.0.2", Port: 5433, Tags: []string{"replica"}, Meta: map[string]string{"v": "2"}}}},
	{Services, "", ""}: {State: Present, Services: []ServiceName{{Name: "db", Tags: []string{"primary", "replica"}}}},
}

func render(t *testing.T, text string) (Result, error) {
	t.Helper()
	parsed, err := Parse(text, Options{})
	if err != nil {
		return Result{}, err
	}
	return parsed.Render(testValues, DefaultLimits)
}

func TestFunctions(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain",
		`{{with nomadVar "nomad/jobs/web"}}{{.user}}:{{.pass}}{{end}}`:                                      "ada:p4ss",
		`{{(nomadVar "nomad/jobs/web").user.Value | toUpper}}`:                                              "ADA",
		`{{with nomadVar "shared/db@prod"}}{{.host}}{{end}}`:                                                "db1",
		`{{range $k, $v := nomadVar "nomad/jobs/web"}}{{$k}}={{$v}};{{end}}`:                                "pass=p4ss;user=ada;",
		`{{range (nomadVar "nomad/jobs/web").Tuples}}{{.K}}={{.V}};{{end}}`:                                 "pass=p4ss;user=ada;",
		`{{(nomadVar "nomad/jobs/web").Keys | join ","}} {{(nomadVar "nomad/jobs/web").Values | join ","}}`: "pass,user p4ss,ada",
		`{{with nomadVar "nomad/jobs/web"}}{{.Metadata.Path}}#{{.Metadata.ModifyIndex}} {{.Metadata}} {{.Parent.Metadata.Namespace}} {{.Parent.Items.user}} {{.Parent.Path}}{{end}}`: "nomad/jobs/web#7 nomad/jobs/web default ada nomad/jobs/web",
		`{{$v := nomadVar "nomad/jobs/web"}}{{$v.Metadata.Path | toUpper}} {{(nomadVar "nomad/jobs/web").Metadata.Path}} {{if $v.Metadata}}yes{{end}}`:                               "NOMAD/JOBS/WEB nomad/jobs/web yes",
		`{{with nomadVar "shared/db@prod"}}{{.Parent}} {{.Metadata.Namespace}}{{with .Metadata}} {{.Path}}{{end}}{{end}}`:                                                            "mine prod shared/db",
		`{{range sprig_list (nomadVar "nomad/jobs/web")}}{{template "m" .Parent.Metadata}}{{end}}{{define "m"}}{{.Path}}{{end}}`:                                                     "nomad/jobs/web",
		`{{$d := parseJSON "{\"Metadata\":{\"a\":1},\"b\":{\"Parent\":2}}"}}{{$d.Metadata.a}}{{$d.b.Parent}}{{$d.b.Metadata}}`:                                                       "12<no value>",
		`{{if eq (nomadVar "nomad/jobs/web").user "ada"}}yes{{end}}`:                                                                                                                 "yes",
		`{{nomadVar "nomad/jobs/web" | toJSON}}`:                                                                          `{"pass":"p4ss","user":"ada"}`,
		`{{nomadVarExists "nomad/jobs/web"}} {{nomadVarExists "none"}} {{nomadVarExists "other"}}`:                        "true false false",
		`{{range nomadVarList "nomad/jobs"}}{{.}} {{.Path}} {{end}}`:                                                      "nomad/jobs/api nomad/jobs/api nomad/jobs/web nomad/jobs/web ",
		`{{range nomadService "db"}}{{.Address}}:{{.Port}} {{end}}`:                                                       "10.0.0.1:5432 10.0.0.2:5433 ",
		`{{range nomadService 1 "me" "db"}}{{.Address}}{{end}}`:                                                           "10.0.0.1",
		`{{range nomadServices}}{{.Name}} {{.Tags | join ","}}{{end}}`:                                                    "db primary,replica",
		`{{range $tag, $all := nomadService "db" | byTag}}{{$tag}}={{len $all}} {{end}}`:                                  "primary=1 replica=1 ",
		`{{range $v, $all := nomadService "db" | byMeta "v"}}{{$v}}={{len $all}} {{end}}`:                                 "1=1 2=1 ",
		`{{env "NOMAD_JOB_NAME"}} {{env "node.unique.id"}}[{{env "X"}}] {{envOrDefault "EMPTY" "d"}} {{mustEnv "EMPTY"}}`: "web n1[] d ",
		`{{file "local/a"}}`: "content",
		`{{base64Encode "a?b>"}} {{base64Decode "YT9iPg=="}} {{base64URLEncode "a?b>"}} {{base64URLDecode "YT9iPg=="}}`: "YT9iPg== a?b> YT9iPg== a?b>",
		`{{"{\"a\":[1,2.5]}" | parseJSON | toJSON}} {{toJSONPretty (parseJSON "{\"a\":1}")}}`:                           "{\"a\":[1,2.5]} {\n  \"a\": 1\n}",
		`{{(parseYAML "a: [1, x]\nb: {c: true}").b.c}}`:                                                                 "true",
		`{{"{\"b\":{\"c\":\"yes\",\"e\":[]},\"a\":[1,{\"x\":\"y z\",\"w\":null}]}" | parseJSON | toYAML}}`:              "a:\n- 1\n- w: null\n  x: \"y z\"\nb:\n  c: \"yes\"\n  e: []",
		`{{"{\"b\":{\"c\":\"d\"},\"a\":[1,\"x\"]}" | parseJSON | toTOML}}`:                                              "a = [1, \"x\"]\n\n[b]\nc = \"d\"",
		`{{toLower "AB"}}{{toUpper "ab"}} {{toTitle "it's a bee"}}`:                                                     "abAB It's A Bee",
		`{{parseInt "42"}} {{parseUint "7"}} {{parseFloat "1.5"}} {{parseBool "true"}}`:                                 "42 7 1.5 true",
		`{{"a,b,c" | split "," | join "-"}} {{"a=1;b=2" | splitToMap ";" "=" | toJSON}}`:                                `a-b-c {"a":"1","b":"2"}`,
		`{{trim "-" "--a--"}}{{trimPrefix "a" "ab"}}{{trimSuffix "b" "ab"}}{{trimSpace " x "}}`:                         "abax",
		`{{replaceAll "a" "bb" "aXa"}} {{regexMatch "^a+$" "aaa"}} {{regexReplaceAll "(b+)" "<$1>" "abba"}}`:            "bbXbb true a<bb>a",
		`{{"a\nb" | indent 2}}`: "  a\n  b",
		`{{in (split "," "a,b") "b"}} {{contains "z" (split "," "a,b")}} {{"abc" | contains "b"}}`:                                                                      "true false true",
		`{{$l := split "," "a,b"}}{{containsAll $l $l}} {{containsAny (split "," "z") $l}} {{containsNone (split "," "z") $l}} {{containsNotAll (split "," "a,z") $l}}`: "true false true true",
		`{{range loop 3}}{{.}}{{end}} {{range loop 2 4}}{{.}}{{end}}`:                                                                                                   "012 23",
		`{{add 1 2}} {{4 | subtract 1}} {{multiply 2 3}} {{divide 2 7}} {{modulo 3 7}} {{minimum 1 2}} {{maximum 1 2.5}} {{add 1 0.5}}`:                                 "3 3 6 3 1 1 2.5 1.5",
		`{{sha256Hex "a"}}`:         "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
		`{{md5sum "a"}}`:            "0cc175b9c0f1b6a831c399e269772661",
		`{{hmacSHA256Hex "m" "k"}}`: "b60090e3052297aeb5a080889ce2fc4bca957e756faeb4df7d31800ca1e771ec",
		`{{explodeMap (sprig_dict "a/b" 1 "a/c" 2) | toJSON}}`:              `{"a":{"b":1,"c":2}}`,
		`{{mergeMap (sprig_dict "a" 1 "b" 1) (sprig_dict "a" 2) | toJSON}}`: `{"a":2,"b":1}`,
		`{{scratch.Set "k" 1}}{{scratch.SetX "k" 2}}{{scratch.Get "k"}}{{scratch.MapSet "m" "x" "y"}}{{scratch.MapSetX "m" "x" "z"}}{{scratch.MapValues "m" | join ","}}{{scratch.Key "n"}}{{scratch}}`: "1yfalsescratch",
		`{{printf "%05d|%-4s|%q" 7 "a" "b"}} {{html "<a>"}}`:                                                                                                             "00007|a   |\"b\" &lt;a&gt;",
		`{{sprig_default "d" ""}}{{"x" | sprig_default "d"}}{{sprig_ternary "a" "b" false}}{{sprig_coalesce "" "c"}}`:                                                    "dxbc",
		`{{sprig_list 3 1 | sprig_first}}{{sprig_list "b" "a" "b" | sprig_uniq | sprig_sortAlpha | join ","}}{{sprig_add 1 "2"}}{{sprig_div 7 2}}{{sprig_repeat 3 "x"}}`: "3a,b33xxx",
		`{{sprig_quote "a"}}{{sprig_squote "a"}}{{sprig_trunc 2 "abc"}}{{sprig_trunc -2 "abc"}}{{"x" | sprig_nindent 1}}`:                                                "\"a\"'a'abbc\n x",
		`{{define "t"}}[{{.}}]{{end}}{{template "t" "x"}}{{range $i, $e := sprig_list "a" "b"}}{{if eq $i 1}}{{break}}{{end}}{{$e}}{{end}}`:                              "[x]a",
	} {
		r, err := render(t, text)
		if err != nil || len(r.Missing) > 0 {
			t.Errorf("%s: %v, missing %v", text, err, r.Missing)
		} else if d := cmp.Diff(want, string(r.Output)); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

func TestMissingValuesAreReportedTogether(t *testing.T) {
	r, err := render(t, `{{with nomadVar "none"}}{{.x | parseInt}}{{end}}{{(nomadVar "other").x | parseJSON}}{{nomadVar "later@ns"}}{{nomadVar "none"}}{{range nomadService "x"}}{{.}}{{end}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Missing{{Dependency{Variable, "", "none"}, Absent}, {Dependency{Variable, "", "other"}, Forbidden}, {Dependency{Variable, "ns", "later"}, Unknown}, {Dependency{Service, "", "x"}, Unknown}}
	if d := cmp.Diff(want, r.Missing); d != "" || r.Output != nil {
		t.Errorf("missing (-want +got):\n%s\noutput %q", d, r.Output)
	}
	if r, _ := render(t, `{{nomadVarListSafe "empty"}}`); len(r.Missing) != 1 {
		t.Errorf("an empty list is not missing: %v", r)
	}
}

func TestErrorsNameTheLineAndNoValue(t *testing.T) {
	for text, want := range map[string]string{
		"a\n{{if}}":                  `line 2: if lacks what it is about, such as {{if nomadVar "nomad/jobs/web"}}`,
		"\n{{key \"a\"}}":            `line 2: function "key" is not supported: Reeve does not use Consul; store the value in a variable, and read it with nomadVar`,
		`{{with secret "a"}}{{end}}`: `line 1: function "secret" is not supported: Reeve does not use Vault; store the secret in a variable (reeve var put), and read it with nomadVar`,
		`{{executeTemplate "a"}}`:    `line 1: function "executeTemplate" is not supported: templates cannot do that, for safety; use {{template}} with {{define}}`,
		`{{sprig_env "HOME"}}`:       `line 1: function "sprig_env" is not supported: docs/templates.md lists the functions of Sprig that are`,
		`{{nosuch}}`:                 `line 1: function "nosuch" does not exist: docs/templates.md lists the functions`,
		`{{reeveStep}}`:              `line 1: function "reeveStep" does not exist: docs/templates.md lists the functions`,
		"\n\n{{(nomadVar \"nomad/jobs/web\").pass | parseInt}}":              "line 3: function parseInt: the text is not a whole number",
		`{{(nomadVar "nomad/jobs/web").pass | parseJSON}}`:                   "line 1: function parseJSON: the text is not JSON",
		`{{(nomadVar "nomad/jobs/web").pass | base64Decode}}`:                "",
		`{{index (split "" (nomadVar "nomad/jobs/web").pass) 99}}`:           "line 1: function index fails with these values",
		`{{regexMatch (printf "(%s" (nomadVar "nomad/jobs/web").pass) "x"}}`: "line 1: function regexMatch: the regular expression is not valid",
		`{{template (nomadVar "nomad/jobs/web").pass}}`:                      "line 1: unexpected \"(\" in template clause",
		`{{divide 0 1}}`:                         "line 1: function divide: the divisor is 0",
		`{{mustEnv "NO"}}`:                       "line 1: function mustEnv: the task has no such environment variable",
		`{{file "/etc/shadow"}}`:                 "line 1: function file: the task has no such file",
		`{{(nomadVar "nomad/jobs/web").pass.X}}`: "line 1: can't evaluate field X in type template.Item",
	} {
		_, err := render(t, text)
		if want == "" {
			continue
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "p4ss") {
			t.Errorf("%s: the error contains a value: %v", text, err)
		}
	}
}

// TestSyntaxErrorsSayWhatToWrite reads templates with the mistakes that authors make.
func TestSyntaxErrorsSayWhatToWrite(t *testing.T) {
	for text, want := range map[string]string{
		"a\n{{.a}":                         `line 2: a single "}" inside of an action: close the action with }}`,
		`{{with nomadVar "a"}`:             `line 1: a single "}" inside of an action: close the action with }}`,
		`{{.a-b}}`:                         `line 1: the character "-" is not allowed inside of an action: write texts in double quotes, and keys with other characters as index (nomadVar "PATH") "KEY"`,
		`{{'abc'}}`:                        `line 1: a text in single quotes inside of an action: write it in double quotes`,
		`{{.a`:                             `line 1: an action has no end: close it with }} in the same line`,
		`{{"a}}`:                           `line 1: a text inside of an action has no closing quote`,
		"{{`a}}":                           `line 1: a text inside of an action has no closing backquote`,
		`{{/* a`:                           `line 1: a comment has no end: close it with */ and }}`,
		`{{(1}}`:                           `line 1: an opening parenthesis has no closing one`,
		`{{1)}}`:                           `line 1: a closing parenthesis has no opening one`,
		`{{if 1}}`:                         `line 1: an if, range, with or define block has no end: close it with {{end}}`,
		`{{end}}`:                          `line 1: {{end}} closes no block: remove it, or add the if, range or with that it belongs to`,
		`{{else}}`:                         `line 1: {{else}} belongs to no if, range or with`,
		`{{$x}}`:                           `line 1: the variable $x has no value here: assign one before with {{$x := ...}}, in the same block or around it`,
		`{{}}`:                             `line 1: an action is empty: write a value or a function between {{ and }}`,
		`{{if .a}}{{else}}{{else}}{{end}}`: `line 1: a block has two {{else}}: remove one, or write {{else if ...}} in the first`,
		`{{if eq .a = 1}}{{end}}`:          `line 1: "=" is not a comparison: write {{if eq A B}}, and assign with :=`,
		`{{"\q"}}`:                         `line 1: a text in double quotes has an escape that does not exist: write a backslash as \\, or use backquotes`,
	} {
		if _, err := Parse(text, Options{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := Parse("<<end>>", Options{Left: "<<", Right: ">>"}); err == nil || !strings.Contains(err.Error(), "<<end>> closes no block") {
		t.Errorf("with other delimiters: %v", err)
	}
}

func TestStrictTemplatesRejectMissingKeys(t *testing.T) {
	parsed, err := Parse(`{{(nomadVar "nomad/jobs/web").nokey}}`, Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = parsed.Render(testValues, DefaultLimits); err == nil {
		t.Error("a missing key is accepted")
	}
	if r, err := render(t, `[{{(nomadVar "nomad/jobs/web").nokey}}]`); err != nil || string(r.Output) != "[]" {
		t.Errorf("%q, %v", r.Output, err)
	}
}

func TestDelimiters(t *testing.T) {
	parsed, err := Parse("<<env \"NOMAD_JOB_NAME\">> {{x}}", Options{Left: "<<", Right: ">>"})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := parsed.Render(testValues, DefaultLimits); err != nil || string(r.Output) != "web {{x}}" {
		t.Errorf("%q, %v", r.Output, err)
	}
}

func TestLiterals(t *testing.T) {
	parsed, err := Parse(`{{with nomadVar "a"}}{{nomadVar "b@ns" | toJSON}}{{end}}{{if nomadVarExists "c"}}{{nomadVar "d"}}{{end}}{{(nomadVar "e").x}}{{nomadVar (print "f")}}{{nomadVar "a"}}`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Dependency{{Variable, "", "a"}, {Variable, "ns", "b"}, {Variable, "", "e"}}
	if d := cmp.Diff(want, parsed.Literals()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Each of these would run for ever, or take all memory, without bounds.
func TestHostileTemplatesEnd(t *testing.T) {
	big := strings.Repeat("a", 1000)
	for name, text := range map[string]string{
		"nested ranges":                     `{{$l := loop 100000}}{{range $l}}{{range $l}}{{range $l}}{{end}}{{end}}{{end}}`,
		"a range over a number":             `{{range 9000000000000000000}}{{end}}`,
		"a range over a number with output": `{{range 9000000000000000000}}x{{end}}`,
		"endless recursion":                 `{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`,
		"recursion that branches":           `{{define "a"}}{{if lt (len .) 40}}{{template "a" (print . "x")}}{{template "a" (print . "x")}}{{end}}{{end}}{{template "a" ""}}`,
		"huge output":                       `{{range loop 2000}}{{print "` + big + `"}}{{end}}`,
		"a text that doubles":               `{{$s := "aaaaaaaaaa"}}{{range loop 60}}{{$s = print $s $s}}{{end}}`,
		"a text that printf doubles":        `{{$s := "aaaaaaaaaa"}}{{range loop 60}}{{$s = printf "%s%s" $s $s}}{{end}}`,
		"printf that repeats":               `{{$s := sprig_repeat 1000000 "a"}}{{printf (sprig_repeat 100000 "%[1]s") $s}}`,
		"printf with a width":               `{{printf "%999999999d" 1}}`,
		"printf with a star":                `{{printf "%*d" 999999999 1}}`,
		"a list that shares itself":         `{{$l := sprig_list 1 2}}{{range loop 60}}{{$l = sprig_list $l $l}}{{end}}{{$l}}`,
		"a map that shares itself":          `{{$l := sprig_dict}}{{range loop 60}}{{$l = sprig_dict "a" $l "b" $l}}{{end}}{{toJSON $l}}`,
		"scratch that nests":                `{{range loop 100000}}{{scratch.Set "a" (sprig_list (scratch.Get "a") (scratch.Get "a"))}}{{end}}`,
		"scratch that holds itself":         `{{scratch.MapSet "a" "b" 1}}{{range loop 100}}{{scratch.MapSet "a" "b" (scratch.Get "a")}}{{scratch.MapSet "a" "c" (scratch.Get "a")}}{{end}}`,
		"indent":                            `{{indent 999999999 "a"}}`,
		"repeat":                            `{{sprig_repeat 999999999 "a"}}`,
		"repeat that overflows":             `{{sprig_repeat 9223372036854775807 "aa"}}`,
		"replace":                           `{{$s := sprig_repeat 100000 "a"}}{{replaceAll "a" $s $s}}`,
		"replace by expression":             `{{$s := sprig_repeat 100000 "a"}}{{regexReplaceAll "a" $s $s}}`,
		"groups by expression":              `{{$s := sprig_repeat 10000 "a"}}{{regexReplaceAll "(a*)" (sprig_repeat 10000 "$1") $s}}`,
		"a large expression":                `{{range loop 100}}{{regexMatch "((a{30}){30}b?){1,}c" (sprig_repeat 1000000 "a")}}{{end}}`,
		"an expression too large":           `{{regexMatch (sprig_repeat 2000 "(") "a"}}`,
		"a long list":                       `{{loop 9223372036854775807}}`,
		"a list that overflows":             `{{loop -9223372036854775807 9223372036854775807}}`,
		"many files":                        `{{range loop 1000}}{{file "local/a"}}{{end}}`,
		"many variables":                    `{{range loop 1000}}{{nomadVarExists (print "a" .)}}{{end}}`,
		"nested JSON":                       `{{parseJSON (sprig_repeat 100000 "[")}}`,
		"nested YAML":                       `{{parseYAML (sprig_repeat 60000 "[")}}`,
		"nested YAML in a line":             `{{parseYAML (sprig_repeat 30000 "- ")}}`,
		"aliases of YAML":                   `{{parseYAML "a: &a [1,1]\nb: &b [*a,*a]\nc: [*b,*b]"}}`,
		"trunc":                             `{{sprig_trunc -9223372036854775808 "a" | parseInt}}`,
		"too many actions":                  strings.Repeat("{{1}}", 20_000),
		"nested conditions":                 strings.Repeat("{{if 1}}", 20_000),
		"nested parentheses":                "{{" + strings.Repeat("(", 400_000),
		"too long":                          strings.Repeat("a", 2<<20),
		"an integer division":               `{{divide -1 (parseInt "-9223372036854775808")}}`,
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			r, err := render(t, text)
			if err == nil {
				t.Errorf("it renders %d bytes, missing %v", len(r.Output), r.Missing)
			}
			if took := time.Since(start); took > DefaultLimits.Time+8*time.Second { // what is between two looks at the time is short
				t.Errorf("it took %s", took)
			}
			var known *Error
			if !errors.As(err, &known) {
				t.Errorf("%T: %v", err, err)
			}
		})
	}
}

func TestEnvFiles(t *testing.T) {
	got, err := ParseEnv([]byte("# comment\nA=1\n\nexport B = two words # more\nC=\"a\\nb\" # c\nD='single \"q\" '\nE=\nF=a=b#c\n"))
	want := map[string]string{"A": "1", "B": "two words", "C": "a\nb", "D": "single \"q\" ", "E": "", "F": "a=b#c"}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	for text, want := range map[string]string{
		"A=1\nsecret":       "line 2: the line has no =",
		"A B=secret":        `line 1: the name before = has other characters than letters, digits, "_", "." and "-"`,
		"A=\"secret":        "line 1: the value of A is not a JSON string; write it with toJSON",
		"A='secret":         "line 1: the value of A has no closing quote",
		"A=\"secret\" rest": "line 1: the value of A continues after its closing quote",
		"A=secret\x00":      "line 1: the value of A contains a zero byte",
	} {
		if _, err := ParseEnv([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, text := range []string{"{{nomadVar \"nomad/jobs/web\"}}", "{{range loop 3}}{{.}}{{end}}", "{{define \"a\"}}{{end}}{{template \"a\"}}", "{{printf \"%d\" 1}}",
		"{{with $x := parseJSON \"[1]\"}}{{index $x 0}}{{else}}{{break}}{{end}}", "{{toYAML (parseYAML \"a: 1\")}}", "{{scratch.Set \"a\" 1}}"} {
		f.Add(text)
	}
	limits := Limits{Output: 1 << 16, Steps: 1 << 14, Time: 2 * time.Second}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := Parse(text, Options{})
		if err != nil {
			return
		}
		parsed.Literals()
		a, errA := parsed.Render(testValues, limits)
		if len(a.Output) > limits.Output {
			t.Fatalf("%d bytes", len(a.Output))
		}
		b, errB := parsed.Render(testValues, limits)
		if strings.Contains(text, "timestamp") {
			return
		}
		if (errA == nil) != (errB == nil) || string(a.Output) != string(b.Output) {
			t.Fatalf("two renderings differ: %q %v, %q %v", a.Output, errA, b.Output, errB)
		}
	})
}

func BenchmarkRender(b *testing.B) {
	parsed, err := Parse("[db]\n{{with nomadVar \"nomad/jobs/web\"}}user={{.user}}\npass={{.pass}}{{end}}\n{{range nomadService \"db\"}}server {{.Address}}:{{.Port}};\n{{end}}", Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parsed.Render(testValues, DefaultLimits); err != nil {
			b.Fatal(err)
		}
	}
}
