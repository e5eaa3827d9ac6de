// Package view writes the answers of the commands: as text, Markdown, HTML, JSON or YAML. It takes an answer of pkg,
// the command line that asked and the style of the terminal. With the packages below it, it is the only one that holds
// prose; it decides nothing.
package view
