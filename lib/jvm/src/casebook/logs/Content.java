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
 * Content of a log file as stored: compressed by rotation or not, in any encoding.
 *
 * @param stream UTF-8 whose lines end with line feeds
 * @param doubt why it may not be a log; {@code null} for no doubt
 * @param order order of day and month
 */
public record Content(InputStream stream, String doubt, DayOrder order) {
  private static final String NO_TEXT = "it is no text: control characters as in a binary file";

  /** Whether a file is compressed, and so can only be read from its start. */
  public static boolean packed(String name) {
    return name.endsWith(".gz");
  }

  /** Opens a complete file. Closing the stream of the content closes the given stream. */
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

  /** The start of the stream, as far as it can be read: a later read reports the damage. */
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

  /** Whether a part of a file between two line feeds can be read without the text before it, judged by the start of the file. */
  public static boolean divisible(byte[] head) {
    return Encoding.wide(head) == null && !Encoding.hasReturnsAlone(head);
  }
}
