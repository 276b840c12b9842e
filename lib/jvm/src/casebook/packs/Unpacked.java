package casebook.packs;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.ZipException;

/** The content of a pack, limited to the ratio of real packs: a malicious one would keep a reader busy for ever. */
public final class Unpacked extends FilterInputStream {
  private static final long LEAST = 1L << 30;
  private static final int MOST_TIMES = 200;

  private final Counted packed;
  private long size;

  /** Makes the stream that unpacks another. */
  public interface Unpacking {
    InputStream of(InputStream packed) throws IOException;
  }

  private Unpacked(InputStream unpacking, Counted packed) {
    super(unpacking);
    this.packed = packed;
  }

  public static InputStream of(InputStream raw, Unpacking unpacking) throws IOException {
    Counted packed = new Counted(raw);
    return new Unpacked(unpacking.of(packed), packed);
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    int count = in.read(into, offset, length);
    size += Math.max(count, 0);
    if (size > LEAST && size / MOST_TIMES > packed.size) {
      throw new ZipException("more has come out of it than " + MOST_TIMES + " times its own size");
    }
    return count;
  }

  @Override
  public long skip(long wanted) throws IOException {
    byte[] nowhere = new byte[1 << 16];
    return Math.max(0, read(nowhere, 0, (int) Math.min(wanted, nowhere.length)));
  }

  @Override
  public boolean markSupported() {
    return false;
  }

  /** Counts the bytes read from a pack. */
  private static final class Counted extends FilterInputStream {
    private long size;

    Counted(InputStream raw) {
      super(raw);
    }

    @Override
    public int read() throws IOException {
      int one = in.read();
      size += one < 0 ? 0 : 1;
      return one;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      int count = in.read(into, offset, length);
      size += Math.max(count, 0);
      return count;
    }
  }
}
