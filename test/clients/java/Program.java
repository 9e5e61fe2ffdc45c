// The client for Java: publishing a project with a version, reading it, and taking it away.

import java.io.File;
import java.util.List;
import masecla.modrinth4j.client.agent.UserAgent;
import masecla.modrinth4j.endpoints.project.CreateProject.CreateProjectRequest;
import masecla.modrinth4j.endpoints.project.CreateProject.ProjectData;
import masecla.modrinth4j.endpoints.project.ModifyProject.ProjectModifications;
import masecla.modrinth4j.endpoints.version.CreateVersion.CreateVersionRequest;
import masecla.modrinth4j.endpoints.version.GetProjectVersions.GetProjectVersionsRequest;
import masecla.modrinth4j.main.ModrinthAPI;
import masecla.modrinth4j.model.project.ProjectType;
import masecla.modrinth4j.model.project.SupportStatus;
import masecla.modrinth4j.model.version.FileHash;
import masecla.modrinth4j.model.version.ProjectVersion.VersionType;

public class Program {
  public static void main(String[] args) throws Exception {
    var agent = UserAgent.builder().authorUsername("depot").projectName("tests").projectVersion("1.0").contact("tests").build();
    var api = ModrinthAPI.rateLimited(agent, System.getenv("DEPOT_URL") + "/v2", System.getenv("DEPOT_TOKEN"));
    String slug = "java-lantern";

    check(api.projects().checkSlugAvailability(slug).get(), "the slug is free");
    var data = ProjectData.builder().slug(slug).title("By Java").description("A light from Java").body("All of it.")
        .categories(List.of("magic")).additionalCategories(List.of()).clientSide(SupportStatus.REQUIRED)
        .serverSide(SupportStatus.OPTIONAL).licenseId("MIT").projectType(ProjectType.MOD).isDraft(true).donationUrls(List.of())
        .build();
    var project = api.projects().create(CreateProjectRequest.builder().data(data).build()).get();
    check(project.getTitle().equals("By Java"), "the project was created");
    check(!api.projects().checkSlugAvailability(slug).get(), "the slug is taken");

    var version = api.versions().createProjectVersion(CreateVersionRequest.builder().projectId(project.getId())
        .name("First light").versionNumber("1.0.0").changelog("All of it.").dependencies(List.of())
        .gameVersions(List.of("1.20.1")).versionType(VersionType.RELEASE).loaders(List.of("fabric")).featured(false)
        .files(new File(System.getenv("DEPOT_JAR"))).build()).get();
    check(version.getLoaders().equals(List.of("fabric")), "the version was published");
    check(api.versions().getVersion(version.getId()).get().getId().equals(version.getId()), "it is read by ID");
    var listed = api.versions().getProjectVersions(slug, GetProjectVersionsRequest.builder().loaders(List.of("fabric")).build()).get();
    check(listed.size() == 1, "it is listed");

    api.projects().modify(slug, ProjectModifications.builder().title("Edited by Java").build()).get();
    check(api.projects().get(slug).get().getTitle().equals("Edited by Java"), "the project was edited");
    check(api.projects().get("nothing-here").get() == null, "what is absent is null");
    var hash = System.getenv("DEPOT_SHA1");
    check(api.versions().files().getVersionByHash(FileHash.SHA1, hash).get().getId().equals(System.getenv("DEPOT_VERSION")), "a file is found");
    check(api.tags().getLoaders().get().size() > 0 && api.tags().getGameVersions().get().size() > 0, "tags are read");
    check(api.users().getSelf().get() != null, "the own user is read");

    api.versions().deleteProjectVersion(version.getId()).get();
    api.projects().delete(slug).get();
    check(api.projects().checkSlugAvailability(slug).get(), "the project is gone");
    System.exit(0);
  }

  private static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }
}
