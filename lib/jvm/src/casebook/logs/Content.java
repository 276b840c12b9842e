package casebook.logs;

import casebook.packs.Gunzipped;
import casebook.packs.Unpacked;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.zip.ZipException;

/**
 * A log as it lies there: packed by whoever rotated it, or not; in whatever encoding.
 *
 * @param stream UTF-8 whose lines end with line feeds
 * @param doubt why it may be no log at all; {@code null} where nothing speaks against it
 * @param order how its days and months stand
 */
public record Content(InputStream stream, String doubt, DayOrder order) {
  private static final String NO_TEXT = "it is no text: control characters as in a binary file";

  /** Packed files can only be read from their beginning. */
  public static boolean packed(String name) {
    return name.endsWith(".gz");
  }

  /** A whole file. Closing its stream closes what was given. */
  public static Content whole(String name, InputStream raw) throws IOException {
    InputStream unpacked = packed(name) ? Unpacked.of(raw, Gunzipped::new) : raw;
    byte[] head = head(unpacked);
    InputStream again = new SequenceInputStream(new ByteArrayInputStream(head), unpacked);
    Charset wide = Encoding.wide(head);
    if (wide != null) {
      return new Content(new Recoded(again, wide), null, DayOrder.of(head));
    }
    String doubt = Encoding.isBinary(head) ? NO_TEXT : null;
    return new Content(Encoding.hasReturnsAlone(head) ? new Recoded(again, Encoding.AS_IT_IS) : again, doubt, DayOrder.of(head));
  }

  /** The beginning, as far as it can be read: who reads on is told what is wrong there. */
  private static byte[] head(InputStream stream) throws IOException {
    byte[] head = new byte[Encoding.HEAD];
    int filled = 0;
    try {
      for (int read = 0; read >= 0 && filled < head.length; read = stream.read(head, filled, head.length - filled)) {
        filled += read;
      }
    } catch (EOFException | ZipException damaged) {
      if (filled == 0) {
        throw damaged;
      }
    }
    return Arrays.copyOf(head, filled);
  }

  /** Whether a part of a file, from a line feed to another, can be read without what stands before: by the file's beginning. */
  public static boolean divisible(byte[] head) {
    return Encoding.wide(head) == null && !Encoding.hasReturnsAlone(head);
  }
}
