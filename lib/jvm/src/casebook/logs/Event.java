package casebook.logs;

/**
 * An entry that matches a wording.
 *
 * @param kind its meaning
 * @param time epoch milliseconds, or {@link Header#NO_TIME}
 * @param line its line, counted from the start of the part that was read
 * @param level {@code INFO} and so on; {@code null} if the line has none
 * @param logger its logger; {@code null} if the line has none
 * @param fields further values of the line
 * @param text the message with the lines after it
 */
public record Event(String kind, long time, long line, String level, String logger, Fields fields, String text) {}
