package casebook.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * All wordings, in the order in which they are tried. The table is {@code log_patterns.tsv} of the Python package; it is packed
 * with these classes. Not thread-safe, as it keeps its matchers.
 */
final class Rules {
  private static final String TABLE = "/casebook/log_patterns.tsv";
  private static final int KIND = 1;
  private static final int SCOPE = 4;
  private static final int LITERAL = 5;
  private static final int REGEX = 6;
  private static final List<String[]> ROWS = rows();

  static final Literals LITERALS = new Literals(ROWS.stream().map(cells -> cells[LITERAL]).toList());

  final List<Rule> all =
      ROWS.stream().map(cells -> new Rule(cells[KIND], cells[SCOPE], cells[LITERAL], cells[REGEX])).toList();

  private static List<String[]> rows() {
    try (InputStream stream = Rules.class.getResourceAsStream(TABLE)) {
      List<String[]> rows = new ArrayList<>();
      for (String line : new String(stream.readAllBytes(), UTF_8).split("\n")) {
        if (!line.isBlank() && !line.startsWith("#")) {
          rows.add(line.split("\t", -1));
        }
      }
      return List.copyOf(rows);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
