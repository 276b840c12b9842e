package casebook.segments;

/**
 * Bytes from which nothing was read.
 *
 * @param position of the first
 * @param bytes how many
 * @param offset what the header there states; {@code null} when that makes no sense
 * @param reason in words
 * @param tail the file ends in it, torn or in zeros, as a copy of a segment that is being written does
 */
public record Damage(long position, long bytes, Long offset, String reason, boolean tail) {}
