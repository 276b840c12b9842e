package casebook.segments;

import java.io.IOException;
import java.io.InputStream;

/**
 * A segment inside a bundle, which can be read only once, forwards. The end of a truncated bundle ends the segment; {@link #fault}
 * has the reason. The stream stays open for the rest of the bundle.
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

  /** Position of the next read. */
  public long reached() {
    return reached;
  }

  /** Reason why the bundle could not be read further; {@code null} when it could. */
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
