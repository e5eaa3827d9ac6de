package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
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

// flagError returns an error of the library that parses the flags in plain words,
// with the flag that may have been meant or how to write a value.
func flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		bare    *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { // kubectl's own are merged by now
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		return hinted{err, source.Meant("--", unknown.GetSpecifiedName(), names, cmd.CommandPath()+" --help")}
	case errors.As(err, &unknown):
		return hinted{fmt.Errorf("unknown flag: -%s", unknown.GetSpecifiedName()), cmd.CommandPath() + " --help"}
	case errors.As(err, &bare):
		return hinted{fmt.Errorf("%s has no value", nameOf(bare.GetFlag())), nameOf(bare.GetFlag()) + " " + placeholderOf(bare.GetFlag())}
	case !errors.As(err, &invalid):
		return err
	}
	f := invalid.GetFlag()
	is, known := flagTypes[f.Value.Type()]
	if !known {
		return err
	}
	if errors.Is(err, strconv.ErrRange) {
		is.what += ", or too large"
	}
	return hinted{fmt.Errorf("%s %q is %s", nameOf(f), invalid.GetValue(), is.what), nameOf(f) + " " + is.example}
}

// nameOf returns a flag as it is written on a command line.
func nameOf(f *pflag.Flag) string {
	if len(f.Name) == 1 {
		return "-" + f.Name
	}
	return "--" + f.Name
}
