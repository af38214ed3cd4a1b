// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"text/template"
)

// pure are the functions that depend on their arguments alone. The adapter bounds arguments and results of all of
// them; a function that multiplies its input bounds itself.
var pure = map[string]any{
	"base64Decode": base64Decode, "base64Encode": base64Encode, "base64URLDecode": base64URLDecode, "base64URLEncode": base64URLEncode,
	"toJSON": toJSON, "toJSONPretty": toJSONPretty, "toUnescapedJSON": toUnescapedJSON, "toYAML": toYAML, "toTOML": toTOML,
	"toLower": toLower, "toUpper": toUpper, "toTitle": toTitle,
	"parseJSON": parseJSON, "parseYAML": parseYAML, "parseInt": parseInt, "parseUint": parseUint, "parseFloat": parseFloat, "parseBool": parseBool,
	"split": split, "splitToMap": splitToMap, "join": join, "trim": trim, "trimPrefix": trimPrefix, "trimSuffix": trimSuffix, "trimSpace": trimSpace,
	"in": inList, "contains": contains, "containsAll": containsAll, "containsAny": containsAny, "containsNone": containsNone, "containsNotAll": containsNotAll,
	"byTag": byTag, "byMeta": byMeta, "explodeMap": explodeMap, "mergeMap": mergeMap,
	"add": add, "subtract": subtract, "multiply": multiply, "divide": divide, "modulo": modulo, "minimum": minimum, "maximum": maximum,
	"sha256Hex": sha256Hex, "md5sum": md5sum, "hmacSHA256Hex": hmacSHA256Hex, "timestamp": timestamp,
	"print": fmt.Sprint, "println": fmt.Sprintln, "html": html, "js": js, "urlquery": urlquery,
	"sprig_default": sprigDefault, "sprig_coalesce": coalesce, "sprig_ternary": ternary, "sprig_empty": isEmpty,
	"sprig_quote": quote, "sprig_squote": squote, "sprig_upper": toUpper, "sprig_lower": toLower, "sprig_title": toTitle,
	"sprig_trim": trimSpace, "sprig_trimAll": trim, "sprig_trimPrefix": trimPrefix, "sprig_trimSuffix": trimSuffix,
	"sprig_hasPrefix": hasPrefix, "sprig_hasSuffix": hasSuffix, "sprig_contains": hasText, "sprig_trunc": trunc, "sprig_nospace": nospace,
	"sprig_b64enc": base64Encode, "sprig_b64dec": base64Decode, "sprig_sha256sum": sha256Hex,
	"sprig_toString": toText, "sprig_int": toInt, "sprig_int64": toInt, "sprig_toJson": toJSON, "sprig_toPrettyJson": toJSONPretty, "sprig_fromJson": parseJSON,
	"sprig_list": list, "sprig_dict": dict, "sprig_get": get, "sprig_hasKey": hasKey, "sprig_keys": keys, "sprig_values": valuesOf, "sprig_has": has,
	"sprig_first": first, "sprig_last": last, "sprig_rest": rest, "sprig_append": appendTo, "sprig_concat": concat, "sprig_reverse": reverse,
	"sprig_uniq": uniq, "sprig_sortAlpha": sortAlpha, "sprig_join": join, "sprig_splitList": split,
	"sprig_add": sprigAdd, "sprig_sub": sprigSub, "sprig_mul": sprigMul, "sprig_div": sprigDiv, "sprig_mod": sprigMod, "sprig_min": sprigMin, "sprig_max": sprigMax,
}

// bound are the functions that need the execution: for values, or because their results can be much larger than
// their arguments.
var bound = map[string]func(*execution) any{
	"nomadVar":         func(x *execution) any { return x.nomadVar },
	"nomadVarExists":   func(x *execution) any { return x.nomadVarExists },
	"nomadVarList":     func(x *execution) any { return x.nomadVarList },
	"nomadVarListSafe": func(x *execution) any { return x.nomadVarListSafe },
	"nomadService":     func(x *execution) any { return x.nomadService },
	"nomadServices":    func(x *execution) any { return x.nomadServices },
	"env":              func(x *execution) any { return x.env },
	"envOrDefault":     func(x *execution) any { return x.envOrDefault },
	"mustEnv":          func(x *execution) any { return x.mustEnv },
	"file":             func(x *execution) any { return x.file },
	"loop":             func(x *execution) any { return x.loop },
	"indent":           func(x *execution) any { return x.indent },
	"replaceAll":       func(x *execution) any { return x.replaceAll },
	"regexMatch":       func(x *execution) any { return x.regexMatch },
	"regexReplaceAll":  func(x *execution) any { return x.regexReplaceAll },
	"printf":           func(x *execution) any { return x.printf },
	"sprig_indent":     func(x *execution) any { return x.indent },
	"sprig_nindent":    func(x *execution) any { return x.nindent },
	"sprig_repeat":     func(x *execution) any { return x.repeat },
	"sprig_replace":    func(x *execution) any { return x.replaceAll },
	"sprig_until":      func(x *execution) any { return x.until },
	"sprig_regexMatch": func(x *execution) any { return x.regexMatch },
	"sprig_regexReplaceAll": func(x *execution) any {
		return func(re, s, to string) (string, error) { return x.regexReplaceAll(re, to, s) }
	},
}

// stubs make the names known to the parser.
var stubs = func() template.FuncMap {
	m := template.FuncMap{}
	stub := func() string { return "" }
	for name := range pure {
		m[name] = stub
	}
	for name := range bound {
		m[name] = stub
	}
	m["scratch"] = stub
	return m
}()
