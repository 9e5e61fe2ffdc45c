// The Gradle plugin Minotaur: a build publishes a version, and replaces the description of its project.

import com.modrinth.minotaur.Minotaur;
import com.modrinth.minotaur.ModrinthExtension;
import com.modrinth.minotaur.TaskModrinthUpload;
import java.io.File;
import java.util.List;
import org.gradle.api.Action;
import org.gradle.api.Task;
import org.gradle.api.plugins.BasePlugin;
import org.gradle.testfixtures.ProjectBuilder;

public class Program {
  public static void main(String[] args) throws Exception {
    var project = ProjectBuilder.builder().withName("lantern").build();
    project.setVersion("7.0.0");
    project.getPluginManager().apply(BasePlugin.class);
    project.getPluginManager().apply(Minotaur.class);
    var settings = project.getExtensions().getByType(ModrinthExtension.class);
    settings.getApiUrl().set(System.getenv("DEPOT_URL") + "/v2");
    settings.getToken().set(System.getenv("DEPOT_TOKEN"));
    settings.getProjectId().set(System.getenv("DEPOT_PROJECT"));
    settings.getVersionType().set("beta");
    settings.getChangelog().set("By Gradle.");
    settings.getUploadFile().set(new File(System.getenv("DEPOT_JAR")));
    settings.getGameVersions().set(List.of("1.20.1"));
    settings.getLoaders().set(List.of("fabric"));
    settings.getSyncBodyFrom().set("Described by Gradle.");

    var upload = (TaskModrinthUpload) project.getTasks().getByName("modrinth");
    run(upload);
    check(upload.wasUploadSuccessful(), "the version was published");
    check(upload.newVersion.getVersionNumber().equals("7.0.0"), "it has the version of the build");
    check(upload.newVersion.getChangelog().equals("By Gradle."), "it has its changelog");
    check(upload.newVersion.getLoaders().equals(List.of("fabric")), "it has its loader");
    check(upload.newVersion.getFiles().size() == 1, "it has its file");
    run(project.getTasks().getByName("modrinthSyncBody"));
    System.exit(0);
  }

  private static void run(Task task) {
    for (Action<? super Task> action : task.getActions()) action.execute(task);
  }

  private static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }
}
