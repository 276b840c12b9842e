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
}
