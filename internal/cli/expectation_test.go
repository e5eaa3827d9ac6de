package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// reply is the output of one command line.
type reply struct {
	document any           // the output with -o json; nil without an answer
	screen   func() string // the output without -o
	errors   string
	status   int
	again    func(words []string) (reply, error) // runs another command on the same input
}

// check returns nil if a reply is as expected, and otherwise the actual value.
type check func(reply) error

// The words of the notation. Any other word in expect.txt is an error, because no answer could
// match it.
var (
	reasonWords    = append(toStrings(explain.Reasons), toStrings(daemonset.Reasons)...)
	verdictWords   = toStrings(explain.VerdictCodes)
	outcomeWords   = append(toStrings(plan.OutcomeCodes), "MayComplete")
	whoWords       = strings.Fields("ThisChange Template Node NodeProperty OtherWorkload MissingObject Registry Policy Injection Controller Strategy Platform Unknown")
	certaintyWords = strings.Fields("Certain Likely Possible Unknown")
	subjectWords   = strings.Fields("NodeCondition NodeResource HostPort Image Container Injected Volume Reference CSIDriver Network Gate Quota Class Policy SCC Webhook Controller Strategy Placement Unspecified")
	remedyWords    = strings.Fields("RollBack RaiseMaxUnavailable RaiseMaxSurge NoSurge ExcludeNodes RemoveNode RepairNodes DeletePods Tolerate RaiseQuota CreateObject CreatePriorityClass FreePort MakeRoom FreeDisk LowerRequest CorrectTemplate PublishImage OutOfService AskOwner ReadLogs Wait")
)

func toStrings[T ~string](words []T) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return all
}

// parseExpectation parses a line of expect.txt without its "todo".
func parseExpectation(text string) (check, error) {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "verdict:":
		return parseCode("verdict.code", rest, verdictWords)
	case "outcome:":
		return parseCode("outcome.code", rest, outcomeWords)
	case "field":
		return parseField(rest)
	case "same:":
		return parseSame(rest)
	case "first:", "helps:", "not:":
		return parseRemedy(word, rest)
	case "no":
		if rest == "fix" {
			return noFix, nil
		}
	case "says:", "never:", "headline:", "stderr:":
		return parseText(word, rest)
	case "one":
		if rest == "denominator" {
			return oneDenominator, nil
		}
	case "exit:":
		want, err := strconv.Atoi(rest)
		return func(r reply) error {
			return unless(r.status == want, "status %d: %s", r.status, r.errors)
		}, err
	}
	return parseProblem(text)
}

func unless(ok bool, got string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(got, args...)
}

// oneOf splits A|B. All words must be known.
func oneOf(words string, known []string) ([]string, error) {
	split := strings.Split(words, "|")
	for _, w := range split {
		if !slices.Contains(known, w) {
			return nil, fmt.Errorf("unknown word %q", w)
		}
	}
	return split, nil
}

// at returns the value at a path of a document. items.0.code is the code of the first item, and
// items.# is the number of items.
func at(document any, path string) (any, error) {
	here := document
	for _, step := range strings.Split(path, ".") {
		found := false
		switch parent := here.(type) {
		case map[string]any:
			here, found = parent[step]
		case []any:
			if step == "#" {
				here, found = float64(len(parent)), true
			} else if i, err := strconv.Atoi(step); err == nil && i < len(parent) {
				here, found = parent[i], true
			}
		}
		if !found {
			return nil, fmt.Errorf("the document has no %s", path)
		}
	}
	return here, nil
}

func parseCode(path, codes string, known []string) (check, error) {
	want, err := oneOf(codes, known)
	return func(r reply) error {
		got, err := at(r.document, path)
		if err != nil {
			return err
		}
		return unless(slices.Contains(want, text(got)), "%s", text(got))
	}, err
}

// text formats a value in the notation of expect.txt.
func text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	b, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func parseField(rest string) (check, error) {
	words := strings.SplitN(rest, " ", 3)
	if len(words) < 3 {
		return nil, errors.New("want: field PATH OP VALUE")
	}
	path, op := words[0], words[1]
	var want any = words[2]
	if err := json.Unmarshal([]byte(words[2]), &want); err != nil {
		want = words[2] // a string without quotes
	}
	bound, isNumber := want.(float64)
	var holds func(got any) bool
	switch {
	case op == "=":
		holds = func(got any) bool { return reflect.DeepEqual(got, want) }
	case op == "!=":
		holds = func(got any) bool { return !reflect.DeepEqual(got, want) }
	case op == "<=" && isNumber:
		holds = func(got any) bool { n, is := got.(float64); return is && n <= bound }
	case op == ">=" && isNumber:
		holds = func(got any) bool { n, is := got.(float64); return is && n >= bound }
	default:
		return nil, fmt.Errorf("%s %s compares nothing", op, words[2])
	}
	return func(r reply) error {
		got, err := at(r.document, path)
		if err != nil {
			return err
		}
		return unless(holds(got), "%s", text(got))
	}, nil
}

func parseSame(rest string) (check, error) {
	m := regexp.MustCompile(`^(\S+) = (\S+) of (.+)$`).FindStringSubmatch(rest)
	if m == nil {
		return nil, errors.New("want: same: PATH = PATH of COMMAND")
	}
	return func(r reply) error {
		other, err := r.again(pastedWords(m[3]))
		if err != nil {
			return err
		}
		here, err := at(r.document, m[1])
		if err != nil {
			return err
		}
		there, err := at(other.document, m[2])
		if err != nil {
			return err
		}
		return unless(reflect.DeepEqual(here, there), "%s, and %s of the other", text(here), text(there))
	}, nil
}

// parseText parses the expected text of a screen or of standard error. "A | B" accepts either text;
// "A … B" requires both in this order.
func parseText(word, rest string) (check, error) {
	if rest == "" {
		return nil, errors.New("no text")
	}
	has := func(in string) bool {
		return slices.ContainsFunc(strings.Split(rest, " | "), func(words string) bool {
			left, found := oneLine(in), true
			for _, part := range strings.Split(words, " … ") {
				if _, left, found = strings.Cut(left, part); !found {
					return false
				}
			}
			return true
		})
	}
	return func(r reply) error {
		if word == "stderr:" {
			return unless(has(r.errors), "stderr: %s", r.errors)
		}
		in := r.screen()
		switch {
		case in == "":
			return errors.New("no screen")
		case word == "headline:":
			in, _, _ = strings.Cut(in, "\n")
			return unless(has(in), "%s", in)
		case word == "says:":
			return unless(has(in), "not on the screen")
		}
		return unless(!has(in), "on the screen")
	}, nil
}

// oneLine replaces all white space by single spaces.
func oneLine(words string) string {
	return strings.Join(strings.Fields(words), " ")
}

func oneDenominator(r reply) error {
	var of []string
	for _, m := range regexp.MustCompile(`\b\d+ of (\d+)\b`).FindAllStringSubmatch(oneLine(r.screen()), -1) {
		of = append(of, m[1])
	}
	slices.Sort(of)
	of = slices.Compact(of)
	return unless(len(of) == 1, "of %v", of)
}

// listOf returns a list in the document: from one or several explanations, or from the outcome of a
// plan.
func listOf(document any, name string) ([]any, error) {
	kind, _ := at(document, "kind")
	paths := []string{name}
	switch kind {
	case "RolloutPlan":
		paths[0] = "outcome." + name
	case "ExplanationList":
		items, err := at(document, "items.#")
		if err != nil {
			return nil, err
		}
		paths = nil
		for i := range int(items.(float64)) {
			paths = append(paths, fmt.Sprintf("items.%d.%s", i, name))
		}
	}
	var all []any
	for _, path := range paths {
		found, err := at(document, path)
		if err != nil {
			return nil, err
		}
		list, ok := found.([]any)
		if !ok {
			return nil, fmt.Errorf("%s is no list", path)
		}
		all = append(all, list...)
	}
	return all, nil
}

// fieldText returns a field of a list item as text, or "" if it is missing.
func fieldText(member any, path string) string {
	value, err := at(member, path)
	if err != nil || value == nil {
		return ""
	}
	return text(value)
}

// nodeList returns the sorted nodes of a problem or a remedy.
func nodeList(member any) []string {
	var names []string
	if nodes, err := at(member, "nodes"); err == nil {
		list, _ := nodes.([]any)
		for _, n := range list {
			names = append(names, text(n))
		}
	}
	return slices.Sorted(slices.Values(names))
}

// parseNodes parses A,B. It returns nil for an empty text.
func parseNodes(names string) []string {
	if names == "" {
		return nil
	}
	return slices.Sorted(slices.Values(strings.Split(names, ",")))
}

// actualValue describes the actual value for the message of a failure.
func actualValue(of string, members []any, as func(any) string) error {
	if len(members) == 0 {
		return fmt.Errorf("the document has no %s", of)
	}
	var all []string
	for _, m := range members {
		all = append(all, as(m))
	}
	return errors.New(strings.Join(all, "; "))
}

var problemForm = regexp.MustCompile(`^([A-Z][A-Za-z|]*|\*)(?: on (\S+))?: (!?)(\S+)(?: (.+))?$`)

// parseProblem parses CODE [on NODES]: WHO [CERTAINTY] [KIND] [NAME].
func parseProblem(line string) (check, error) {
	m := problemForm.FindStringSubmatch(line)
	if m == nil {
		return nil, errors.New("no expectation has this form")
	}
	var err error
	words := func(words string, known []string) []string {
		if words == "*" || err != nil {
			return nil
		}
		var split []string
		split, err = oneOf(words, known)
		return split
	}
	codes, nodes := words(m[1], reasonWords), parseNodes(m[2])
	butNot, who := m[3] == "!", words(m[4], whoWords)
	var certainty, kind []string
	word, rest, _ := strings.Cut(m[5], " ")
	if slices.Contains(certaintyWords, word) {
		certainty = []string{word}
		word, rest, _ = strings.Cut(rest, " ")
	}
	if word != "" {
		kind = words(word, subjectWords)
	}
	name := strings.Trim(rest, `"`)
	if err != nil {
		return nil, err
	}

	isOne := func(want []string, got string) bool { return want == nil || slices.Contains(want, got) }
	meets := func(problem any) bool {
		by := fieldText(problem, "blame.who")
		return isOne(codes, fieldText(problem, "code")) &&
			(nodes == nil || slices.Equal(nodes, nodeList(problem))) &&
			(who == nil || by != "" && slices.Contains(who, by) != butNot) &&
			isOne(certainty, fieldText(problem, "blame.certainty")) &&
			isOne(kind, fieldText(problem, "subject.kind")) &&
			(name == "" || slices.Contains([]string{fieldText(problem, "subject.name"), fieldText(problem, "subject.key")}, name))
	}
	return func(r reply) error {
		problems, err := listOf(r.document, "problems")
		if err != nil {
			return err
		}
		if slices.ContainsFunc(problems, meets) {
			return nil
		}
		return actualValue("problems", problems, func(problem any) string {
			nodes := ""
			if of := nodeList(problem); of != nil {
				nodes = " on " + strings.Join(of, ",")
			}
			return oneLine(fmt.Sprintf("%s%s: %s %s %s %s", fieldText(problem, "code"), nodes, cmp.Or(fieldText(problem, "blame.who"), "?"),
				fieldText(problem, "blame.certainty"), fieldText(problem, "subject.kind"), cmp.Or(fieldText(problem, "subject.name"), fieldText(problem, "subject.key"))))
		})
	}, nil
}

var remedyForm = regexp.MustCompile(`^([A-Za-z|]+)(?: (\S+))??(?: on (\S+))?$`)

// parseRemedy parses CODE [VALUE] [on NODES]. word is the word that starts the expectation.
func parseRemedy(word, rest string) (check, error) {
	m := remedyForm.FindStringSubmatch(rest)
	if m == nil {
		return nil, fmt.Errorf("want: %s CODE [VALUE] [on NODES]", word)
	}
	codes, err := oneOf(m[1], remedyWords)
	if err != nil {
		return nil, err
	}
	value, nodes := m[2], parseNodes(m[3])
	meets := func(remedy any) bool {
		return slices.Contains(codes, fieldText(remedy, "code")) &&
			(value == "" || value == fieldText(remedy, "value")) &&
			(nodes == nil || slices.Equal(nodes, nodeList(remedy)))
	}
	helps := func(remedy any) bool { return fieldText(remedy, "worth") == "Helps" }
	mayHelp := func(remedy any) bool { return helps(remedy) || fieldText(remedy, "worth") == "MayHelp" }
	return func(r reply) error {
		remedies, err := listOf(r.document, "remedies")
		if err != nil {
			return err
		}
		var met bool
		switch word {
		case "first:":
			i := slices.IndexFunc(remedies, helps)
			met = i >= 0 && meets(remedies[i])
		case "helps:":
			met = slices.ContainsFunc(remedies, func(remedy any) bool { return mayHelp(remedy) && meets(remedy) })
		case "not:":
			met = !slices.ContainsFunc(remedies, func(remedy any) bool { return mayHelp(remedy) && meets(remedy) })
		}
		if met {
			return nil
		}
		return actualValue("remedies", remedies, describeRemedy)
	}, nil
}

func noFix(r reply) error {
	remedies, err := listOf(r.document, "remedies")
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(remedies, func(remedy any) bool { return fieldText(remedy, "worth") == "Helps" }) {
		return nil
	}
	return actualValue("remedies", remedies, describeRemedy)
}

func describeRemedy(remedy any) string {
	return oneLine(fmt.Sprintf("%s: %s %s", cmp.Or(fieldText(remedy, "worth"), "?"), fieldText(remedy, "code"), fieldText(remedy, "value")))
}

// TestExpectations checks that each form of an expectation can succeed and fail.
func TestExpectations(t *testing.T) {
	const explanation = `{"kind": "Explanation", "verdict": {"code": "Stuck"}, "outlook": {"duration": {"optimistic": 60}},
		"problems": [
			{"code": "HostPortConflict", "nodes": ["b", "a"], "subject": {"kind": "HostPort", "name": "", "key": "9100/TCP"}, "blame": {"who": "ThisChange", "certainty": "Certain", "revision": 2}},
			{"code": "NotReady", "nodes": ["c"]}],
		"remedies": [
			{"code": "FreePort", "value": "", "worth": "MayHelp", "nodes": ["a", "b"]},
			{"code": "RollBack", "value": 1, "worth": "Helps", "nodes": ["a", "b"]},
			{"code": "RaiseMaxUnavailable", "value": 4, "worth": "Harms", "nodes": []}]}`
	const list = `{"kind": "ExplanationList", "items": [` + explanation + `]}`
	const rollout = `{"kind": "RolloutPlan", "problems": [], "outcome": {"code": "MayComplete", "holders": [],
		"duration": {"optimistic": 60}, "problems": [{"code": "EvictLoop", "nodes": ["a"], "blame": {"who": "Node"}}],
		"remedies": [{"code": "FreeDisk", "worth": "MayHelp"}, {"code": "RollBack", "value": "1", "worth": "Useless"}]}}`
	const none = `{"kind": "Explanation", "problems": [], "remedies": []}`
	const old = `{"kind": "Explanation", "problems": [{"code": "NotReady", "nodes": ["c"]}]}`
	const screen = "STUCK  ns/agent: 2 of 5 pods updated\n\nFault     revision 2 added\n          the port\nFix       kubectl rollout undo\nOutlook   stays at 3 of 5\n"
	for _, tt := range []struct{ text, document, want string }{
		{"verdict: Stuck", explanation, ""},
		{"verdict: Healthy|Stuck", explanation, ""},
		{"verdict: Healthy", explanation, "Stuck"},
		{"verdict: Stuck", rollout, "the document has no verdict.code"},
		{"outcome: MayComplete", rollout, ""},
		{"outcome: Completes", rollout, "MayComplete"},

		{"field outlook.duration.optimistic >= 60", explanation, ""},
		{"field outlook.duration.optimistic >= 61", explanation, "60"},
		{"field outlook.duration.optimistic <= 60", explanation, ""},
		{"field outlook.duration.optimistic <= 59", explanation, "60"},
		{"field outlook.duration >= 1", explanation, `{"optimistic":60}`},
		{"field verdict.code = Stuck", explanation, ""},
		{"field verdict.code = Healthy", explanation, "Stuck"},
		{"field verdict.code != Healthy", explanation, ""},
		{"field verdict.code != Stuck", explanation, "Stuck"},
		{"field problems.0.blame.revision = 2", explanation, ""},
		{"field problems.1.blame.revision = 2", explanation, "the document has no problems.1.blame.revision"},
		{"field problems.2.code != X", explanation, "the document has no problems.2.code"},
		{"field problems.# = 2", explanation, ""},
		{"field problems.# = 3", explanation, "2"},
		{"field outcome.holders = []", rollout, ""},
		{"field problems = []", old, `[{"code":"NotReady","nodes":["c"]}]`},
		{"field verdict.code != Stuck", "", "the document has no verdict.code"},
		{"same: outlook.duration = outcome.duration of plan-rollout", explanation, ""},
		{"same: outlook.duration = outcome.duration of plan-rollout --restart", explanation, `{"optimistic":60}, and {} of the other`},
		{"same: outlook = outcome.duration of plan-rollout", rollout, "the document has no outlook"},
		{"same: outlook.duration = outcome.end of plan-rollout", explanation, "the document has no outcome.end"},
		{"same: outlook.duration = outcome.duration of nothing", explanation, "nothing cannot be asked"},

		{"HostPortConflict: ThisChange", explanation, ""},
		{"HostPortConflict: ThisChange", list, ""},
		{"HostPortConflict on a,b: ThisChange Certain HostPort 9100/TCP", explanation, ""},
		{`NotReady|HostPortConflict on b,a: Node|ThisChange HostPort|Volume "9100/TCP"`, explanation, ""},
		{"* on a,b: * * 9100/TCP", explanation, ""},
		{"* on c: *", explanation, ""},
		{"HostPortConflict: !Node", explanation, ""},
		{"HostPortConflict: !ThisChange", explanation, "HostPortConflict on a,b: ThisChange Certain HostPort 9100/TCP; NotReady on c: ?"},
		{"NotReady: !ThisChange", old, "NotReady on c: ?"},
		{"HostPortConflict on a: ThisChange", explanation, "HostPortConflict on a,b: ThisChange Certain HostPort 9100/TCP; NotReady on c: ?"},
		{"HostPortConflict: Node", explanation, "HostPortConflict on a,b: ThisChange Certain HostPort 9100/TCP; NotReady on c: ?"},
		{"HostPortConflict: ThisChange Likely", explanation, "HostPortConflict on a,b: ThisChange Certain HostPort 9100/TCP; NotReady on c: ?"},
		{"HostPortConflict: ThisChange Volume", explanation, "HostPortConflict on a,b: ThisChange Certain HostPort 9100/TCP; NotReady on c: ?"},
		{"HostPortConflict: ThisChange HostPort 9101/TCP", explanation, "HostPortConflict on a,b: ThisChange Certain HostPort 9100/TCP; NotReady on c: ?"},
		{"EvictLoop: ThisChange", explanation, "HostPortConflict on a,b: ThisChange Certain HostPort 9100/TCP; NotReady on c: ?"},
		{"EvictLoop: Node", rollout, ""},
		{"EvictLoop: Node NodeCondition", rollout, "EvictLoop on a: Node"},
		{"EvictLoop: Node", none, "the document has no problems"},
		{"EvictLoop: Node", "", "the document has no problems"},

		{"first: RollBack", explanation, ""},
		{"first: RollBack 1 on a,b", list, ""},
		{"first: RollBack on b,a", explanation, ""},
		{"first: FreePort", explanation, "MayHelp: FreePort; Helps: RollBack 1; Harms: RaiseMaxUnavailable 4"},
		{"first: RollBack 2", explanation, "MayHelp: FreePort; Helps: RollBack 1; Harms: RaiseMaxUnavailable 4"},
		{"first: RollBack on a", explanation, "MayHelp: FreePort; Helps: RollBack 1; Harms: RaiseMaxUnavailable 4"},
		{"first: FreeDisk", rollout, "MayHelp: FreeDisk; Useless: RollBack 1"},
		{"first: RollBack", none, "the document has no remedies"},
		{"helps: FreePort", explanation, ""},
		{"helps: FreeDisk|RollBack 1", explanation, ""},
		{"helps: RaiseMaxUnavailable 4", explanation, "MayHelp: FreePort; Helps: RollBack 1; Harms: RaiseMaxUnavailable 4"},
		{"helps: RollBack", rollout, "MayHelp: FreeDisk; Useless: RollBack 1"},
		{"not: RaiseMaxUnavailable", explanation, ""},
		{"not: RollBack 2", explanation, ""},
		{"not: RollBack 1", explanation, "MayHelp: FreePort; Helps: RollBack 1; Harms: RaiseMaxUnavailable 4"},
		{"not: FreePort", explanation, "MayHelp: FreePort; Helps: RollBack 1; Harms: RaiseMaxUnavailable 4"},
		{"not: RollBack", rollout, ""},
		{"not: RollBack", none, ""},
		{"not: RollBack", old, "the document has no remedies"},
		{"no fix", rollout, ""},
		{"no fix", explanation, "MayHelp: FreePort; Helps: RollBack 1; Harms: RaiseMaxUnavailable 4"},
		{"no fix", old, "the document has no remedies"},

		{"says: Fault revision 2 added the port", none, ""},
		{"says: roll back | rollout undo", none, ""},
		{"says: Fault … undo", none, ""},
		{"says: undo … Fault", none, "not on the screen"},
		{"says: roll back", none, "not on the screen"},
		{"never: roll back", none, ""},
		{"never: undo … Fault", none, ""},
		{"never: roll back | undo", none, "on the screen"},
		{"never: roll back", "", "no screen"},
		{"headline: STUCK ns/agent", none, ""},
		{"headline: Fault", none, "STUCK  ns/agent: 2 of 5 pods updated"},
		{"one denominator", none, ""},
		{"one denominator", rollout, "of [5 6]"},
		{"one denominator", "", "of []"},
		{"exit: 0", none, ""},
		{"exit: 1", none, "status 0: note: no events"},
		{"stderr: no events", none, ""},
		{"stderr: no nodes", none, "stderr: note: no events"},
	} {
		expected, err := parseExpectation(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		r := reply{errors: "note: no events", screen: func() string {
			switch tt.document {
			case "":
				return ""
			case rollout:
				return screen + "4 of 6"
			}
			return screen
		}}
		decode := func(document string) (decoded any) {
			if document != "" {
				if err := json.Unmarshal([]byte(document), &decoded); err != nil {
					t.Fatal(err)
				}
			}
			return decoded
		}
		r.document = decode(tt.document)
		r.again = func(words []string) (reply, error) {
			switch {
			case words[0] != "plan-rollout":
				return reply{}, fmt.Errorf("%s cannot be asked", words[0])
			case len(words) > 1:
				return reply{document: decode(`{"outcome": {"duration": {}}}`)}, nil
			}
			return reply{document: decode(rollout)}, nil
		}
		got := ""
		if err := expected(r); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestTrials checks that unused lines of expect.txt, and inputs that it does not mention, are
// errors.
func TestTrials(t *testing.T) {
	const whole = "# a\nstates/a.json\n$ explain\nverdict: Stuck\ntodo no fix\n\nincidents/b.yaml -n x y\n$ plan-rollout -f c.yaml\nno fix\n$ explain -A\nno fix\n"
	for _, tt := range []struct{ text, want string }{
		{whole, ""},
		{"verdict: Stuck", `expect.txt:1: "verdict: Stuck" is before the first input`},
		{"$ explain", `expect.txt:1: "$ explain" is before the first input`},
		{"states/a.json\nverdict: Stuck", `expect.txt:2: "verdict: Stuck" is before the first command`},
		{"states/a.json", "states/a.json: no command"},
		{"states/a.json\nstates/b.json", "expect.txt:2: states/a.json: no command"},
		{"states/a.json\n$ explain", `states/a.json: nothing is expected of "explain"`},
		{"states/a.json\n$ explain\n$ explain -A", `expect.txt:3: states/a.json: nothing is expected of "explain"`},
		{whole + "states/a.json", "expect.txt:12: a second case of states/a.json"},
		{whole + "seems: Stuck", "expect.txt:12: no expectation has this form"},
		{whole + "verdict: Stukc", `expect.txt:12: unknown word "Stukc"`},
		{whole + "outcome: Ends", `expect.txt:12: unknown word "Ends"`},
		{whole + "field verdict.code Stuck", "expect.txt:12: want: field PATH OP VALUE"},
		{whole + "field verdict.code >= Stuck", "expect.txt:12: >= Stuck compares nothing"},
		{whole + "field verdict.code ~ 1", "expect.txt:12: ~ 1 compares nothing"},
		{whole + "same: a = b", "expect.txt:12: want: same: PATH = PATH of COMMAND"},
		{whole + "first: Roll back to it", "expect.txt:12: want: first: CODE [VALUE] [on NODES]"},
		{whole + "todo first: GoBack", `expect.txt:12: unknown word "GoBack"`},
		{whole + "not:", "expect.txt:12: want: not: CODE [VALUE] [on NODES]"},
		{whole + "no idea", "expect.txt:12: no expectation has this form"},
		{whole + "one thing", "expect.txt:12: no expectation has this form"},
		{whole + "says:", "expect.txt:12: no text"},
		{whole + "exit: ok", `expect.txt:12: strconv.Atoi: parsing "ok": invalid syntax`},
		{whole + "Broken: Node", `expect.txt:12: unknown word "Broken"`},
		{whole + "NotReady: Somebody", `expect.txt:12: unknown word "Somebody"`},
		{whole + "NotReady: Node Certain Disk", `expect.txt:12: unknown word "Disk"`},
		{whole + "NotReady: Node DiskPressure", `expect.txt:12: unknown word "DiskPressure"`},
	} {
		_, err := readTrials(tt.text)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", strings.TrimPrefix(tt.text, whole), got, tt.want)
		}
	}

	trials, err := readTrials(whole)
	if err != nil {
		t.Fatal(err)
	}
	if got := unusedFiles(trials, []string{"states/a.json", "states/c.yaml", "incidents/b.yaml", "incidents/c.yaml"}); !slices.Equal(got, []string{"states/c.yaml"}) {
		t.Errorf("unread: %q", got)
	}
	for _, tt := range []struct{ got, want string }{
		{strings.Join(trials[0].line([]string{"explain", "--max", "1"}), " "), "explain --from testdata/cases/states/a.json " + stateArgs + " --max 1"},
		{strings.Join(trials[1].line(trials[1].commands[0].words), " "), "plan-rollout --from testdata/cases/incidents/b.yaml -n x y -f testdata/cases/incidents/c.yaml"},
		{strings.Join(trials[0].line(trials[1].commands[1].words), " "), "explain --from testdata/cases/states/a.json --now 2026-11-20T12:00:00Z --kubernetes-version v1.35.2 -A"},
	} {
		if tt.got != tt.want {
			t.Errorf("runs %q, want %q", tt.got, tt.want)
		}
	}
	if e := trials[0].commands[0].expects; len(e) != 2 || e[0].todo || !e[1].todo || e[1].at != "expect.txt:5" || e[1].text != "no fix" {
		t.Errorf("expects %+v", e)
	}

	// These are failures: a todo that holds, an expectation that does not hold, and an unexpected
	// error.
	for _, tt := range []struct {
		expects, document string
		status            int
		want              []string
	}{
		{"verdict: Stuck\ntodo no fix", `{"verdict": {"code": "Stuck"}}`, 0, nil},
		{"verdict: Stuck\ntodo no fix", `{"verdict": {"code": "Healthy"}, "remedies": []}`, 0, []string{
			`expect.txt:3: "explain -A": verdict: Stuck: Healthy`, `expect.txt:4: "explain -A": no fix: holds now: remove todo`}},
		{"todo verdict: Stuck", "null", 1, []string{`"explain -A" is an error: not found`}},
		{"exit: 1", "null", 1, nil},
		{"todo exit: 1", "null", 1, []string{`expect.txt:3: "explain -A": exit: 1: holds now: remove todo`}},
	} {
		trials, err := readTrials("states/a.json\n$ explain -A\n" + tt.expects)
		if err != nil {
			t.Fatal(err)
		}
		r := reply{status: tt.status, errors: "not found"}
		if err := json.Unmarshal([]byte(tt.document), &r.document); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, err := range trials[0].commands[0].judge(r) {
			got = append(got, err.Error())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.expects, got, tt.want)
		}
	}
}
