package casebook.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.Node;

/**
 * Asks brokers in Kafka's own protocol. It decodes, and draws no conclusion.
 *
 * <p>Each line of the input is a JSON object. The first has the client's {@code settings}, system {@code properties} of Java
 * that must not be in a command line, and its {@code patience} in ms. Others introduce a broker ({@code node}, {@code host}, {@code port}) or ask one: {@code id}, {@code node}, {@code api}, {@code oldest}
 * and {@code latest} version, {@code fields}, {@code blind}. Each line of the output answers one: {@code id}, {@code at} in epoch
 * ms, and {@code version} with {@code fields}, or {@code failure} with {@code why}. The end of the input ends the process.
 */
public final class Main {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int WAIT_MS = 20;
  private static final JsonNode END = JSON.createObjectNode();

  private final Map<Integer, Node> nodes = new HashMap<>();
  private final AdminClientConfig config;
  private final int patience;
  private final JsonGenerator output;
  private Connections discovering;
  private Connections blind;

  private Main(JsonNode first, JsonGenerator output) {
    this.output = output;
    patience = first.get("patience").intValue();
    first.get("properties").fields().forEachRemaining(each -> System.setProperty(each.getKey(), each.getValue().textValue()));
    config = new AdminClientConfig(JSON.convertValue(first.get("settings"), Map.class));
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8), 1 << 16);
    JsonGenerator output = JSON.getFactory().createGenerator(System.out).setRootValueSeparator(null);
    System.setOut(System.err); // log messages must not get between the answers
    try {
      new Main(JSON.readTree(input.readLine()), output).run(questions(input));
    } catch (RuntimeException | Error invalid) {
      Answer why = Answer.none(null, null, invalid);
      output.writeStartObject();
      output.writeStringField("invalid", why.why());
      output.writeEndObject();
      output.writeRaw('\n');
    }
    output.flush();
    System.exit(0); // a connection that hangs must not keep the process
  }

  private static BlockingQueue<JsonNode> questions(BufferedReader input) {
    BlockingQueue<JsonNode> lines = new LinkedBlockingQueue<>();
    Thread reader =
        new Thread(
            () -> {
              try {
                for (String line = input.readLine(); line != null; line = input.readLine()) {
                  lines.add(JSON.readTree(line));
                }
              } catch (IOException | OutOfMemoryError closed) {
                // the asking process has ended, or this one cannot go on
              }
              lines.add(END);
            });
    reader.setDaemon(true);
    reader.start();
    return lines;
  }

  private void run(BlockingQueue<JsonNode> lines) throws IOException, InterruptedException {
    discovering = inTime(() -> new Connections(config, patience, true, this::write));
    while (true) {
      boolean isIdle = discovering.isIdle() && (blind == null || blind.isIdle());
      JsonNode line = isIdle ? lines.poll(1, TimeUnit.HOURS) : lines.poll();
      while (line != null) {
        if (line == END) {
          return;
        }
        take(line);
        line = lines.poll();
      }
      discovering.poll(nodes, WAIT_MS);
      if (blind != null) {
        blind.poll(nodes, WAIT_MS);
      }
      output.flush();
    }
  }

  /** Makes a client, which first logs in at a token server or a Kerberos server: Kafka has no limit for it. */
  private Connections inTime(Supplier<Connections> made) throws InterruptedException {
    try {
      return CompletableFuture.supplyAsync(made).get(patience, TimeUnit.MILLISECONDS);
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof RuntimeException invalid ? invalid : new IllegalStateException(failed.getCause());
    } catch (TimeoutException late) {
      throw new IllegalStateException("the login did not end in time");
    }
  }

  private void take(JsonNode line) {
    int node = line.get("node").intValue();
    if (line.has("host")) {
      nodes.put(node, new Node(node, line.get("host").textValue(), line.get("port").intValue()));
      return;
    }
    long deadline = System.currentTimeMillis() + patience;
    Question question =
        new Question(
            line.get("id").longValue(),
            node,
            line.get("api").textValue(),
            line.get("oldest").shortValue(),
            line.get("latest").shortValue(),
            line.get("fields"),
            line.get("blind").booleanValue(),
            deadline);
    if (question.blind() && blind == null) {
      blind = new Connections(config, patience, false, this::write);
    }
    (question.blind() ? blind : discovering).ask(question);
  }

  private void write(Answer answer) {
    try {
      output.writeStartObject();
      output.writeNumberField("id", answer.question().id());
      output.writeNumberField("at", System.currentTimeMillis());
      if (answer.failure() == null) {
        output.writeNumberField("version", answer.version());
        output.writeFieldName("fields");
        output.writeTree(answer.fields());
      } else {
        output.writeStringField("failure", answer.failure());
        output.writeStringField("why", answer.why());
      }
      output.writeEndObject();
      output.writeRaw('\n');
    } catch (IOException closed) {
      System.exit(0); // the asking process has ended
    }
  }
}
