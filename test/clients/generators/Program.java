// Calls an instance with the client that openapi-generator made.
import java.io.File;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class Program {
  static void expect(boolean isTrue, String text) {
    if (!isTrue) throw new AssertionError(text);
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("DEPOT_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", System.getenv("DEPOT_TOKEN")));
    var json = client.getObjectMapper();
    var projects = new ProjectsApi(client);

    var found = new SearchApi(client).searchProjects("lantern", 5, null, null, null, null, null, null);
    expect(found.getTotalHits() >= 1, "the search finds nothing");
    expect(projects.getProject(System.getenv("DEPOT_PROJECT")).getSlug().equals(System.getenv("DEPOT_PROJECT")), "slug");

    try {
      projects.getProject("no-such-project");
      throw new AssertionError("the project exists");
    } catch (ApiException failure) {
      var problem = json.readValue(failure.getResponseBody(), org.openapitools.client.model.Error.class);
      expect(problem.getError().equals("not_found"), failure.toString());
    }

    // This client cannot send a form without a file.
    var first = new InitialVersion().versionNumber("0.9.0").versionTitle("First spark")
        .releaseChannel(InitialVersion.ReleaseChannelEnum.BETA).loaders(List.of("fabric"))
        .gameVersions(List.of("1.20.1")).fileParts(List.of("file"));
    var draft = new ProjectCreate().name("Lantern of Java").slug("lantern-of-java").summary("Light for long nights.")
        .description("# Lantern").categories(List.of("magic")).licenseId("MIT").isDraft(true)
        .initialVersions(List.of(first));
    var project = projects.createProject(
        json.writeValueAsString(draft), null, new File(System.getenv("DEPOT_FIRST_JAR")));
    var wanted = new VersionCreate()
        .projectId(project.getId()).versionNumber("1.0.0").versionTitle("First light").versionBody("")
        .releaseChannel(VersionCreate.ReleaseChannelEnum.RELEASE).dependencies(List.of())
        .loaders(List.of("fabric")).gameVersions(List.of("1.20.1")).featured(false).fileParts(List.of("file"));
    var version = new VersionsApi(client)
        .createVersion(json.writeValueAsString(wanted), null, new File(System.getenv("DEPOT_JAR")));
    expect(version.getFiles().size() == 1, "the version has no file");

    var end = OffsetDateTime.now(ZoneOffset.UTC);
    var slices = new AnalyticsApi(client).queryAnalytics(new AnalyticsQuery()
        .timeRange(new AnalyticsQueryTimeRange().start(end.minusDays(1)).end(end)
            .resolution(new AnalyticsQueryTimeRangeResolution().slices(2)))
        .returnMetrics(new AnalyticsQueryReturnMetrics()
            .projectDownloads(new AnalyticsQueryReturnMetricsProjectDownloads()))
        .projectIds(List.of(project.getId())));
    expect(slices.size() == 2, "another number of slices");
  }
}
