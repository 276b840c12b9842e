package casebook.logs;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;

/** A log as it lies there: plain, or packed by whoever rotated it. */
public final class Content {
  private static final int BUFFER = 1 << 16;

  private Content() {}

  /** Packed files can only be read from their beginning. */
  public static boolean packed(String name) {
    return name.endsWith(".gz");
  }

  /** The file's bytes, unpacked. */
  public static InputStream unpacked(String name, InputStream raw) throws IOException {
    return packed(name) ? new GZIPInputStream(new BufferedInputStream(raw, BUFFER), BUFFER) : raw;
  }

  /**
   * The lines that begin in a part of a file.
   *
   * @param stream at byte {@code max(0, start - 1)}: the line end before the part tells whether its first line is whole
   * @param start the part's first byte
   */
  public static Lines lines(InputStream stream, long start) throws IOException {
    Lines lines = new Lines(stream, Math.max(0, start - 1), Long.MAX_VALUE);
    if (start > 0) {
      lines.next();
    }
    return lines;
  }
}
