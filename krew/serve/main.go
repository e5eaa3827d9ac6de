// Command serve serves a directory on the loopback interface, and prints its address. It
// stands in for a release's download page where krew is tried.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, http.FileServer(http.Dir(os.Args[1]))))
}
