package casebook.packs;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/**
 * The decompressed content of all members of a gzip file (RFC 1952); zeros after the last member are padding. Java's own reader
 * ends silently at a member whose header was cut, and at a member that the file system has not yet fetched.
 */
public final class Gunzipped extends InputStream {
  private static final int DEFLATE = 8;
  private static final int HEADER_CHECKSUM = 2;
  private static final int EXTRA = 4;
  private static final int NAME = 8;
  private static final int COMMENT = 16;

  private final InputStream packed;
  private final Inflater inflater = new Inflater(true);
  private final CRC32 checksum = new CRC32();
  private final byte[] input = new byte[1 << 16];
  private int at;
  private int filled;
  private boolean inMember;
  private boolean ended;
  private IOException fault;

  /** @param packed closed with this */
  public Gunzipped(InputStream packed) {
    this.packed = packed;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  /**
   * Reads.
   *
   * @throws EOFException the file was cut; each later read throws again
   * @throws ZipException the file is damaged; each later read throws again
   */
  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (fault != null) {
      throw fault;
    }
    try {
      return length == 0 ? 0 : unpack(into, offset, length);
    } catch (DataFormatException damaged) {
      fault = new ZipException("it is damaged: " + damaged.getMessage());
      throw fault;
    } catch (IOException damaged) {
      fault = damaged;
      throw damaged;
    }
  }

  private int unpack(byte[] into, int offset, int length) throws IOException, DataFormatException {
    while (inMember || begin()) {
      int count = inflater.inflate(into, offset, length);
      if (count > 0) {
        checksum.update(into, offset, count);
        return count;
      }
      if (inflater.finished()) {
        end();
      } else if (inflater.needsDictionary()) {
        throw new ZipException("it needs a dictionary, which gzip does not have");
      } else if (more()) {
        inflater.setInput(input, at, filled - at);
        at = filled;
      } else {
        throw new EOFException("it ends before it is complete");
      }
    }
    return -1;
  }

  /** Skips the header of the next member; {@code false} when there is none. */
  private boolean begin() throws IOException {
    int first = 0;
    do {
      if (at == filled && !more()) {
        if (!ended) {
          throw new EOFException("it is empty");
        }
        return false;
      }
      first = next();
    } while (ended && first == 0);
    if (first != 0x1f || next() != 0x8b || next() != DEFLATE) {
      throw new ZipException(ended ? "bytes behind its end are no gzip" : "it is no gzip");
    }
    int flags = next();
    skip(6);
    if ((flags & EXTRA) != 0) {
      skip(next() | next() << 8);
    }
    for (int flag : new int[] {NAME, COMMENT}) {
      while ((flags & flag) != 0 && next() != 0) {}
    }
    skip((flags & HEADER_CHECKSUM) != 0 ? 2 : 0);
    inflater.reset();
    inflater.setInput(input, at, filled - at);
    at = filled;
    checksum.reset();
    inMember = true;
    return true;
  }

  private void end() throws IOException {
    at = filled - inflater.getRemaining();
    long size = inflater.getBytesWritten();
    if (number() != checksum.getValue() || number() != (size & 0xffffffffL)) {
      throw new ZipException("its checksum does not fit");
    }
    inMember = false;
    ended = true;
  }

  private long number() throws IOException {
    return next() | next() << 8 | next() << 16 | (long) next() << 24;
  }

  private void skip(int count) throws IOException {
    for (int left = count; left > 0; left--) {
      next();
    }
  }

  private int next() throws IOException {
    if (at == filled && !more()) {
      throw new EOFException("it ends before it is complete");
    }
    return input[at++] & 0xff;
  }

  private boolean more() throws IOException {
    at = 0;
    filled = Math.max(0, packed.read(input, 0, input.length));
    return filled > 0;
  }

  @Override
  public void close() throws IOException {
    inflater.end();
    packed.close();
  }
}
