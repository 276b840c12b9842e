package casebook.segments.spark;

import casebook.segments.Bundle;
import casebook.segments.FileRange;
import casebook.segments.SegmentName;
import casebook.spark.Places;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Finds segments below the given places; an error when there are none. */
final class Listing {
  /** Levels of folders: log dirs may also be named like partitions, e.g. {@code kafka-logs-1}. */
  private static final int DEEPEST = 2;
  /** Number of existing file names in an error. */
  private static final int SHOWN = 5;

  private final Configuration configuration;
  private final Map<String, Listed> found = new LinkedHashMap<>();
  private final List<String> others = new ArrayList<>();

  Listing(Configuration configuration) {
    this.configuration = configuration;
  }

  List<Listed> of(List<String> places) throws IOException {
    for (String place : places) {
      Path path = new Path(place);
      FileSystem system = path.getFileSystem(configuration);
      for (FileStatus named : Places.named(configuration, path)) {
        if (named.isDirectory()) {
          addFolder(system, named.getPath(), logDir(system, named.getPath()), DEEPEST);
        } else {
          add(named, Long.MAX_VALUE);
        }
      }
    }
    if (found.isEmpty()) {
      throw new IllegalArgumentException(nothing(places));
    }
    return List.copyOf(found.values());
  }

  private String nothing(List<String> places) {
    String there = others.isEmpty() ? "nothing" : others.stream().limit(SHOWN).collect(Collectors.joining(", "));
    String more = others.size() > SHOWN ? " and " + (others.size() - SHOWN) + " more" : "";
    return "kafka_segments found no segment in "
        + String.join(", ", places)
        + ". It looked for files named <base offset>.log and for bundles of them (.tar, .tar.gz, .tgz, .tar.zst, .log.gz, .log.zst), there and in folders"
        + " named <topic>-<partition>. It found "
        + there
        + more
        + ". Name a log dir, the folder of a partition or a segment; files that end in .deleted, .cleaned or .swap and folders that end in"
        + " -delete, -future or -stray are read only when they are named themselves.";
  }

  /** The log dir of a given folder: its parent if it is the folder of a partition, else the folder itself. */
  private static Path logDir(FileSystem system, Path folder) throws IOException {
    boolean holdsPartitions = Arrays.stream(system.listStatus(folder)).anyMatch(Listing::isPartition);
    return SegmentName.isPartition(folder.getName()) && !holdsPartitions ? folder.getParent() : folder;
  }

  private static boolean isPartition(FileStatus one) {
    return one.isDirectory() && SegmentName.isPartition(one.getPath().getName());
  }

  /** Adds the segments of a folder and of the partitions in it. */
  private void addFolder(FileSystem system, Path folder, Path logDir, int deep) throws IOException {
    FileStatus[] inside = inside(system, folder, logDir);
    addSegments(inside);
    for (FileStatus one : inside) {
      if (deep > 0 && isPartition(one)) {
        addFolder(system, one.getPath(), logDir, deep - 1);
      } else if (found.isEmpty()) {
        others.add(one.getPath().getName());
      }
    }
  }

  /** The entries of a folder of a log dir; on this machine only regular files and folders, and no link out of the log dir. */
  private static FileStatus[] inside(FileSystem system, Path folder, Path logDir) throws IOException {
    FileStatus[] all = system.listStatus(folder);
    if (!"file".equals(system.getScheme())) {
      return all;
    }
    java.nio.file.Path root = local(logDir).toRealPath();
    return Arrays.stream(all).filter(one -> staysIn(root, local(one.getPath()))).toArray(FileStatus[]::new);
  }

  private static boolean staysIn(java.nio.file.Path root, java.nio.file.Path path) {
    try {
      boolean readable = Files.isRegularFile(path) || Files.isDirectory(path);
      return readable && (!Files.isSymbolicLink(path) || path.toRealPath().startsWith(root));
    } catch (IOException gone) {
      return false;
    }
  }

  private static java.nio.file.Path local(Path path) {
    return java.nio.file.Path.of(path.toUri().getPath());
  }

  /** Adds the segments of a folder in order of offset, each ending at the base of the next, and its bundles. */
  private void addSegments(FileStatus[] inside) {
    List<FileStatus> segments =
        Arrays.stream(inside)
            .filter(one -> one.isFile() && SegmentName.isSegment(one.getPath().getName()))
            .sorted(Comparator.comparing(one -> one.getPath().getName()))
            .toList();
    for (int index = 0; index < segments.size(); index++) {
      Long next = index + 1 < segments.size() ? base(segments.get(index + 1)) : null;
      add(segments.get(index), next == null ? Long.MAX_VALUE : next);
    }
    Arrays.stream(inside)
        .filter(one -> one.isFile() && Bundle.is(one.getPath().getName()))
        .forEach(one -> add(one, Long.MAX_VALUE));
  }

  private static Long base(FileStatus segment) {
    return SegmentName.of(segment.getPath().toString()).base();
  }

  private void add(FileStatus file, long ceiling) {
    String uri = file.getPath().toString();
    boolean bundle = Bundle.is(file.getPath().getName());
    SegmentName name = bundle ? SegmentName.of("") : SegmentName.of(uri);
    long least = FileRange.whole(uri, name, file.getLen()).ceiling();
    found.putIfAbsent(uri, new Listed(uri, name, file.getLen(), Math.min(ceiling, least), bundle));
  }
}
