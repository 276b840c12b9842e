package casebook.logs;

import java.util.Queue;
import java.util.function.BiFunction;

/** Types a line that belongs to no entry: a wording may be anywhere in it. */
final class LineTyper {
  private final Candidates candidates;
  private final Ident ident;
  private final Queue<Event> found;
  private long number;
  private Header header;

  LineTyper(Candidates candidates, Ident ident, Queue<Event> found) {
    this.candidates = candidates;
    this.ident = ident;
    this.found = found;
  }

  /** Whether a wording is in a line, whose header is empty or that of the message which the line ends. */
  boolean type(String line, long number, Header header) {
    this.number = number;
    this.header = header;
    return whole(line, Rule::matchBeginning) || loosely(line) || whole(line, Rule::matchChanged);
  }

  /** Whether a line is a complete message, after at most its ident: this is more certain than a wording found inside the line. */
  private boolean whole(String line, BiFunction<Rule, String, Fields> match) {
    int border = Ident.end(line);
    for (int rule = border == 0 ? -1 : candidates.next(0); rule >= 0; rule = candidates.next(rule + 1)) {
      Rule tried = candidates.rule(rule);
      String text = tried.scope == Rule.Scope.FULL ? line : tried.scope == Rule.Scope.HEAD ? line.substring(border) : "";
      Fields fields = match.apply(tried, text);
      if (fields != null) {
        ident.tell(line, null, fields);
        tellAlone(tried, fields, line);
        return true;
      }
    }
    return false;
  }

  /** Matches a wording anywhere in a line; a quiet one only if no other is in it. */
  private boolean loosely(String line) {
    return loosely(line, false) || loosely(line, true);
  }

  private boolean loosely(String line, boolean isQuiet) {
    for (int rule = candidates.next(0); rule >= 0; rule = candidates.next(rule + 1)) {
      boolean isAsked = isQuiet == candidates.rule(rule).kind.equals(Rule.QUIET);
      Fields fields = isAsked ? candidates.rule(rule).matchLoosely(line) : null;
      if (fields != null) {
        tellAlone(candidates.rule(rule), fields, line);
        return true;
      }
    }
    return false;
  }

  private void tellAlone(Rule rule, Fields fields, String line) {
    if (!rule.kind.equals(Rule.QUIET)) {
      found.add(new Event(rule.kind, header.time, number, header.level, header.logger, fields, line.strip()));
    }
  }
}
