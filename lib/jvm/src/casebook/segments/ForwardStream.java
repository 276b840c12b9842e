package casebook.segments;

import java.io.IOException;
import java.io.InputStream;

/**
 * A segment inside a bundle: what has been read is gone. A bundle that breaks off ends the segment; {@link #fault} says so.
 * The stream stays open for what follows in the bundle.
 */
public final class ForwardStream implements ByteSource {
  private final InputStream stream;
  private long reached;
  private String fault;

  public ForwardStream(InputStream stream) {
    this.stream = stream;
  }

  @Override
  public int read(long position, byte[] into, int offset, int length) {
    int count = 0;
    try {
      skipTo(position);
      while (count < length && fault == null) {
        int more = stream.read(into, offset + count, length - count);
        if (more < 0) {
          break;
        }
        count += more;
        reached += more;
      }
    } catch (IOException error) {
      fault = "the bundle cannot be read on: " + error.getMessage();
    }
    return count;
  }

  private void skipTo(long position) throws IOException {
    if (fault == null && position > reached) {
      stream.skipNBytes(position - reached);
      reached = position;
    }
  }

  /** Where reading has come to. */
  public long reached() {
    return reached;
  }

  /** Why the bundle could not be read on; {@code null} when it could. */
  public String fault() {
    return fault;
  }

  @Override
  public boolean forwardOnly() {
    return true;
  }

  @Override
  public void close() {}
}
