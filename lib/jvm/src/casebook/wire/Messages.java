package casebook.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;

/** Kafka's messages as JSON, by the converters that Kafka generates beside each of them. Only requests that read are known. */
final class Messages {
  private static final Set<ApiKeys> READS =
      EnumSet.of(
          ApiKeys.API_VERSIONS,
          ApiKeys.METADATA,
          ApiKeys.DESCRIBE_TOPIC_PARTITIONS,
          ApiKeys.DESCRIBE_CONFIGS,
          ApiKeys.DESCRIBE_LOG_DIRS,
          ApiKeys.DESCRIBE_QUORUM,
          ApiKeys.LIST_PARTITION_REASSIGNMENTS);

  private static final Map<Class<?>, MethodHandle> READERS = new ConcurrentHashMap<>();
  private static final Map<Class<?>, MethodHandle> WRITERS = new ConcurrentHashMap<>();

  private Messages() {}

  /** The request of a name in Kafka's protocol. */
  static ApiKeys api(String name) {
    ApiKeys api = ApiKeys.valueOf(name);
    if (!READS.contains(api)) {
      throw new IllegalArgumentException(name + " is not a request that only reads");
    }
    return api;
  }

  /** Builds a request from JSON in the newest version that broker, range and class share. It may have fields of other versions. */
  static AbstractRequest.Builder<AbstractRequest> request(ApiKeys api, short oldest, short latest, JsonNode fields) {
    short from = (short) Math.max(oldest, api.oldestVersion());
    short until = (short) Math.min(latest, api.latestVersion());
    return new AbstractRequest.Builder<>(api, from, until) {
      @Override
      public AbstractRequest build(short version) {
        ApiMessage message = (ApiMessage) call(READERS, api.messageType.newRequest().getClass(), "read", fields, version);
        return AbstractRequest.parseRequest(api, version, MessageUtil.toByteBuffer(message, version)).request;
      }
    };
  }

  /** The fields of an answer by their names in Kafka's protocol. */
  static JsonNode fields(AbstractResponse answer, short version) {
    return (JsonNode) call(WRITERS, answer.data().getClass(), "write", answer.data(), version);
  }

  private static Object call(Map<Class<?>, MethodHandle> known, Class<?> message, String name, Object argument, short version) {
    try {
      return known.computeIfAbsent(message, none -> find(message, name)).invoke(argument, version);
    } catch (RuntimeException | Error failed) {
      throw failed;
    } catch (Throwable failed) {
      throw new IllegalStateException(failed);
    }
  }

  private static MethodHandle find(Class<?> message, String name) {
    try {
      Class<?> converter = Class.forName(message.getName() + "JsonConverter");
      MethodType type =
          name.equals("read")
              ? MethodType.methodType(message, JsonNode.class, short.class)
              : MethodType.methodType(JsonNode.class, message, short.class);
      return MethodHandles.lookup().findStatic(converter, name, type);
    } catch (ReflectiveOperationException missing) {
      throw new IllegalStateException(missing);
    }
  }
}
