package casebook.wire;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.clients.ApiVersions;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.ClientUtils;
import org.apache.kafka.clients.ManualMetadataUpdater;
import org.apache.kafka.clients.MetadataRecoveryStrategy;
import org.apache.kafka.clients.NetworkClient;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.Selector;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;

/** Connections to brokers by Kafka's own network client. Each broker has a queue; every question gets one answer. */
final class Connections implements AutoCloseable {
  private static final int PENDING_PER_BROKER = 4;
  private static final long BACKOFF_MS = 100;
  private static final long RETRY_MS = 3_000;
  private static final int LARGEST_ANSWER = 100 << 20; // an alert of TLS, read as an answer, would have 352 MB

  private final NetworkClient client;
  private final Map<Integer, Queue<Question>> waiting = new HashMap<>();
  private final Map<Long, Question> sent = new HashMap<>();
  private final Set<Integer> answered = new HashSet<>();
  private final Map<Integer, Long> retriedUntil = new HashMap<>();
  private final Consumer<Answer> answers;

  /**
   * @param discovers asks each broker first for the versions that it knows, which must not be asked of Kafka 0.9
   * @param answers receives the answers
   */
  Connections(AdminClientConfig config, int patienceMs, boolean discovers, Consumer<Answer> answers) {
    this.answers = answers;
    Metrics metrics = new Metrics();
    LogContext log = new LogContext();
    Selector selector =
        new Selector(
            LARGEST_ANSWER,
            config.getLong(AdminClientConfig.CONNECTIONS_MAX_IDLE_MS_CONFIG),
            metrics,
            Time.SYSTEM,
            "wire",
            Map.of(),
            false,
            ClientUtils.createChannelBuilder(config, Time.SYSTEM, log),
            log);
    client =
        new NetworkClient(
            selector,
            new ManualMetadataUpdater(),
            config.getString(AdminClientConfig.CLIENT_ID_CONFIG),
            PENDING_PER_BROKER,
            BACKOFF_MS,
            BACKOFF_MS,
            config.getInt(AdminClientConfig.SEND_BUFFER_CONFIG),
            config.getInt(AdminClientConfig.RECEIVE_BUFFER_CONFIG),
            patienceMs,
            patienceMs,
            patienceMs,
            Time.SYSTEM,
            discovers,
            new ApiVersions(),
            log,
            MetadataRecoveryStrategy.NONE);
  }

  void ask(Question question) {
    waiting.computeIfAbsent(question.node(), none -> new ArrayDeque<>()).add(question);
  }

  boolean isIdle() {
    return sent.isEmpty() && waiting.isEmpty();
  }

  /** Sends what can be sent, and waits up to some milliseconds for answers. */
  void poll(Map<Integer, Node> nodes, long most) {
    for (Iterator<Map.Entry<Integer, Queue<Question>>> each = waiting.entrySet().iterator(); each.hasNext(); ) {
      Map.Entry<Integer, Queue<Question>> one = each.next();
      send(nodes.get(one.getKey()), one.getValue());
      if (one.getValue().isEmpty()) {
        each.remove();
      }
    }
    if (isIdle()) {
      return;
    }
    try {
      client.poll(most, Time.SYSTEM.milliseconds()).forEach(ClientResponse::onComplete);
    } catch (OutOfMemoryError tooLarge) { // of an alert of TLS, read as an answer to SASL, whose size Kafka does not limit
      dropConnecting(nodes);
    } catch (RuntimeException unreadable) {
      List<Question> lost = new ArrayList<>(sent.values());
      sent.clear();
      lost.forEach(question -> client.disconnect(Integer.toString(question.node())));
      lost.forEach(question -> answers.accept(Answer.none(question, "UNREADABLE", unreadable)));
    }
  }

  private void dropConnecting(Map<Integer, Node> nodes) {
    waiting.forEach(
        (node, queue) -> {
          if (!client.isReady(nodes.get(node), Time.SYSTEM.milliseconds())) {
            client.disconnect(Integer.toString(node));
            drain(queue, question -> Answer.none(question, "DISCONNECTED", "the answer is not one of Kafka"));
          }
        });
    waiting.values().removeIf(Queue::isEmpty);
  }

  private void send(Node node, Queue<Question> queue) {
    long now = Time.SYSTEM.milliseconds();
    while (!queue.isEmpty() && queue.peek().deadline() < now) {
      answers.accept(Answer.none(queue.remove(), "TIMEOUT", "the broker did not accept the request in time"));
    }
    if (queue.isEmpty()) {
      return;
    }
    if (client.authenticationException(node) != null) {
      drain(queue, question -> Answer.none(question, "AUTHENTICATION", client.authenticationException(node)));
    } else if (client.connectionFailed(node) && !triesAgain(node.id(), now)) {
      drain(queue, question -> Answer.none(question, "NOT_CONNECTED", "the connection was refused, lost, or not made in time"));
    } else if (client.ready(node, now) && client.inFlightRequestCount(node.idString()) < PENDING_PER_BROKER) {
      send(queue.remove(), now);
    }
  }

  /** A broker that answered before is connected to once more: it may have restarted, or one request was too slow. */
  private boolean triesAgain(int node, long now) {
    return answered.contains(node) && now < retriedUntil.computeIfAbsent(node, none -> now + RETRY_MS);
  }

  private void send(Question question, long now) {
    try {
      AbstractRequest.Builder<AbstractRequest> request =
          Messages.request(Messages.api(question.api()), question.oldest(), question.latest(), question.fields());
      int patience = (int) Math.max(1, question.deadline() - now);
      sent.put(question.id(), question);
      client.send(
          client.newClientRequest(
              Integer.toString(question.node()), request, now, true, patience, answer -> complete(question, answer)),
          now);
    } catch (RuntimeException refused) {
      sent.remove(question.id());
      answers.accept(Answer.none(question, "UNSUPPORTED", refused));
    }
  }

  private void complete(Question question, ClientResponse answer) {
    if (sent.remove(question.id()) == null) {
      return;
    }
    if (answer.authenticationException() != null) {
      answers.accept(Answer.none(question, "AUTHENTICATION", answer.authenticationException()));
    } else if (answer.versionMismatch() != null) {
      answers.accept(Answer.none(question, "UNSUPPORTED", answer.versionMismatch()));
    } else if (answer.wasTimedOut()) {
      answers.accept(Answer.none(question, "TIMEOUT", "the broker did not answer in time"));
    } else if (!answer.hasResponse()) {
      answers.accept(Answer.none(question, "DISCONNECTED", "the broker closed the connection without an answer"));
    } else {
      answered.add(question.node());
      answers.accept(converted(question, answer));
    }
  }

  /** Every question gets its answer, also one whose answer is too large for this process. */
  private static Answer converted(Question question, ClientResponse answer) {
    short version = answer.requestHeader().apiVersion();
    try {
      return Answer.of(question, version, Messages.fields(answer.responseBody(), version));
    } catch (OutOfMemoryError | RuntimeException failed) {
      return Answer.none(question, "TOO_LARGE", "the answer is too large to be read, or not of Kafka");
    }
  }

  private void drain(Queue<Question> queue, java.util.function.Function<Question, Answer> none) {
    while (!queue.isEmpty()) {
      answers.accept(none.apply(queue.remove()));
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
