//go:build before124

// Empty: with an assembly file in the package, functions may have no body.
