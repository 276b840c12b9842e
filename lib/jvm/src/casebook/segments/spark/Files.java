package casebook.segments.spark;

import casebook.segments.Bundle;
import casebook.segments.ByteSource;
import casebook.segments.FileRange;
import casebook.segments.HadoopFile;
import casebook.segments.LocalFile;
import casebook.segments.OneSegment;
import casebook.segments.Segments;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;

/** Opens files: those of this machine directly, all others through Hadoop. */
record Files(Configuration configuration) {
  Segments open(FileRange range) throws IOException {
    return Bundle.is(range.file()) ? new Bundle(range.file(), stream(range.file())) : new OneSegment(range, source(range.file()));
  }

  ByteSource source(String uri) throws IOException {
    URI where = new Path(uri).toUri();
    return "file".equals(where.getScheme()) ? new LocalFile(java.nio.file.Path.of(where.getPath())) : new HadoopFile(stream(uri));
  }

  /** The content of a small file beside a segment; empty when it does not exist. */
  byte[] content(String uri) throws IOException {
    Path path = new Path(uri);
    if (!path.getFileSystem(configuration).exists(path)) {
      return new byte[0];
    }
    try (FSDataInputStream stream = stream(uri)) {
      return stream.readAllBytes();
    }
  }

  private FSDataInputStream stream(String uri) throws IOException {
    Path path = new Path(uri);
    return path.getFileSystem(configuration).open(path);
  }
}
