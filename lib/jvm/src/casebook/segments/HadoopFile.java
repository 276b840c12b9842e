package casebook.segments;

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
    if (stream.getPos() != position) {
      stream.seek(position);
    }
    return stream.readNBytes(into, offset, length);
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
