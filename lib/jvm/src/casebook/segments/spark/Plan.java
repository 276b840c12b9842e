package casebook.segments.spark;

import casebook.segments.BatchWalker;
import casebook.segments.ByteSource;
import casebook.segments.FileRange;
import casebook.segments.Header;
import casebook.segments.OffsetIndexFile;
import casebook.segments.TimeIndexFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;

/**
 * Divides files among tasks. Large segments are split at entries of the offset index that the segment itself confirms as the
 * start of a batch. Small segments share a task.
 */
final class Plan {
  /** Cost of opening a file, in bytes that could be read in that time. */
  private static final long OPENING = 1 << 18;

  private final ScanOptions options;
  private final Wanted wanted;
  private final Files files;
  private final List<SegmentsPartition> tasks = new ArrayList<>();
  private List<FileRange> together = new ArrayList<>();
  private long bytes;

  Plan(ScanOptions options, Wanted wanted, Configuration configuration) {
    this.options = options;
    this.wanted = wanted;
    files = new Files(configuration);
  }

  List<SegmentsPartition> of(List<Listed> listed) throws IOException {
    for (Listed file : listed) {
      for (FileRange range : ranges(file)) {
        add(range, Math.min(range.end(), file.length()) - range.start());
      }
    }
    endTask();
    return tasks;
  }

  private void add(FileRange range, long length) {
    if (bytes > 0 && bytes + length > options.splitBytes()) {
      endTask();
    }
    together.add(range);
    bytes += length + OPENING;
  }

  private void endTask() {
    if (!together.isEmpty()) {
      tasks.add(new SegmentsPartition(together));
    }
    together = new ArrayList<>();
    bytes = 0;
  }

  private List<FileRange> ranges(Listed file) throws IOException {
    FileRange usual = FileRange.whole(file.path(), file.name(), file.length());
    FileRange whole = new FileRange(usual.file(), usual.name(), 0, usual.end(), usual.length(), usual.floor(), file.ceiling());
    boolean large = file.length() > options.splitBytes() + options.splitBytes() / 2;
    if (file.bundle() || file.name().base() == null || !large && !wanted.narrow()) {
      return List.of(whole);
    }
    byte[] index = files.content(beside(file, ".index"));
    return index.length == 0 ? List.of(whole) : split(whole, new OffsetIndexFile(index, file.name().base()), firstInTime(file));
  }

  private static String beside(Listed file, String suffix) {
    return file.path().substring(0, file.path().length() - ".log".length()) + suffix;
  }

  /** The first offset that can have a wanted time. */
  private long firstInTime(Listed file) throws IOException {
    long least = wanted.leastTime();
    return least == Long.MIN_VALUE ? least : new TimeIndexFile(files.content(beside(file, ".timeindex")), file.name().base()).firstOffsetFrom(least);
  }

  private List<FileRange> split(FileRange whole, OffsetIndexFile index, long firstInTime) throws IOException {
    List<FileRange> parts = new ArrayList<>();
    FileRange rest = whole;
    try (ByteSource source = files.source(whole.file())) {
      for (int entry : borders(whole, index, firstInTime)) {
        Header header = BatchWalker.headerAt(source, rest, index.position(entry), options.limits());
        if (header != null && index.allows(entry, header)) {
          parts.add(rest.before(header));
          rest = rest.from(header);
        }
      }
    }
    parts.add(rest);
    parts.removeIf(part -> !wanted.offsets(part.floor(), part.ceiling() - 1) || part.ceiling() <= firstInTime);
    return parts;
  }

  private TreeSet<Integer> borders(FileRange whole, OffsetIndexFile index, long firstInTime) {
    TreeSet<Integer> borders = new TreeSet<>();
    for (long target = options.splitBytes(); target < whole.length(); target += options.splitBytes()) {
      borders.add(index.entryAt(target));
    }
    borders.add(index.entryUpTo(Math.max(wanted.leastOffset(), firstInTime)));
    borders.add(index.entryUpTo(wanted.mostOffset()) + 1);
    borders.removeIf(entry -> entry < 0 || entry >= index.count() || index.position(entry) <= 0 || index.position(entry) >= whole.length());
    return borders;
  }
}
