package casebook.segments;

import casebook.packs.Gunzipped;
import casebook.packs.Unpacked;
import casebook.packs.WholeFrames;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.regex.Pattern;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/** Segments in a tar archive, or a single packed segment; read in one pass, without unpacking to disk. */
public final class Bundle implements Segments {
  private static final Pattern ARCHIVE = Pattern.compile(".*\\.(tar|tgz|tar\\.gz|tar\\.zst)");
  private static final Pattern PACKED = Pattern.compile(".*\\.log\\.(gz|zst)");
  private static final Pattern ABANDONED = Pattern.compile("(.*/)?[^/]+-(delete|future|stray)/[^/]+");

  private final String file;
  private final InputStream stream;
  private final Archive archive;
  private InputStream packed = InputStream.nullInputStream();
  private boolean given;

  /**
   * @param file the bundle's URI
   * @param raw its bytes; closed with this
   */
  public Bundle(String file, InputStream raw) throws IOException {
    this.file = file;
    stream = unpacked(file, new BufferedInputStream(raw, 1 << 16));
    archive = ARCHIVE.matcher(file).matches() ? new Archive(stream) : null;
  }

  /** Whether a file of this name is a bundle. */
  public static boolean is(String name) {
    return ARCHIVE.matcher(name).matches() || PACKED.matcher(name).matches();
  }

  private static InputStream unpacked(String name, InputStream raw) throws IOException {
    if (name.endsWith("gz")) {
      return Unpacked.of(raw, Gunzipped::new);
    }
    return name.endsWith(".zst") ? Unpacked.of(new WholeFrames(raw), ZstdInputStreamNoFinalizer::new) : raw;
  }

  @Override
  public Open next() throws IOException {
    if (archive != null) {
      return nextEntry();
    }
    Open only = given ? null : open(file, stream, 0);
    given = true;
    return only;
  }

  private Open nextEntry() throws IOException {
    packed.close(); // zstd has memory that no garbage collector frees
    for (TarArchiveEntry entry = archive.getNextEntry(); entry != null; entry = archive.getNextEntry()) {
      String path = entry.getName();
      String name = path.substring(path.lastIndexOf('/') + 1);
      boolean wanted = (SegmentName.isSegment(name) || PACKED.matcher(name).matches()) && !ABANDONED.matcher(path).matches();
      if (wanted && (entry.isLink() || entry.isSymbolicLink())) {
        return open(path, new Elsewhere(entry.getLinkName()), 0);
      }
      if (wanted && entry.isFile()) {
        if (SegmentName.isSegment(name)) {
          return open(path, archive, entry.getSize());
        }
        packed = unpacked(name, new Entry(archive));
        return open(path, packed, 0);
      }
    }
    if (!archive.hasEnd) {
      throw new EOFException("it ends before it is complete");
    }
    return null;
  }

  private Open open(String path, InputStream from, long length) {
    String uri = archive == null ? file : file + "!/" + path;
    return new Open(FileRange.whole(uri, SegmentName.of(path), length), new ForwardStream(from));
  }

  @Override
  public void close() throws IOException {
    packed.close();
    stream.close();
  }

  /** An archive that knows whether its end mark was read: without the mark, the archive may have been cut. */
  private static final class Archive extends TarArchiveInputStream {
    private boolean hasEnd;

    Archive(InputStream stream) {
      super(stream);
    }

    @Override
    protected boolean isEOFRecord(byte[] record) {
      boolean ends = super.isEOFRecord(record);
      hasEnd |= ends && record != null;
      return ends;
    }
  }

  /** A link of an archive: if one file has several names, tar packs its bytes under the first name. */
  private static final class Elsewhere extends InputStream {
    private final String target;

    Elsewhere(String target) {
      this.target = target;
    }

    @Override
    public int read() throws IOException {
      throw new IOException("it is a link to " + target);
    }
  }

  /** A file of an archive; closing it leaves the archive open. */
  private static final class Entry extends FilterInputStream {
    Entry(InputStream archive) {
      super(archive);
    }

    @Override
    public void close() {}
  }
}
