package casebook.packs;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Checks Zstandard frames before the library's reader gets them ({@code RFC 8878, 3.1}). That reader accepts a file without any
 * frame. It also accepts a cut last frame if the frame before it ended within the same read. This class reports both.
 */
public final class WholeFrames extends FilterInputStream {
  private static final long FRAME = 0xFD2FB528L;
  private static final long SKIPPABLE = 0x184D2A50L;
  private static final int[] BYTES_OF_DICTIONARY_ID = {0, 1, 2, 4};
  private static final int[] BYTES_OF_CONTENT_SIZE = {0, 2, 4, 8};
  private static final int REPEATED = 1;

  /** The field that is being read; after a frame of an unknown kind, the rest of the file is unknown. */
  private enum Field {
    MAGIC(4),
    SKIPPED_SIZE(4),
    DESCRIPTOR(1),
    BLOCK_HEADER(3),
    UNKNOWN(0);

    final int size;

    Field(int size) {
      this.size = size;
    }
  }

  private Field field = Field.MAGIC;
  private long value;
  private int filled;
  private long toPass;
  private boolean hasChecksum;
  private boolean begun;

  /** @param packed closed with this */
  public WholeFrames(InputStream packed) {
    super(packed);
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  /**
   * Reads.
   *
   * @throws EOFException the file ends inside a frame, or has none
   */
  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    int count = in.read(into, offset, length);
    if (count < 0 && !atEnd()) {
      throw new EOFException(begun ? "it ends before it is complete" : "it is empty");
    }
    follow(into, offset, offset + count);
    return count;
  }

  private boolean atEnd() {
    return field == Field.UNKNOWN || begun && field == Field.MAGIC && filled == 0 && toPass == 0;
  }

  private void follow(byte[] bytes, int from, int until) {
    int at = from;
    while (at < until && field != Field.UNKNOWN) {
      begun = true;
      if (toPass > 0) {
        int step = (int) Math.min(toPass, until - at);
        toPass -= step;
        at += step;
      } else {
        value |= (bytes[at++] & 0xffL) << 8 * filled++;
        if (filled == field.size) {
          field = next();
          value = 0;
          filled = 0;
        }
      }
    }
  }

  private Field next() {
    return switch (field) {
      case MAGIC -> value == FRAME ? Field.DESCRIPTOR : (value & ~0xfL) == SKIPPABLE ? Field.SKIPPED_SIZE : Field.UNKNOWN;
      case SKIPPED_SIZE -> {
        toPass = value;
        yield Field.MAGIC;
      }
      case DESCRIPTOR -> afterDescriptor((int) value);
      case BLOCK_HEADER -> afterBlockHeader((int) value);
      case UNKNOWN -> Field.UNKNOWN;
    };
  }

  private Field afterDescriptor(int descriptor) {
    boolean singleSegment = (descriptor & 1 << 5) != 0;
    hasChecksum = (descriptor & 1 << 2) != 0;
    int sizeFlag = descriptor >> 6;
    int window = singleSegment ? 0 : 1;
    int contentSize = singleSegment && sizeFlag == 0 ? 1 : BYTES_OF_CONTENT_SIZE[sizeFlag];
    toPass = window + BYTES_OF_DICTIONARY_ID[descriptor & 3] + contentSize;
    return Field.BLOCK_HEADER;
  }

  private Field afterBlockHeader(int header) {
    boolean last = (header & 1) != 0;
    toPass = (header >> 1 & 3) == REPEATED ? 1 : header >> 3;
    toPass += last && hasChecksum ? 4 : 0;
    return last ? Field.MAGIC : Field.BLOCK_HEADER;
  }
}
