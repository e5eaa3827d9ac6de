package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// flagTypes are the types of flags, with what a value of one is, and an example.
var flagTypes = map[string]struct{ what, example string }{
	"bool":     {"neither true nor false", "true"},
	"int":      {"not a whole number", "3"},
	"int32":    {"not a whole number", "3"},
	"int64":    {"not a whole number", "3"},
	"level":    {"not a whole number", "6"},
	"float64":  {"not a number", "20"},
	"duration": {"not a duration", "40s"},
}

// flagError says what is wrong with a flag without the words of the library that
// parsed it, which are Go's.
func flagError(err error) error {
	invalid := (*pflag.InvalidValueError)(nil)
	if !errors.As(err, &invalid) {
		return err
	}
	f := invalid.GetFlag()
	is, known := flagTypes[f.Value.Type()]
	if !known {
		return err
	}
	name := "--" + f.Name
	if len(f.Name) == 1 {
		name = "-" + f.Name
	}
	if errors.Is(err, strconv.ErrRange) {
		is.what += ", or too large"
	}
	return hinted{fmt.Errorf("%s %q is %s", name, invalid.GetValue(), is.what), name + " " + is.example}
}
