package casebook.logs;

/** A layout that a person gave, as a regex with the group names of {@link Stamps.Form}, {@code level}, {@code logger}, {@code message}. */
final class GivenLayout {
  private final Stamps stamps;
  private final Stamps.Form form;

  GivenLayout(String regex, Stamps stamps) {
    this.stamps = stamps;
    form = new Stamps.Form(regex);
  }

  /** Reads the header of a line; {@code false} if the line does not have this layout. */
  boolean read(String line, Header header) {
    if (!form.isAt(line, 0)) {
      return false;
    }
    String level = form.text("level");
    header.time = stamps.timeOf(form);
    header.level = level == null ? null : Levels.normal(level);
    header.logger = form.text("logger");
    header.message = form.text("message").stripTrailing();
    header.from = 0;
    header.layout = Layouts.GIVEN;
    return true;
  }
}
