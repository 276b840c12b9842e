package casebook.logs;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;

import java.nio.charset.Charset;

/**
 * The encoding of a text, by its first bytes. The rules are those of {@code collect/decoding.py}, so that a log reads the same in
 * its original place and in a case.
 */
public final class Encoding {
  /** Number of bytes that are examined. */
  public static final int HEAD = 1 << 16;

  /** For text of single bytes, which stays unchanged: Kafka itself prints ASCII. */
  static final Charset AS_IT_IS = ISO_8859_1;

  private static final Charset UTF_32LE = Charset.forName("UTF-32LE");
  private static final Charset UTF_32BE = Charset.forName("UTF-32BE");
  private static final double MOSTLY = 0.8;
  private static final double SELDOM = 0.125;
  private static final double MOST_CONTROL = 0.02;

  private Encoding() {}

  /** The encoding with two or four bytes a character, by its byte order mark or by its zeros; {@code null} for any other. */
  static Charset wide(byte[] head) {
    if (begins(head, 0xff, 0xfe, 0, 0)) {
      return UTF_32LE;
    }
    if (begins(head, 0, 0, 0xfe, 0xff)) {
      return UTF_32BE;
    }
    if (begins(head, 0xff, 0xfe)) {
      return UTF_16LE;
    }
    return begins(head, 0xfe, 0xff) ? UTF_16BE : byZeros(head);
  }

  private static boolean begins(byte[] head, int... mark) {
    for (int index = 0; index < mark.length; index++) {
      if (index >= head.length || (head[index] & 0xff) != mark[index]) {
        return false;
      }
    }
    return true;
  }

  /** Mostly-ASCII text has its zeros at the same places of each character. */
  private static Charset byZeros(byte[] head) {
    if (head.length < 4) {
      return null;
    }
    int[] zeros = new int[4];
    int quads = head.length / 4;
    for (int index = 0; index < 4 * quads; index++) {
      zeros[index % 4] += head[index] == 0 ? 1 : 0;
    }
    double[] share = new double[4];
    for (int place = 0; place < 4; place++) {
      share[place] = (double) zeros[place] / quads;
    }
    if (share[1] > MOSTLY && share[2] > MOSTLY && share[3] > MOSTLY && share[0] < SELDOM) {
      return UTF_32LE;
    }
    if (share[0] > MOSTLY && share[1] > MOSTLY && share[2] > MOSTLY && share[3] < SELDOM) {
      return UTF_32BE;
    }
    double low = (share[0] + share[2]) / 2;
    double high = (share[1] + share[3]) / 2;
    if (high > MOSTLY / 2 && low < high * SELDOM) {
      return UTF_16LE;
    }
    return low > MOSTLY / 2 && high < low * SELDOM ? UTF_16BE : null;
  }

  /** Whether lines end as on old Macs, with carriage returns and no line feeds. */
  static boolean hasReturnsAlone(byte[] head) {
    boolean found = false;
    for (int index = 0; index < head.length; index++) {
      if (head[index] == '\n') {
        return false;
      }
      found |= head[index] == '\r' && index < head.length - 1;
    }
    return found;
  }

  /**
   * Whether the bytes are no text, by the control characters that no text contains ({@code text_chars}, src/encoding.c@FILE5_45).
   * Zeros are allowed: a truncated log begins with them.
   */
  static boolean isBinary(byte[] head) {
    int control = 0;
    int others = 0;
    for (byte letter : head) {
      boolean strange = letter >= 0x01 && letter <= 0x06 || letter >= 0x0e && letter <= 0x1a || letter >= 0x1c && letter <= 0x1f || letter == 0x7f;
      control += strange ? 1 : 0;
      others += letter == 0 || strange ? 0 : 1;
    }
    return control > MOST_CONTROL * (control + others);
  }
}
