package casebook.segments;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file of this machine. It is read, not mapped: mapped pages would count as memory of the process. */
public final class LocalFile implements ByteSource {
  private final FileChannel channel;

  public LocalFile(Path path) throws IOException {
    channel = FileChannel.open(path, StandardOpenOption.READ);
  }

  @Override
  public int read(long position, byte[] into, int offset, int length) throws IOException {
    ByteBuffer target = ByteBuffer.wrap(into, offset, length);
    while (target.hasRemaining() && channel.read(target, position + target.position() - offset) >= 0) {}
    return target.position() - offset;
  }

  @Override
  public boolean forwardOnly() {
    return false;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
