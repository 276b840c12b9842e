package casebook.wire;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A request to one broker.
 *
 * @param id number that its answer repeats
 * @param node the broker, as introduced to {@code Main}
 * @param blind sent without asking the broker first for the versions that it knows
 * @param deadline when it counts as not answered, epoch ms
 */
record Question(long id, int node, String api, short oldest, short latest, JsonNode fields, boolean blind, long deadline) {}
