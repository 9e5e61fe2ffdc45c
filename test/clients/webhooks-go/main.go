// Verifies a message of a webhook. Exits with 3 if the library rejects the message.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	var message struct {
		Headers map[string]string
		Body    string
	}
	var content struct{ Type string }
	headers := http.Header{}
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("DEPOT_SECRET"))
	if err == nil {
		err = json.Unmarshal([]byte(os.Getenv("DEPOT_MESSAGE")), &message)
	}
	if err != nil {
		panic(err)
	}
	for name, value := range message.Headers {
		headers.Set(name, value)
	}
	if err := webhook.Verify([]byte(message.Body), headers); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	if err := json.Unmarshal([]byte(message.Body), &content); err != nil {
		panic(err)
	}
	fmt.Println(content.Type)
}
