// Calls an instance with the client that openapi-generator made.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"time"

	depot "example.org/me/depot-go"
)

func check(err error) {
	if err != nil {
		var failure *depot.GenericOpenAPIError
		if errors.As(err, &failure) {
			log.Print(string(failure.Body()))
		}
		log.Fatal(err)
	}
}

func expect(isTrue bool, text string) {
	if !isTrue {
		log.Fatal(text)
	}
}

func main() {
	configuration := depot.NewConfiguration()
	configuration.Servers = depot.ServerConfigurations{{URL: os.Getenv("DEPOT_URL")}}
	configuration.UserAgent = "my-tool/1.0 (me@example.org)"
	client := depot.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), depot.ContextAPIKeys,
		map[string]depot.APIKey{"token": {Key: os.Getenv("DEPOT_TOKEN")}})

	found, _, err := client.SearchAPI.SearchProjects(ctx).Query("lantern").Limit(5).Execute()
	check(err)
	expect(found.TotalHits >= 1, "the search finds nothing")
	read, _, err := client.ProjectsAPI.GetProject(ctx, os.Getenv("DEPOT_PROJECT")).Execute()
	check(err)
	expect(read.GetSlug() == os.Getenv("DEPOT_PROJECT"), "another project")

	_, _, err = client.ProjectsAPI.GetProject(ctx, "no-such-project").Execute()
	var failure *depot.GenericOpenAPIError
	expect(errors.As(err, &failure), "the project exists")
	problem, ok := failure.Model().(depot.Error)
	expect(ok && problem.Error == "not_found", "another error")

	draft := depot.NewProjectCreate("Lantern of Go", "lantern-of-go", "Light for long nights.", "# Lantern",
		[]string{"magic"}, "MIT")
	draft.SetIsDraft(true)
	data, err := json.Marshal(draft)
	check(err)
	project, _, err := client.ProjectsAPI.CreateProject(ctx).Data(string(data)).Execute()
	check(err)

	wanted := depot.NewVersionCreate()
	wanted.SetProjectId(project.Id)
	wanted.SetVersionNumber("1.0.0")
	wanted.SetVersionTitle("First light")
	wanted.SetVersionBody("")
	wanted.SetReleaseChannel("release")
	wanted.SetDependencies([]depot.InitialVersionDependency{})
	wanted.SetLoaders([]string{"fabric"})
	wanted.SetGameVersions([]string{"1.20.1"})
	wanted.SetFeatured(false)
	wanted.SetFileParts([]string{"file"})
	data, err = json.Marshal(wanted)
	check(err)
	jar, err := os.Open(os.Getenv("DEPOT_JAR"))
	check(err)
	version, _, err := client.VersionsAPI.CreateVersion(ctx).Data(string(data)).File(jar).Execute()
	check(err)
	expect(len(version.Files) == 1, "the version has no file")

	end := time.Now().UTC().Truncate(time.Millisecond)
	resolution := depot.NewAnalyticsQueryTimeRangeResolution()
	resolution.SetSlices(2)
	metrics := depot.NewAnalyticsQueryReturnMetrics()
	metrics.SetProjectDownloads(*depot.NewAnalyticsQueryReturnMetricsProjectDownloads())
	query := depot.NewAnalyticsQuery(*depot.NewAnalyticsQueryTimeRange(end.Add(-24*time.Hour), end, *resolution), *metrics)
	query.SetProjectIds([]string{project.Id})
	slices, _, err := client.AnalyticsAPI.QueryAnalytics(ctx).AnalyticsQuery(*query).Execute()
	check(err)
	expect(len(slices) == 2, "another number of slices")
}
