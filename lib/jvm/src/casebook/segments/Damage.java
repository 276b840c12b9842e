package casebook.segments;

/**
 * Bytes that could not be read as batches.
 *
 * @param position of the first byte
 * @param bytes their number
 * @param offset the offset in the header there; {@code null} when it is implausible
 * @param reason in words
 * @param tail the file ends in it, torn or in zeros, as in a copy of a segment during a write
 */
public record Damage(long position, long bytes, Long offset, String reason, boolean tail) {}
