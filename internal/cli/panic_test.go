package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// brokenStream is a stream that panics.
type brokenStream struct{}

func (brokenStream) Read([]byte) (int, error)  { return 0, brokenStream{}.fail() }
func (brokenStream) Write([]byte) (int, error) { return 0, brokenStream{}.fail() }
func (brokenStream) fail() error {
	var none []error
	return none[0]
}

// secretStream is a stream that panics with a message that may contain a secret.
type secretStream struct{}

func (secretStream) Write([]byte) (int, error) { panic("token=sesame") }

// TestPanic checks that a panic gives exit status 1 and a bug report. The report omits the message
// of a panic that is not a runtime error.
func TestPanic(t *testing.T) {
	for _, tt := range []struct {
		why, want string
		args      string
		in        io.Reader
		out       io.Writer
	}{
		{"on the way out", "error: this is a bug in kubectl ds", "version", nil, brokenStream{}},
		{"in another goroutine, which reads", "error: this is a bug in kubectl ds", "explain --from -", brokenStream{}, &bytes.Buffer{}},
		{"what is said of it may be a secret", "error: this is a bug in kubectl ds: a panic", "version", nil, secretStream{}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var errs bytes.Buffer
			status := Main(append([]string{"kubectl-ds"}, strings.Fields(tt.args)...), tt.in, tt.out, &errs)
			lines := strings.SplitN(errs.String(), "\n", 3)
			if status != 1 || len(lines) != 3 || !strings.HasPrefix(lines[0], tt.want) || strings.Contains(errs.String(), "sesame") {
				t.Fatalf("status %d:\n%s", status, errs.String())
			}
			if hint := lines[1]; !strings.HasPrefix(hint, "hint: ") || !strings.Contains(hint, programVersion()) || !strings.Contains(hint, "https://github.com/kubectl-ds/kubectl-ds/issues") {
				t.Errorf("the hint is %q", hint)
			}
			if !strings.Contains(lines[2], "panic_test.go") {
				t.Errorf("the stack does not say where it was:\n%s", lines[2])
			}
		})
	}
}
