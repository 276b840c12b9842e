package casebook.segments;

import java.io.IOException;

/** A file that is a single segment. */
public final class OneSegment implements Segments {
  private final Open only;
  private boolean given;

  public OneSegment(FileRange range, ByteSource source) {
    only = new Open(range, source);
  }

  @Override
  public Open next() {
    Open now = given ? null : only;
    given = true;
    return now;
  }

  @Override
  public void close() throws IOException {
    only.source().close();
  }
}
