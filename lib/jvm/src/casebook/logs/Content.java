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
}
