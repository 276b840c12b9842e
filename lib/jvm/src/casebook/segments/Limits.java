package casebook.segments;

import java.io.Serializable;

/**
 * What a reader will not go beyond, whatever a file says.
 *
 * @param batchBytes of a batch in the file
 * @param contentBytes of its records, decompressed
 * @param searchBytes of checksums computed in search of sound batches behind damage, a file
 */
public record Limits(int batchBytes, int contentBytes, long searchBytes) implements Serializable {
  public static final Limits USUAL = new Limits(128 << 20, 256 << 20, 8L << 30);

  /** What virtual machines give an array at most. */
  private static final int MOST_ARRAY = Integer.MAX_VALUE - 8;

  /** In a bundle a batch is held together with the one behind it, which must be seen before the first is believed. */
  public static final int MOST_BATCH_BYTES = (MOST_ARRAY - Window.CHUNK) / 2;

  /** A byte more tells what is as large from what is larger. */
  public static final int MOST_CONTENT_BYTES = 1 << 30;
}
