package casebook.logs;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.Charset;

/** Converts text of another encoding to UTF-8, without byte order mark and with line feeds as line ends; invalid bytes are replaced. */
final class Recoded extends InputStream {
  private static final int LETTERS = 1 << 15;
  private static final char MARK = '\ufeff';

  private final Reader reader;
  private final Charset into;
  private final char[] letters = new char[LETTERS];
  private int kept;
  private boolean first = true;
  private boolean afterReturn;
  private byte[] ready = {};
  private int taken;

  /** @param from text of single bytes keeps its bytes */
  Recoded(InputStream raw, Charset from) {
    reader = new InputStreamReader(raw, from);
    into = from.equals(ISO_8859_1) ? ISO_8859_1 : UTF_8;
  }

  @Override
  public int read() throws IOException {
    return fill() ? ready[taken++] & 0xff : -1;
  }

  @Override
  public int read(byte[] buffer, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (!fill()) {
      return -1;
    }
    int some = Math.min(length, ready.length - taken);
    System.arraycopy(ready, taken, buffer, offset, some);
    taken += some;
    return some;
  }

  private boolean fill() throws IOException {
    while (taken == ready.length) {
      int read = reader.read(letters, kept, LETTERS - kept);
      if (read < 0 && kept == 0) {
        return false;
      }
      encode(kept + Math.max(0, read), read < 0);
    }
    return true;
  }

  /** The first half of a surrogate pair is kept until the other half is read. */
  private void encode(int until, boolean last) {
    boolean half = !last && Character.isHighSurrogate(letters[until - 1]);
    StringBuilder text = new StringBuilder(until);
    for (int index = 0; index < (half ? until - 1 : until); index++) {
      char letter = letters[index];
      boolean again = letter == '\n' && afterReturn || first && letter == MARK;
      afterReturn = letter == '\r';
      first = false;
      if (!again) {
        text.append(letter == '\r' ? '\n' : letter);
      }
    }
    letters[0] = letters[until - 1];
    kept = half ? 1 : 0;
    ready = text.toString().getBytes(into);
    taken = 0;
  }

  @Override
  public void close() throws IOException {
    reader.close();
  }
}
