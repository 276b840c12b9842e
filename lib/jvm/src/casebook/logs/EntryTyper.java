package casebook.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import java.util.Queue;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Types an entry: by the wording of its message, and those of the lines of its trace. */
final class EntryTyper {
  private static final Pattern FOLD = Pattern.compile("\\s*\n\\s*|  +");

  /** Marks that people and pagers put at the place where they cut a line. */
  private static final Pattern CUT = Pattern.compile("\\s*(?:\\.{3}|\u2026|(?<=\\w)>)\\s*\\z");

  /** The field for the cause, of kinds whose wordings leave it to the exception below. */
  private static final Map<String, String> CAUSES =
      Map.of(
          "election_failed", "why",
          "disk_error", "what",
          "log_dir_failed", "what",
          "fetch_failed", "error",
          "fetch_refused", "error",
          "registration_error", "error");

  private final Candidates candidates;
  private final Ident ident;
  private final Queue<Event> found;
  private Entry entry;

  EntryTyper(Candidates candidates, Ident ident, Queue<Event> found) {
    this.candidates = candidates;
    this.ident = ident;
    this.found = found;
  }

  /** Whether a wording was found in an entry that has ended. */
  boolean type(Entry ended) {
    entry = ended;
    if (!candidates.find(entry.bytes, 0, entry.length) && entry.header.message == null) {
      return Trouble.isOf(entry.header) && ofTrouble(entry.message());
    }
    String full = entry.message();
    if (entry.header.message != null) {
      candidates.add(full.getBytes(UTF_8)); // to those of the line: a layout is part of some wordings
    }
    int fold = full.indexOf('\n');
    if (fold < 0) {
      return head(full) || behindThread(full) || fromClient(full) || inside(full, 0) || behindPrefix(full) || ofTrouble(full);
    }
    boolean isFlush = fold + 1 < full.length() && full.charAt(fold + 1) > ' ' && !Entry.isTrace(full.substring(fold + 1));
    boolean known = isFlush ? folded(full) || head(full) : head(full) || folded(full);
    known = known || behindThread(full) || fromClient(full);
    known |= inside(full, known ? fold + 1 : 0);
    return known || behindPrefix(full.substring(0, fold)) || isFlush && behindPrefixFolded(full) || ofTrouble(full);
  }

  /** Matches a message after its ident, where a thread in brackets precedes both. */
  private boolean behindThread(String full) {
    int border = Ident.end(full);
    return border > 0 && border < full.length() && full.charAt(border) == '[' && head(full.substring(border));
  }

  /** Reports a warning or an error of a Kafka or ZooKeeper class that matches no wording, by its source. */
  private boolean ofTrouble(String full) {
    String kind = Trouble.kind(entry.header, full);
    if (kind != null) {
      Fields fields = new Fields();
      ident.tell(full, entry.header.logger, fields);
      said(fields);
      tell(kind, entry.line, fields, full);
    }
    return kind != null;
  }

  /** Matches a message after the name of the client, where its host printed something before that name. */
  private boolean fromClient(String full) {
    int named = Clients.named(full);
    return named > 0 && head(full.substring(named));
  }

  /** Matches a client library's message after text that only its application knows: a prefix of its own, or a layout that was not given. */
  private boolean behindPrefix(String line) {
    if (ident.speaker(line, entry.header.logger) != null) {
      return false;
    }
    for (int rule = candidates.next(0); rule >= 0; rule = candidates.next(rule + 1)) {
      Fields fields = candidates.rule(rule).matchBehind(line, entry.header.logger);
      if (fields != null) {
        said(fields);
        tell(candidates.rule(rule).kind, entry.line, fields, line);
        return true;
      }
    }
    return false;
  }

  /** Reports the first wording that the whole message matches; if none does, one that it matches except for a changed or cut part. */
  private boolean head(String full) {
    return head(full, Rule::matchKnown) || head(full, Rule::matchChanged) || cut(full) || head(full, Rule::match);
  }

  private boolean cut(String full) {
    Matcher cut = CUT.matcher(full);
    return cut.find() && head(full.substring(0, cut.start()), Rule::matchCut);
  }

  private boolean head(String full, BiFunction<Rule, String, Fields> match) {
    int border = Ident.end(full);
    String proper = border == 0 ? full : full.substring(border);
    for (int rule = candidates.next(0); rule >= 0; rule = candidates.next(rule + 1)) {
      Rule tried = candidates.rule(rule);
      String text =
          switch (tried.scope) {
            case HEAD -> proper;
            case APP -> ident.speaker(full, entry.header.logger) == null ? proper : null;
            case FULL -> full;
            case LINE -> entry.firstLine();
            case INSIDE -> null;
          };
      Fields fields = text == null || !tried.isOf(entry.header.logger) ? null : match.apply(tried, text);
      if (fields != null) {
        String kind = tried.isGeneral() ? cause(proper, rule, fields) : tried.kind;
        ident.tell(full, entry.header.logger, fields);
        thrown(kind, full, fields);
        said(fields);
        tell(kind, entry.line, fields, full);
        return true;
      }
    }
    return false;
  }

  /** Kind of the cause that the first line of a message states, if the wording at its start only reports that there is trouble. */
  private String cause(String message, int general, Fields fields) {
    int ends = message.indexOf('\n');
    String first = ends < 0 ? message : message.substring(0, ends);
    for (int rule = candidates.next(0); rule >= 0; rule = candidates.next(rule + 1)) {
      Fields found = candidates.rule(rule).matchCause(first);
      if (found != null) {
        fields.add(found);
        return candidates.rule(rule).kind;
      }
    }
    return candidates.rule(general).kind;
  }

  /** Adds the exception that stands below the first line of a message, as the cause that the wording does not state. */
  private void thrown(String kind, String message, Fields fields) {
    int begin = message.indexOf('\n') + 1;
    String name = begin == 0 ? null : CAUSES.get(kind);
    int ends = name == null ? -1 : message.indexOf('\n', begin);
    String below = name == null ? "" : message.substring(begin, ends < 0 ? message.length() : ends).strip();
    if (Entry.isException(below)) {
      fields.put(name, below);
    }
  }

  /** Matches a message that was wrapped on its way, with its lines joined again. */
  private boolean folded(String full) {
    return folded(full, this::head);
  }

  /** The same after a prefix of its application. */
  private boolean behindPrefixFolded(String full) {
    return folded(full, this::behindPrefix);
  }

  private boolean folded(String full, Predicate<String> isKnown) {
    String whole = FOLD.matcher(full.length() > LogReader.LONGEST_FOLDED ? full.substring(0, LogReader.LONGEST_FOLDED) : full).replaceAll(" ").strip();
    long[] kept = candidates.kept();
    byte[] bytes = whole.getBytes(UTF_8);
    boolean known = candidates.find(bytes, 0, bytes.length) && isKnown.test(whole);
    candidates.restore(kept);
    return known;
  }

  /**
   * Reports each wording that one of the lines from a place on matches: the lines after the first, and the first if no other
   * wording matches it.
   */
  private boolean inside(String full, int from) {
    boolean known = false;
    for (int rule = candidates.next(0); rule >= 0; rule = candidates.next(rule + 1)) {
      Rule tried = candidates.rule(rule);
      if (tried.scope == Rule.Scope.INSIDE && tried.isOf(entry.header.logger)) {
        known |= inside(full, from, tried);
      }
    }
    return known;
  }

  private boolean inside(String full, int from, Rule tried) {
    int number = from == 0 ? 0 : 1;
    for (int begin = from, ends = 0; ends >= 0; begin = ends + 1, number++) {
      ends = full.indexOf('\n', begin);
      String line = full.substring(begin, ends < 0 ? full.length() : ends);
      Fields fields = line.contains(tried.literal) ? tried.match(line) : null;
      if (fields != null) {
        ident.tell(full, entry.header.logger, fields);
        said(fields);
        tell(tried.kind, entry.line + Math.min(number, entry.lines - 1), fields, line.strip());
        return true;
      }
    }
    return false;
  }

  private void said(Fields fields) {
    if (entry.header.said != null) {
      fields.add(entry.header.said);
    }
  }

  private void tell(String kind, long line, Fields fields, String text) {
    if (!kind.equals(Rule.QUIET)) {
      String kept = text.length() > LogReader.MOST_TEXT ? text.substring(0, LogReader.MOST_TEXT) : text;
      found.add(new Event(kind, entry.header.time, line, entry.header.level, entry.header.logger, fields, kept));
    }
  }
}
