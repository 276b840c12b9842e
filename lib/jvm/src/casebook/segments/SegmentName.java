package casebook.segments;

import java.io.Serializable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The parts of a segment's path.
 *
 * @param topic from the folder's name, {@code null} when the folder is not that of a partition
 * @param partition likewise
 * @param base its base offset, {@code null} when the file's name is not one
 */
public record SegmentName(String topic, Integer partition, Long base) implements Serializable {
  private static final Pattern PARTITION = Pattern.compile("(.+)-(\\d{1,9})");
  private static final Pattern FOLDER = Pattern.compile(PARTITION + "(\\.[^.]+-(delete|future|stray))?");
  private static final Pattern SEGMENT = Pattern.compile("(\\d{1,20})\\.log(\\.(deleted|cleaned|swap|gz|zst))*");

  public static SegmentName of(String path) {
    String[] parts = path.split("/");
    Matcher file = SEGMENT.matcher(parts[parts.length - 1]);
    Matcher folder = FOLDER.matcher(parts.length > 1 ? parts[parts.length - 2] : "");
    boolean known = folder.matches();
    return new SegmentName(known ? folder.group(1) : null, known ? Integer.valueOf(folder.group(2)) : null, base(file));
  }

  private static Long base(Matcher file) {
    try {
      return file.matches() ? Long.valueOf(file.group(1)) : null;
    } catch (NumberFormatException tooLarge) {
      return null;
    }
  }

  /** Whether a folder of this name is that of a partition. Folders of deletions and moves have other suffixes. */
  public static boolean isPartition(String folder) {
    return PARTITION.matcher(folder).matches();
  }

  /** Whether this is the name of a segment in use. */
  public static boolean isSegment(String file) {
    return file.endsWith(".log") && SEGMENT.matcher(file).matches();
  }

  /** Whether this is the name of a segment, or of a single packed one. */
  public static boolean isSegmentOrPacked(String file) {
    return isSegment(file) || isSegment(file.replaceFirst("\\.(gz|zst)$", ""));
  }
}
