package casebook.segments;

import java.io.Serializable;

/**
 * Upper limits of a reader, whatever the content of a file.
 *
 * @param batchBytes bytes of a batch in the file
 * @param contentBytes bytes of its records, decompressed
 * @param searchBytes bytes of checksums computed in search of sound batches after damage, for each file
 */
public record Limits(int batchBytes, int contentBytes, long searchBytes) implements Serializable {
  public static final Limits USUAL = new Limits(128 << 20, 256 << 20, 8L << 30);

  /** The largest array that JVMs allocate. */
  private static final int MOST_ARRAY = Integer.MAX_VALUE - 8;

  /** In a bundle, a batch and the next one are in memory together: the next one must confirm the first. */
  public static final int MOST_BATCH_BYTES = (MOST_ARRAY - Window.CHUNK) / 2;

  /** One byte more distinguishes content of exactly this size from larger content. */
  public static final int MOST_CONTENT_BYTES = 1 << 30;
}
