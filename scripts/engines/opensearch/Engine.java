import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.codelibs.opensearch.runner.node.OpenSearchRunnerNode;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.index.reindex.ReindexPlugin;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.transport.Netty4Plugin;

/**
 * A single OpenSearch node on the loopback interface: Engine FOLDER HTTP_PORT TRANSPORT_PORT. It is started without the
 * bootstrap class, whose checks (user, limits of the kernel) are for installations that hold data.
 */
public final class Engine {
  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    Settings settings = Settings.builder()
        .put("path.home", folder)
        .put("path.data", folder.resolve("data"))
        .put("path.logs", folder.resolve("logs"))
        .put("path.repo", folder.resolve("snapshots"))
        .put("cluster.name", "depot-test")
        .put("node.name", "depot-test")
        .put("network.host", "127.0.0.1")
        .put("http.port", args[1])
        .put("transport.port", args[2])
        .put("discovery.type", "single-node")
        .put("action.auto_create_index", false)
        // A full disk of a test machine is no reason to refuse writes.
        .put("cluster.routing.allocation.disk.threshold_enabled", false)
        .build();
    OpenSearchRunnerNode node = new OpenSearchRunnerNode(
        new Environment(settings, folder.resolve("config")),
        List.of(Netty4Plugin.class, CommonAnalysisPlugin.class, PainlessPlugin.class, ReindexPlugin.class));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        node.close();
      } catch (Exception error) {
        error.printStackTrace();
      }
    }));
    node.start();
    new CountDownLatch(1).await();
  }
}
