package casebook.logs;

/**
 * An entry whose meaning is known.
 *
 * @param kind what it means
 * @param time epoch milliseconds, or {@link Header#NO_TIME}
 * @param line its line, counted from the beginning of what was read
 * @param level {@code INFO} and so on; {@code null} where the line does not tell
 * @param logger who wrote it; {@code null} where the line does not tell
 * @param fields what else it tells
 * @param text the message with the lines after it
 */
public record Event(String kind, long time, long line, String level, String logger, Fields fields, String text) {}
