package casebook.wire;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * Outcome of a {@link Question}: the fields of its answer, or why there is none.
 *
 * @param version of the request and its answer
 * @param failure {@code AUTHENTICATION}, {@code NOT_CONNECTED}, {@code DISCONNECTED}, {@code TIMEOUT}, {@code UNSUPPORTED} or
 *     {@code UNREADABLE}; null for an answer
 */
record Answer(Question question, short version, JsonNode fields, String failure, String why) {
  static Answer of(Question question, short version, JsonNode fields) {
    return new Answer(question, version, fields, null, null);
  }

  static Answer none(Question question, String failure, String why) {
    return new Answer(question, (short) -1, null, failure, why);
  }

  static Answer none(Question question, String failure, Throwable cause) {
    StringBuilder why = new StringBuilder();
    for (Throwable at = cause; at != null && why.length() < 1000; at = at.getCause()) {
      String message = at.getMessage() == null ? "" : at.getMessage().lines().findFirst().orElse(""); // the others are a stack
      if (message.isEmpty() || why.indexOf(message) < 0) {
        why.append(why.isEmpty() ? "" : ": ").append(at.getClass().getSimpleName()).append(' ').append(message);
      }
    }
    return none(question, failure, why.toString());
  }
}
