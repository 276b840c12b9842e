package casebook.segments;

import java.io.EOFException;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;

/** A file of any file system that Hadoop opens. */
public final class HadoopFile implements ByteSource {
  private final FSDataInputStream stream;

  public HadoopFile(FSDataInputStream stream) {
    this.stream = stream;
  }

  @Override
  public int read(long position, byte[] into, int offset, int length) throws IOException {
    if (stream.getPos() != position && !seek(position)) {
      return 0;
    }
    return stream.readNBytes(into, offset, length);
  }

  /** Whether the file has such a position. A torn batch claims positions after the end, which some file systems refuse. */
  private boolean seek(long position) throws IOException {
    try {
      stream.seek(position);
      return true;
    } catch (EOFException behindTheEnd) {
      return false;
    }
  }

  @Override
  public boolean forwardOnly() {
    return false;
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }
}
