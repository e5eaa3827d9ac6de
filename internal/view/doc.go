// Package view renders the results of the commands as text, Markdown, HTML, JSON or YAML. Its functions take a result
// of a package in pkg, the command line and the style of the terminal. All prose for these results is in this package
// and the packages below it. They decide nothing.
package view
